package main

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"beckon/cmd/internal/cli"
	"beckon/event"
	"beckon/event/plainfile"
	"beckon/event/recording"
	"beckon/render"
	"beckon/render/term"
	"beckon/render/tui"
	"beckon/state"
	"beckon/state/live"
	"beckon/state/store"
	"beckon/testdata"
)

type demoCmd struct {
	Files []string `arg:"" optional:"" name:"file" help:"Recordings of your own to play side by side (default: a few that come with beckon)."`
	Speed float64  `hidden:"" default:"1" help:"How many times faster than it happened; 0 does not wait at all."`
	Dir   string   `hidden:"" help:"Scratch state directory to play into; kept afterwards (default: a temporary one)." placeholder:"DIR"`
	Until float64  `hidden:"" help:"Stop after so many seconds of the recordings." placeholder:"SECONDS"`
	List  bool     `hidden:"" help:"Print the list whenever it changes, as it does where the output is not a terminal."`
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

// track is one recording being played.
type track struct {
	steps    []recording.Step
	ever     []recording.Registry // all records that it holds, to identify processes
	registry []recording.Registry // as it is at the moment
	scene    scene
}

// began returns the time in a track at which playing starts.
func (t *track) began() int64 { return t.steps[0].T - t.scene.after }

// player plays tracks side by side, through the real store, into a scratch state directory.
type player struct {
	*demoCmd
	a      *app
	st     *store.Store
	tracks []*track
	start  event.Millis // the wall time that corresponds to every track's first step
	shown  string       // the list as last printed
	screen bool         // show the screen of watch, instead of the list
}

// moment is one step of one track, or without one only a time.
type moment struct {
	track *track
	step  recording.Step
	at    int64 // ms from the first moment
}

func (c *demoCmd) Run(a *app) error {
	for name, value := range map[string]float64{"speed": c.Speed, "until": c.Until} {
		if value < 0 {
			return cli.Usage("--%s %g: must not be negative", name, value)
		}
	}
	p := &player{demoCmd: c, a: a, start: event.MillisOf(time.Now()), screen: !c.List && a.Screen()}
	for _, path := range c.Files {
		f, err := os.Open(path)
		if err != nil {
			return cli.Hint("beckon demo plays recordings of its own", "reading recording: %w", err)
		}
		if err := p.add(path, f, scene{}); err != nil {
			return err
		}
	}
	own := scenes
	if len(c.Files) > 0 {
		own = nil
	}
	for _, s := range own {
		path := "recordings/2.1.329/" + s.recording + ".jsonl"
		f, err := testdata.Recordings.Open(path)
		if err != nil {
			return err
		}
		if err := p.add(path, f, s); err != nil {
			return err
		}
	}
	dir, err := c.scratch()
	if err != nil {
		return err
	}
	if c.Dir == "" {
		defer os.RemoveAll(dir)
	}
	p.st = store.Open(dir)
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if p.screen {
		return p.onScreen(ctx)
	}
	return p.run(ctx)
}

// add reads a recording.
func (p *player) add(path string, r io.ReadCloser, s scene) error {
	defer r.Close()
	steps, err := recording.Read(r)
	if err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	slices.SortStableFunc(steps, func(a, b recording.Step) int { return cmp.Compare(a.T, b.T) })
	t := &track{steps: steps, scene: s}
	for _, s := range steps {
		t.ever = append(t.ever, s.Registry...)
	}
	p.tracks = append(p.tracks, t)
	return nil
}

// scratch makes the scratch directory. It refuses one that holds anything but what was played.
func (c *demoCmd) scratch() (string, error) {
	if c.Dir == "" {
		return os.MkdirTemp("", "beckon-demo-")
	}
	if err := os.MkdirAll(c.Dir, 0o700); err != nil {
		return "", err
	}
	names, err := os.ReadDir(c.Dir)
	if err != nil {
		return "", err
	}
	if _, err := os.Stat(filepath.Join(c.Dir, live.StagedFile)); len(names) > 0 && errors.Is(err, fs.ErrNotExist) {
		return "", cli.Hint("give a new directory, or one that a demo made", "scratch directory %q is not empty", c.Dir)
	}
	return c.Dir, nil
}

// run plays all moments in their own timing.
func (p *player) run(ctx context.Context) error {
	began := time.Now()
	for _, m := range p.moments() {
		var wait time.Duration
		if p.Speed > 0 {
			wait = time.Until(began.Add(time.Duration(float64(m.at) / p.Speed * float64(time.Millisecond))))
		}
		select {
		case <-ctx.Done():
			return nil
		case <-time.After(wait):
		}
		if err := p.do(m); err != nil {
			return fmt.Errorf("at %d ms: %w", m.at, err)
		}
	}
	return nil
}

// onScreen plays while the screen of watch follows the scratch directory. When
// the recordings are over, time goes on until the user leaves.
func (p *player) onScreen(ctx context.Context) error {
	shared := *p.a.App
	shared.Store = p.st
	a := app{&shared}
	opt := a.watchOptions(nil)
	opt.Color, opt.Title = a.Color(a.ColorChoice("")), "beckon demo"
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
	err := p.run(ctx)
	now := p.start
	if all := p.moments(); len(all) > 0 {
		now += event.Millis(all[len(all)-1].at)
	}
	for err == nil {
		select {
		case <-ctx.Done():
			return nil
		case <-time.After(time.Second):
		}
		if p.Until == 0 {
			now += 1000
			err = p.stage(now)
		}
	}
	return err
}

// lookAgain is the delay before a registry status is read a second time, in ms: longer than
// Resolve requires it to have been stable.
const lookAgain = 250

// moments merges the tracks in the order of their times.
func (p *player) moments() []moment {
	var all []moment
	for _, t := range p.tracks {
		for _, s := range t.steps {
			m := moment{track: t, step: s, at: s.T - t.began()}
			switch s.Kind {
			case "start":
				continue
			case "registry": // read again once the status has been stable long enough
				all = append(all, moment{at: m.at + lookAgain})
			}
			all = append(all, m)
		}
	}
	slices.SortStableFunc(all, func(a, b moment) int { return cmp.Compare(a.at, b.at) })
	if p.Until > 0 {
		end := int64(p.Until * 1000)
		all = slices.DeleteFunc(all, func(m moment) bool { return m.at > end })
		all = append(all, moment{at: end})
	}
	return all
}

// do plays one moment and prints the list if it changed.
func (p *player) do(m moment) error {
	now, t := p.start+event.Millis(m.at), m.track
	if m.step.Kind == "registry" {
		t.registry = slices.Clone(m.step.Registry)
		for i := range t.registry {
			r := &t.registry[i]
			for _, at := range []*event.Millis{&r.StatusUpdatedAt, &r.UpdatedAt, &r.StartedAt} {
				*at += now - m.step.At
			}
		}
	}
	if err := p.stage(now); err != nil {
		return err
	}
	if s, ok := event.ParseStatus(m.step.Payload); ok && m.step.Kind == "statusline" {
		s.Meter.At = now
		if err := p.st.SetMeter(store.KeyOf(s.SessionID), s.Meter); err != nil {
			return err
		}
	}
	if t != nil && m.step.Hook() {
		if err := p.hook(t, m.step, now); err != nil {
			return err
		}
	}
	return p.show(now)
}

// stage writes the evidence that every view of the scratch directory reads instead of the
// machine's. A registry status counts as soon as it is recorded, since the recorder polled it.
func (p *player) stage(now event.Millis) error {
	var records [][]byte
	for _, t := range p.tracks {
		for _, r := range t.registry {
			b, err := json.Marshal(r)
			if err != nil {
				return err
			}
			records = append(records, b)
		}
	}
	path := filepath.Join(p.st.Dir, live.StagedFile)
	return plainfile.Write(path, live.AppendStaged(nil, now, records), 0o600, false)
}

// hook folds one recorded payload as the hook would have, from the process
// that the recording names.
func (p *player) hook(t *track, step recording.Step, now event.Millis) error {
	payload := strings.NewReplacer(t.scene.words...).Replace(string(step.Payload))
	e, err := event.Parse("", step.Kind, []byte(payload))
	if err != nil {
		return err
	}
	e.At = now
	if e.SessionID == "" {
		return errors.New("payload has no session_id")
	}
	s := t.scene
	if s.project != "" && e.Cwd != "" {
		e.Cwd = "/home/you/" + s.project
	}
	if s.project != "" && e.Kind == event.UserPromptSubmit && strings.HasPrefix(e.Prompt, "lab:") {
		e.Prompt = s.asked
	}
	_, err = p.st.Fold(store.KeyOf(e.SessionID), store.Update{
		Change: state.Change{At: now, Event: &e},
		Origin: func(event.Origin) event.Origin {
			o := step.Origin(t.ever, e.Cwd)
			if s.project != "" {
				o.Git = event.Git{Branch: s.branch, Repo: s.project, Worktree: o.Project}
			}
			return *o
		},
	})
	return err
}

// show prints the list if it differs from what was printed last.
func (p *player) show(now event.Millis) error {
	if p.screen {
		return nil // the screen follows the directory
	}
	snap, err := live.NewReader(p.st, "").Look(false)
	if err != nil {
		return err
	}
	rows := render.Rows(snap.Seen, false)
	var key strings.Builder
	for _, r := range rows {
		fmt.Fprintln(&key, r.SessionID, r.State, r.Reason, r.What())
	}
	if key.String() == p.shown {
		return nil
	}
	p.shown = key.String()
	fmt.Fprintf(p.a.Stdout, "-- %.1f s\n", float64(now-p.start)/1000)
	style := term.Style{Color: p.a.Color("auto"), Rich: p.a.Rich(), Width: p.a.Width(), Now: now.Time()}
	return term.List(p.a.Stdout, rows, style)
}
