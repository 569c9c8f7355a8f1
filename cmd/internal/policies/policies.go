// Package policies implements `beckon policy`, which checks, tries, trusts and logs policies.
package policies

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"beckon/cmd/internal/cli"
	"beckon/cmd/internal/hook"
	"beckon/event/plainfile"
	"beckon/event/policy"
	"beckon/event/policy/config"
	"beckon/event/policy/trust"
	"beckon/event/policy/wire"
	"beckon/installer"
	"beckon/render"
	"beckon/render/term"
)

// Cmd is the command.
type Cmd struct {
	Check checkCmd `cmd:"" help:"Check the policy files for mistakes, or show the hooks in force."`
	Test  testCmd  `cmd:"" help:"Try an event, run test files, or try the policy on your past calls."`
	Log   logCmd   `cmd:"" aliases:"trace" help:"Show what was decided lately, and by whom."`
	Trust trustCmd `cmd:"" user:"trusting a policy" help:"Trust a project's policy as it is now: it is then in force."`
	Allow allowCmd `cmd:"" user:"allowing a refused call" aliases:"allow-once" help:"Let a refused call pass once, by the code in its refusal."`
	Init  initCmd  `cmd:"" user:"writing a policy" help:"Write a policy to start from, or one from the client's settings."`
}

// ProvideSources gives the commands the policy files that apply here.
func (Cmd) ProvideSources(a *cli.App) (policy.Sources, error) { return Sources(a) }

// Sources returns the policy files that apply in the working directory.
func Sources(a *cli.App) (policy.Sources, error) {
	s := hook.Sources(a.Getenv, a.Store.Dir)
	dir, err := os.Getwd()
	if err != nil {
		return s, err
	}
	s.Project = trust.ProjectFile(hook.ProjectAt(dir, s.State))
	return s, nil
}

func decodeFile(path string, level config.Level) ([]*config.Hook, error) {
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("reading policy: %w", err)
	}
	return config.Decode(path, level, data, false)
}

type checkCmd struct {
	File string `arg:"" optional:"" help:"A policy file (default: those in force here)." type:"path"`
	Show bool   `help:"Show the hooks in force here, in their order."`
}

func (c *checkCmd) Run(a *cli.App, s policy.Sources) error {
	if c.Show {
		c.show(a, s)
		return nil
	}
	if c.File != "" {
		s.Global, s.Project = c.File, ""
		if c.File == trust.ProjectFile(trust.ProjectOf(c.File)) {
			s.Global, s.Project = "", c.File
		}
	}
	bad := false
	var files [][]*config.Hook
	for _, path := range []string{s.Project, s.Global} {
		if path == "" {
			continue
		}
		level := config.Global
		if path == s.Project {
			level = config.Project
		}
		read, err := decodeFile(path, level)
		var problems config.Problems
		switch {
		case errors.Is(err, fs.ErrNotExist) && c.File == "":
			continue
		case errors.As(err, &problems):
			bad = true
		case err != nil:
			return cli.Hint("beckon policy check, without a file, checks those in force here", "%w", err)
		}
		files = append(files, read)
		if read != nil {
			fmt.Fprintf(a.Stdout, "ok      %s: %s\n", path, term.Plural(len(read), "hook"))
		}
		printProblems(a, "error", problems...)
		if level == config.Global && hook.Shared(path) {
			const what = "others may write to it, and so choose what runs as you"
			printProblems(a, "warning", config.Problem{File: path, What: what, Advice: "chmod 600"})
		}
	}
	if len(files) == 0 {
		return a.Printf("no policy: neither %s nor %s is there\n", s.Project, s.Global)
	}
	hooks := config.Merge(files...)
	printProblems(a, "warning", config.Check(hooks)...)
	if bad {
		return cli.ErrSilent
	}
	if c.File == "" {
		printNotices(a, "note    ", policy.Load(s).Notices())
	}
	return nil
}

func printProblems(a *cli.App, kind string, list ...config.Problem) {
	for _, p := range list {
		fmt.Fprintf(a.Stdout, "%-7s %s\n", kind, render.OneLine(p.Error()))
		if p.Advice != "" {
			fmt.Fprintf(a.Stdout, "        hint: %s\n", render.OneLine(p.Advice))
		}
	}
}

func printNotices(a *cli.App, prefix string, list []string) {
	for _, n := range list {
		fmt.Fprintf(a.Stdout, "%s%s\n", prefix, render.OneLine(n))
	}
}

func (c *checkCmd) show(a *cli.App, s policy.Sources) {
	loaded := policy.Load(s)
	for _, f := range loaded.Files {
		fmt.Fprintf(a.Stdout, "%-8s %s: %s\n", f.Level, f.Path, f.Status)
	}
	if len(loaded.Files) == 0 {
		fmt.Fprintf(a.Stdout, "no policy: neither %s nor %s is there\n", s.Project, s.Global)
	}
	for _, h := range slices.SortedStableFunc(slices.Values(loaded.Hooks), func(x, y *config.Hook) int {
		return strings.Compare(string(x.Event), string(y.Event))
	}) {
		show(a, h)
	}
}

// show prints a hook.
func show(a *cli.App, h *config.Hook) {
	on := strings.TrimSpace(string(h.Event) + " " + h.Matcher.Text)
	if h.If != nil {
		on += " if " + h.If.Text
	}
	var marks []string
	if h.Observe {
		marks = append(marks, "observes")
	}
	if h.Runs() {
		fails := "open"
		if h.FailClosed {
			fails = "closed"
		}
		within := cmp.Or(h.Timeout, wire.DeadlineOf(h.Event))
		marks = append(marks, "fails "+fails, "within "+within.String())
	}
	what := string(h.Type)
	if len(marks) > 0 {
		what += " (" + strings.Join(marks, ", ") + ")"
	}
	place := fmt.Sprintf("%s:%d", h.File, h.Line)
	if h.File == "" {
		place = "there whenever a policy is"
	}
	fmt.Fprintf(a.Stdout, "%s: %s %s\n    %s\n    %s\n",
		render.OneLine(on), render.OneLine(h.Name()), what, render.OneLine(h.Describe()), place)
}

type trustCmd struct {
	Dir string `arg:"" optional:"" help:"The project's directory (default: this one)." type:"path"`
	Off bool   `help:"Take the project's policy out of force."`
}

func (c *trustCmd) Run(a *cli.App, s policy.Sources) error {
	if c.Dir != "" {
		s.Project = trust.ProjectFile(c.Dir)
	}
	if c.Off {
		if err := s.Distrust(s.Project); err != nil {
			return fmt.Errorf("taking trust back: %w", err)
		}
		return a.Printf("%s is not in force any more\n", s.Project)
	}
	trusted, err := s.Trust(s.Project)
	if errors.Is(err, fs.ErrNotExist) {
		return cli.Hint("a project has its policy in .beckon/policy.json; beckon help policy shows one", "%w", err)
	}
	if err != nil {
		return err
	}
	hooks := term.Plural(len(trusted), "hook")
	fmt.Fprintf(a.Stdout, "%s is in force as it is now, with %s:\n", s.Project, hooks)
	for _, h := range trusted {
		show(a, h)
	}
	return nil
}

type allowCmd struct {
	Code string `arg:"" help:"The code, as the refusal gives it."`
}

// Run lets the refused call pass the next time.
func (c *allowCmd) Run(a *cli.App, s policy.Sources) error {
	r, err := s.State.Allow(c.Code, time.Now())
	if errors.Is(err, trust.ErrNoCode) {
		const hint = "a code holds for ten minutes and is good for one use; let the agent try again for a new one"
		return cli.Hint(hint, "%q: %w", c.Code, err)
	}
	if err != nil {
		return fmt.Errorf("allowing the call: %w", err)
	}
	return a.Printf("passes once, until %s: %s: %s\n",
		r.Expires.Local().Format("15:04"), render.OneLine(r.Tool), render.OneLine(r.Subject))
}

type logCmd struct {
	Limit int  `short:"n" help:"How many of the newest decisions to show." default:"20"`
	JSON  bool `name:"json" help:"Print JSON, one line each."`
}

func (c *logCmd) Run(a *cli.App, s policy.Sources) error {
	entries, err := s.State.Entries(c.Limit)
	if err != nil {
		return fmt.Errorf("reading the trace: %w", err)
	}
	if len(entries) == 0 && !c.JSON {
		fmt.Fprintln(a.Stdout, "no decision of a policy is recorded")
	}
	for _, e := range entries {
		if !c.JSON {
			logged(a, e)
		} else if err := cli.WriteJSONLine(a.Stdout, e); err != nil {
			return err
		}
	}
	return nil
}

func logged(a *cli.App, e trust.Entry) {
	const indent = "           "
	fmt.Fprintf(a.Stdout, "%4s %-5s %s: %s\n", term.Age(time.Since(e.At)), cmp.Or(e.Decision, "-"),
		render.OneLine(strings.TrimSpace(e.Event+" "+e.Tool)), render.OneLine(e.Subject))
	for _, h := range e.Hooks {
		fmt.Fprintf(a.Stdout, "%s%s: %s (%.1f ms)\n",
			indent, render.OneLine(h.Hook), render.OneLine(said(h)), float64(h.Us)/1000)
	}
	printNotices(a, indent, e.Notes)
}

// said returns one hook's answer in words.
func said(h trust.TracedHook) string {
	text := string(h.Decision)
	switch {
	case h.Skipped != "":
		text = "left out: " + h.Skipped
	case h.Error != "":
		text = "did not work: " + h.Error
	case h.Rewrote != "":
		text = "rewrites: " + h.Rewrote
	case h.Decision == wire.Silence:
		text = "says nothing"
	case h.Reason != "":
		text += ": " + h.Reason
	}
	if h.Observed {
		text = "not heard: " + text
	}
	return text
}

type initCmd struct {
	FromClient bool   `help:"Take over the permissions and hooks of the client's settings."`
	Scope      string `enum:"user,project" default:"user" placeholder:"SCOPE" help:"Whose policy to write: user (yours, in force everywhere) or project (of the project here)."`
}

// starter is a policy to start from.
const starter = `{
  // beckon policy check --show prints each rule.
  "packs": ["git", "filesystem", "secrets"],
}
`

func (c *initCmd) Run(a *cli.App, s policy.Sources) error {
	path, level, text, left := s.Global, config.Global, []byte(starter), []string(nil)
	if c.Scope == "project" {
		path, level = s.Project, config.Project
	}
	if path == "" {
		return errors.New("nobody can tell where your policy is: HOME is not set")
	}
	if _, err := os.Lstat(path); err == nil {
		return cli.Hint("beckon policy check checks it", "there is a policy already: %s", path)
	}
	if c.FromClient {
		files, err := settings(a, s, level)
		if err != nil {
			return err
		}
		if text, left, err = config.FromClient(files, level, installer.Own); err != nil {
			return err
		}
	}
	read, err := config.Decode(path, level, text, false)
	if err != nil {
		return err
	}
	if err := plainfile.Write(path, text, 0o600, true); err != nil {
		return fmt.Errorf("writing policy: %w", err)
	}
	fmt.Fprintf(a.Stdout, "wrote %s: %s\n", path, term.Plural(len(read), "hook"))
	printNotices(a, "not taken over: ", left)
	if c.FromClient {
		fmt.Fprintln(a.Stdout, "The client runs its hooks as long as they are in its settings: "+
			"take out there what you put into a policy.")
	}
	if level == config.Project {
		fmt.Fprintln(a.Stdout, "Read it, then run beckon policy trust.")
	}
	return nil
}

// settings reads the client's settings files of a level.
func settings(a *cli.App, s policy.Sources, level config.Level) (files [][]byte, err error) {
	dir, names := a.ClaudeDir(), []string{"settings.json"}
	if level == config.Project {
		dir, names = filepath.Join(trust.ProjectOf(s.Project), ".claude"), append(names, "settings.local.json")
	}
	for _, name := range names {
		data, err := os.ReadFile(filepath.Join(dir, name))
		if err == nil {
			files = append(files, data)
		} else if !errors.Is(err, fs.ErrNotExist) {
			return nil, fmt.Errorf("reading settings: %w", err)
		}
	}
	return files, nil
}
