package policies

import (
	"cmp"
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
	if len(files) == 0 {
		return a.Printf("no policy: neither %s nor %s is there\n", s.Project, s.Global)
	}
	hooks := config.Merge(files...)
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
