package main

import (
	"beckon/event/policy/config"
	"beckon/event/policy/trust"
	"beckon/event/policy/wire"
	"beckon/render"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"beckon/cmd/internal/answer"
	"beckon/cmd/internal/cli"
	"beckon/event"
	"beckon/event/policy"
	"beckon/event/policy/run/example"
)

// policyCmd is `beckon policy`: what answers a hook, and how it got to that.
type policyCmd struct {
	Check     policyCheckCmd     `cmd:"" help:"Check the policy files: mistakes, and what is probably not meant."`
	Explain   policyExplainCmd   `cmd:"" help:"Show which hooks are in force, in their order."`
	Test      policyTestCmd      `cmd:"" help:"Put an event to the policy and show what each hook says and what the client would get."`
	Trace     policyTraceCmd     `cmd:"" help:"Show what was decided lately, and by whom."`
	Replay    policyReplayCmd    `cmd:"" help:"Put recorded events to the policy, or to two of them and show where they differ."`
	Trust     policyTrustCmd     `cmd:"" help:"Put a project's policy in force as it is now."`
	Accept    policyAcceptCmd    `cmd:"" help:"Take a policy file that is gone or empty for meant."`
	AllowOnce policyAllowOnceCmd `cmd:"" help:"Let a refused call pass once, by the code in its refusal."`
	Enable    policyEnableCmd    `cmd:"" help:"Switch a hook on again."`
	Disable   policyDisableCmd   `cmd:"" help:"Switch a hook off."`
	Import    policyImportCmd    `cmd:"" help:"Show the hooks in the client's settings as a policy would run them."`
	Schema    policySchemaCmd    `cmd:"" help:"Print the JSON Schema of a policy file."`
	Example   policyExampleCmd   `cmd:"" help:"Print a small policy server to start your own from."`
}

// sources are the policy files that hold in the working directory.
func (a *app) sources() (policy.Sources, error) {
	s := answer.Sources(a.Getenv, a.Store.Dir)
	dir, err := os.Getwd()
	if err != nil {
		return s, err
	}
	s.Project = trust.ProjectFile(policyRoot(dir))
	return s, nil
}

// policyRoot is the nearest directory that has a policy, else the project.
func policyRoot(dir string) string {
	for d := dir; ; d = filepath.Dir(d) {
		if _, err := os.Stat(trust.ProjectFile(d)); err == nil {
			return d
		}
		if d == filepath.Dir(d) {
			return projectRoot(dir)
		}
	}
}

// problem prints one problem in the form that errors have.
func (a *app) problem(p config.Problem) {
	kind := "error"
	if p.Warning {
		kind = "warning"
	}
	fmt.Fprintf(a.Stdout, "%-7s %s\n", kind, render.OneLine(p.Error()))
	if p.Advice != "" {
		fmt.Fprintf(a.Stdout, "        hint: %s\n", render.OneLine(p.Advice))
	}
}

type policyCheckCmd struct {
	File string `arg:"" optional:"" help:"A policy file (default: those that hold here)." type:"path"`
}

func (c *policyCheckCmd) Run(a *app) error {
	s, err := a.sources()
	if err != nil {
		return err
	}
	if c.File != "" {
		s.Global, s.Project = c.File, ""
		if c.File == trust.ProjectFile(trust.ProjectOf(c.File)) {
			s.Global, s.Project = "", c.File
		}
		if _, err := os.Stat(c.File); err != nil {
			return fmt.Errorf("reading policy: %w", err)
		}
	}
	bad, any := false, false
	var configs []*config.Config
	for _, f := range []struct {
		path  string
		level config.Level
	}{{s.Project, config.Project}, {s.Global, config.Global}} {
		read, err := decodeFile(f.path, f.level)
		if errors.Is(err, os.ErrNotExist) {
			continue
		}
		any = true
		var problems config.Problems
		switch {
		case errors.As(err, &problems):
			for _, p := range problems {
				a.problem(p)
			}
			bad = true
		case err != nil:
			return err
		default:
			fmt.Fprintf(a.Stdout, "ok      %s: %d hooks\n", f.path, len(read.Hooks))
			configs = append(configs, read)
		}
		if f.level == config.Global && answer.Shared(f.path) {
			a.problem(config.Problem{File: f.path, What: "others may write to it, and so choose what runs as you", Advice: "chmod 600", Warning: true})
		}
	}
	if !any {
		fmt.Fprintf(a.Stdout, "no policy: neither %s nor %s is there\n", s.Project, s.Global)
		return nil
	}
	hooks := config.Merge(configs...)
	for _, p := range append(config.Check(hooks), a.twice(hooks, s)...) {
		a.problem(p)
	}
	if bad {
		return cli.ErrSilent
	}
	if c.File == "" {
		for _, n := range policy.Load(s).Notices() {
			fmt.Fprintf(a.Stdout, "note    %s\n", render.OneLine(n))
		}
	}
	return nil
}

func decodeFile(path string, level config.Level) (*config.Config, error) {
	if path == "" {
		return nil, os.ErrNotExist
	}
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("reading policy: %w", err)
	}
	return config.Decode(path, level, data)
}

type policyExplainCmd struct {
	Event string `arg:"" optional:"" help:"Only the hooks of this event."`
	JSON  bool   `name:"json" help:"Print JSON."`
}

// policyHook is one hook as explain prints it.
type policyHook struct {
	Name    string `json:"name"`
	Event   string `json:"event"`
	Matcher string `json:"matcher,omitempty"`
	If      string `json:"if,omitempty"`
	Type    string `json:"type"`
	Does    string `json:"does"`
	Fail    string `json:"fail"`
	Timeout string `json:"timeout"`
	Observe bool   `json:"observe,omitempty"`
	Enabled bool   `json:"enabled"`
	File    string `json:"file"`
	Line    int    `json:"line"`
}

func (c *policyExplainCmd) Run(a *app) error {
	s, err := a.sources()
	if err != nil {
		return err
	}
	if c.Event != "" && event.ByName(c.Event) == event.Unknown {
		return cli.Usage("no such event %q", c.Event)
	}
	loaded := policy.Load(s)
	list := []policyHook{}
	for _, h := range loaded.Hooks {
		if c.Event == "" || h.Event == event.ByName(c.Event) {
			list = append(list, explain(h))
		}
	}
	if c.JSON {
		return cli.WriteJSON(a.Stdout, list)
	}
	for _, f := range loaded.Files {
		fmt.Fprintf(a.Stdout, "%-8s %s: %s\n", f.Level, f.Path, f.Status)
	}
	if len(loaded.Files) == 0 {
		fmt.Fprintf(a.Stdout, "no policy: neither %s nor %s is there\n", s.Project, s.Global)
	}
	for _, e := range slices.SortedStableFunc(slices.Values(list), func(x, y policyHook) int { return strings.Compare(x.Event, y.Event) }) {
		a.printHook(e)
	}
	return nil
}

func explain(h *config.Hook) policyHook {
	e := policyHook{Name: h.Name(), Event: string(h.Event), Matcher: h.Matcher.Text(), Type: string(h.Type), Does: h.Describe(),
		Fail: h.FailMode(), Observe: h.Observe, Enabled: h.Enabled, File: h.File, Line: h.Line, Timeout: "-"}
	if h.If != nil {
		e.If = h.If.Text()
	}
	if h.Runs() {
		e.Timeout = wire.DeadlineOf(h.Event).String()
	}
	if h.Timeout > 0 {
		e.Timeout = h.Timeout.String()
	}
	return e
}

func (a *app) printHook(e policyHook) {
	on := e.Event
	if e.Matcher != "" {
		on += " " + e.Matcher
	}
	if e.If != "" {
		on += " if " + e.If
	}
	var marks []string
	if !e.Enabled {
		marks = append(marks, "off")
	}
	if e.Observe {
		marks = append(marks, "observes")
	}
	if e.Fail != "-" {
		marks = append(marks, "fails "+e.Fail, "within "+e.Timeout)
	}
	fmt.Fprintf(a.Stdout, "%s: %s %s", render.OneLine(on), render.OneLine(e.Name), e.Type)
	if len(marks) > 0 {
		fmt.Fprintf(a.Stdout, " (%s)", strings.Join(marks, ", "))
	}
	place := fmt.Sprintf("%s:%d", e.File, e.Line)
	if e.File == "" {
		place = "there whenever a policy is"
	}
	fmt.Fprintf(a.Stdout, "\n    %s\n    %s\n", render.OneLine(e.Does), place)
}

type policyAcceptCmd struct{}

func (policyAcceptCmd) Run(a *app) error {
	if err := a.InAgent("accepting a policy that is gone"); err != nil {
		return err
	}
	s, err := a.sources()
	if err != nil {
		return err
	}
	done, err := s.Accept()
	for _, text := range done {
		fmt.Fprintln(a.Stdout, render.OneLine(text))
	}
	if err == nil && done == nil {
		fmt.Fprintln(a.Stdout, "there is nothing to accept: the policy files are as they were")
	}
	return err
}

type policyTrustCmd struct {
	Dir string `arg:"" optional:"" help:"The project's directory (default: this one)." type:"path"`
	Off bool   `help:"Take the project's policy out of force."`
}

func (c *policyTrustCmd) Run(a *app) error {
	if err := a.InAgent("trusting a policy"); err != nil {
		return err
	}
	s, err := a.sources()
	if err != nil {
		return err
	}
	if c.Dir != "" {
		s.Project = trust.ProjectFile(c.Dir)
	}
	if c.Off {
		if err := s.Distrust(s.Project); err != nil {
			return fmt.Errorf("taking trust back: %w", err)
		}
		fmt.Fprintf(a.Stdout, "%s is not in force any more\n", s.Project)
		return nil
	}
	trusted, err := s.Trust(s.Project)
	if err != nil {
		return err
	}
	fmt.Fprintf(a.Stdout, "%s is in force as it is now, with %d hooks:\n", s.Project, len(trusted.Hooks))
	for _, h := range trusted.Hooks {
		a.printHook(explain(h))
	}
	return nil
}

type policyEnableCmd struct {
	Hook string `arg:"" help:"The hook's name, as explain prints it."`
}

type policyDisableCmd struct {
	Hook string `arg:"" help:"The hook's name, as explain prints it."`
}

func (c *policyEnableCmd) Run(a *app) error  { return a.switchHook(c.Hook, true) }
func (c *policyDisableCmd) Run(a *app) error { return a.switchHook(c.Hook, false) }

func (a *app) switchHook(name string, on bool) error {
	if !on {
		if err := a.InAgent("switching a hook off"); err != nil {
			return err
		}
	}
	s, err := a.sources()
	if err != nil {
		return err
	}
	hooks := policy.Load(s).Hooks
	off, err := s.State.Disabled()
	if err != nil {
		return err
	}
	i := slices.IndexFunc(hooks, func(h *config.Hook) bool { return h.Name() == name })
	if i < 0 && !(on && off[name]) { // another hook that does the same may stand in its place
		return cli.Hint("beckon policy explain lists them", "no hook %q is in force here", name)
	}
	if err := s.State.Switch(name, on); err != nil {
		return fmt.Errorf("switching %q: %w", name, err)
	}
	word := "off"
	if on {
		word = "on"
	}
	fmt.Fprintf(a.Stdout, "%s is %s\n", name, word)
	return nil
}

type policySchemaCmd struct{}

func (policySchemaCmd) Run(a *app) error {
	schema, err := config.Schema()
	if err != nil {
		return err
	}
	_, err = a.Stdout.Write(schema)
	return err
}

type policyExampleCmd struct {
	Language string `arg:"" enum:"python,node" help:"python or node."`
}

func (c *policyExampleCmd) Run(a *app) error {
	text, err := example.Text(c.Language)
	if err != nil {
		return err
	}
	_, err = io.WriteString(a.Stdout, text)
	return err
}

// since is how long ago t was, short.
func since(now, t time.Time) string {
	switch d := now.Sub(t); {
	case d < time.Minute:
		return fmt.Sprintf("%ds", int(d.Seconds()))
	case d < time.Hour:
		return fmt.Sprintf("%dm", int(d.Minutes()))
	case d < 48*time.Hour:
		return fmt.Sprintf("%dh", int(d.Hours()))
	default:
		return fmt.Sprintf("%dd", int(d.Hours()/24))
	}
}
