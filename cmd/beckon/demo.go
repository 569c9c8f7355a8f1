package main

import (
	"context"
	"errors"
	"strings"
	"time"

	"beckon/cmd/internal/cli"
	"beckon/event"
	"beckon/render/tui"
	"beckon/state/live"
	"beckon/testdata"
)

type demoCmd struct {
	Files []string `arg:"" optional:"" name:"file" help:"Recordings of your own to play side by side (default: a few that come with beckon)."`
	playing
	List  bool `hidden:"" help:"Print the list whenever it changes, as it does where the output is not a terminal."`
	Watch bool `hidden:"" help:"What replay --watch was."`
}

// scene is what the demo changes in a recording so that it looks like a day's work. Events and
// times stay the real client's; the recordings' own prompts are commands to the server that
// played the model.
type scene struct {
	recording       string
	after           int64    // ms after the others
	project, branch string   // replace those of the recording
	asked           string   // replaces the prompt
	words           []string // of the payloads, each with what replaces it
}

// scenes show a bit of everything that happens in a day with agents.
var scenes = []scene{
	{
		recording: "perm_yes", project: "shop", branch: "checkout", asked: "let customers pay by invoice",
		words: []string{"perm_yes.txt", "src/payment.ts", "Wrote the note.", "Paying by invoice works, and the tests pass."},
	},
	{
		recording: "ask", after: 900, project: "orders", branch: "faster-list", asked: "make the list of orders fast",
		words: []string{
			"Which colour?", "Add the index on created_at now?", `"Colour"`, `"Index"`,
			`"Red"`, `"Now"`, `"warm"`, `"locks the table for some seconds"`,
			`"Blue"`, `"Tonight"`, `"cool"`, `"with the next migration"`,
		},
	},
	{
		recording: "subbg", after: 400, project: "api", branch: "rate-limit", asked: "find out why the tests are slow",
		words: []string{"python3 nap.py 4 && echo slow", "npm run test:integration"},
	},
	{
		recording: "bg", after: 2200, project: "infra", branch: "main", asked: "start the dev server and watch it",
		words: []string{"python3 nap.py 5 && echo bgdone", "npm run dev"},
	},
	{
		recording: "perm_no", after: 1700, project: "docs", branch: "main", asked: "write the release notes",
		words: []string{"perm_no.txt", "CHANGELOG.md"},
	},
	{recording: "overload", after: 600, project: "mobile", branch: "push", asked: "why does the build fail on CI?"},
	{
		recording: "bash", project: "shop", branch: "main", asked: "list what changed since yesterday",
		words: []string{
			"python3 nap.py 2", "git log --since=yesterday",
			"Listed the files. Done.", "12 commits; two touch the schema.",
		},
	},
	{
		recording: "esc_tool", after: 300, project: "data", branch: "import", asked: "load last month's orders again",
		words: []string{"python3 nap.py 30", "make import MONTH=10"},
	},
}

func (c *demoCmd) Run(a *app) error {
	if c.Watch && !a.Screen() {
		return cli.Hint("without it the list is printed whenever it changes",
			"--watch needs a terminal on its output, and one that can move its cursor")
	}
	screen := (!c.List || c.Watch) && a.Screen()
	tracks, err := readTracks(c.Files)
	if err != nil {
		return err
	}
	if len(tracks) > 0 {
		return a.play(tracks, c.playing, screen)
	}
	for _, s := range scenes {
		path := "recordings/2.1.329/" + s.recording + ".jsonl"
		f, err := testdata.Recordings.Open(path)
		if err != nil {
			return err
		}
		t, err := newTrack(path, f)
		if err != nil {
			return err
		}
		t.scene = s
		tracks = append(tracks, t)
	}
	return a.play(tracks, c.playing, screen)
}

// stage changes a recorded event.
func (s scene) stage(e *event.Event) {
	if s.project == "" {
		return
	}
	if e.Cwd != "" {
		e.Cwd = "/home/you/" + s.project
	}
	if e.Kind == event.UserPromptSubmit && strings.HasPrefix(e.Prompt, "lab:") {
		e.Prompt = s.asked
	}
}

// origin changes where a recorded hook ran.
func (s scene) origin(o *event.Origin) *event.Origin {
	if s.project != "" {
		o.Project = "/home/you/" + s.project
		o.Git = event.Git{Branch: s.branch, Repo: s.project, Worktree: o.Project}
	}
	return o
}

// onScreen plays while the screen of watch follows the scratch directory. When
// the recordings are over, time goes on until the user leaves.
func (p *player) onScreen(ctx context.Context) error {
	shared := *p.a.App
	shared.Store = p.st
	a := app{&shared}
	opt := a.watchOptions(live.Options{}, nil, a.Queue(""))
	choice := a.ColorChoice("")
	opt.Color, opt.Title = a.Color(choice), "beckon demo"
	if err := p.stage(p.start); err != nil {
		return err
	}
	ctx, stop := context.WithCancel(ctx)
	played := make(chan error, 1)
	go func() { played <- p.playOn(ctx) }()
	err := tui.Run(ctx, opt)
	stop()
	return errors.Join(err, <-played)
}

// playOn plays, then lets time pass second by second. With an end, time stops there.
func (p *player) playOn(ctx context.Context) error {
	if err := p.run(ctx); err != nil {
		return err
	}
	var end int64
	if all := p.moments(); len(all) > 0 {
		end = all[len(all)-1].at
	}
	for now := p.start + event.Millis(end); ; {
		select {
		case <-ctx.Done():
			return nil
		case <-time.After(time.Second):
		}
		if p.Until > 0 {
			continue
		}
		now += 1000
		if err := p.stage(now); err != nil {
			return err
		}
	}
}
