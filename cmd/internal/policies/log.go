package policies

import (
	"cmp"
	"fmt"
	"strings"
	"time"

	"beckon/cmd/internal/cli"
	"beckon/event/policy"
	"beckon/event/policy/trust"
	"beckon/event/policy/wire"
	"beckon/render"
	"beckon/render/term"
)

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
