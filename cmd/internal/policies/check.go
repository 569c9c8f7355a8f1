package policies

import (
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"

	"beckon/cmd/internal/cli"
	"beckon/cmd/internal/hook"
	"beckon/event/policy"
	"beckon/event/policy/config"
	"beckon/event/policy/trust"
	"beckon/event/policy/wire"
	"beckon/render"
	"beckon/render/term"
)

type checkCmd struct {
	File string `arg:"" optional:"" help:"A policy file (default: those in force here)." type:"path"`
	Show bool   `help:"Show the hooks in force here, in their order."`
	JSON bool   `name:"json" help:"With --show: print JSON."`
}

func (c *checkCmd) Run(a *cli.App, s policy.Sources) error {
	if c.Show {
		return c.show(a, s)
	}
	if c.File != "" {
		s.Global, s.Project = c.File, ""
		if c.File == trust.ProjectFile(trust.ProjectOf(c.File)) {
			s.Global, s.Project = "", c.File
		}
	}
	bad := false
	var configs []*config.Config
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
		configs = append(configs, read)
		if read != nil {
			fmt.Fprintf(a.Stdout, "ok      %s: %s\n", path, term.Plural(len(read.Hooks), "hook"))
		}
		if level == config.Global && hook.Shared(path) {
			problems = append(problems, config.Problem{
				File:    path,
				What:    "others may write to it, and so choose what runs as you",
				Advice:  "chmod 600",
				Warning: true,
			})
		}
		printProblems(a, problems)
	}
	if len(configs) == 0 {
		fmt.Fprintf(a.Stdout, "no policy: neither %s nor %s is there\n", s.Project, s.Global)
		return nil
	}
	hooks := config.Merge(configs...)
	printProblems(a, config.Check(hooks))
	if bad {
		return cli.ErrSilent
	}
	if c.File == "" {
		printNotices(a, "note    ", policy.Load(s).Notices())
	}
	return nil
}

func printProblems(a *cli.App, list []config.Problem) {
	for _, p := range list {
		kind := "error"
		if p.Warning {
			kind = "warning"
		}
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

// shownHook is one hook as JSON.
type shownHook struct {
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

func (c *checkCmd) show(a *cli.App, s policy.Sources) error {
	loaded := policy.Load(s)
	list := make([]shownHook, len(loaded.Hooks))
	for i, h := range loaded.Hooks {
		list[i] = shown(h)
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
	slices.SortStableFunc(list, func(x, y shownHook) int { return strings.Compare(x.Event, y.Event) })
	for _, h := range list {
		h.print(a)
	}
	return nil
}

func shown(h *config.Hook) shownHook {
	x := shownHook{
		Name:    h.Name(),
		Event:   string(h.Event),
		Matcher: h.Matcher.Text(),
		Type:    string(h.Type),
		Does:    h.Describe(),
		Fail:    "open",
		Timeout: "-",
		Observe: h.Observe,
		Enabled: h.Enabled,
		File:    h.File,
		Line:    h.Line,
	}
	if h.If != nil {
		x.If = h.If.Text()
	}
	switch {
	case !h.Runs():
		x.Fail = "-"
	case h.FailClosed:
		x.Fail = "closed"
	}
	if h.Runs() {
		x.Timeout = wire.DeadlineOf(h.Event).String()
	}
	if h.Timeout > 0 {
		x.Timeout = h.Timeout.String()
	}
	return x
}

func (h shownHook) print(a *cli.App) {
	on := strings.TrimSpace(h.Event + " " + h.Matcher)
	if h.If != "" {
		on += " if " + h.If
	}
	var marks []string
	if !h.Enabled {
		marks = append(marks, "off")
	}
	if h.Observe {
		marks = append(marks, "observes")
	}
	if h.Fail != "-" {
		marks = append(marks, "fails "+h.Fail, "within "+h.Timeout)
	}
	what := h.Type
	if len(marks) > 0 {
		what += " (" + strings.Join(marks, ", ") + ")"
	}
	place := fmt.Sprintf("%s:%d", h.File, h.Line)
	if h.File == "" {
		place = "there whenever a policy is"
	}
	fmt.Fprintf(a.Stdout, "%s: %s %s\n    %s\n    %s\n",
		render.OneLine(on), render.OneLine(h.Name), what, render.OneLine(h.Does), place)
}
