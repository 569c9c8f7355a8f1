package policies

import (
	"fmt"
	"slices"
	"strings"

	"beckon/cmd/internal/cli"
	"beckon/event"
	"beckon/event/policy"
	"beckon/event/policy/config"
	"beckon/event/policy/wire"
	"beckon/render"
)

type explainCmd struct {
	Event string `arg:"" optional:"" help:"Only the hooks of this event."`
	JSON  bool   `name:"json" help:"Print JSON."`
}

// hook is one hook as explain prints it.
type hook struct {
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

func (c *explainCmd) Run(a *cli.App, s policy.Sources) error {
	if c.Event != "" && event.ByName(c.Event) == event.Unknown {
		return cli.Usage("no such event %q", c.Event)
	}
	loaded := policy.Load(s)
	list := []hook{}
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
	for _, e := range slices.SortedStableFunc(slices.Values(list), func(x, y hook) int { return strings.Compare(x.Event, y.Event) }) {
		printHook(a, e)
	}
	return nil
}

func explain(h *config.Hook) hook {
	e := hook{Name: h.Name(), Event: string(h.Event), Matcher: h.Matcher.Text(), Type: string(h.Type), Does: h.Describe(),
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

func printHook(a *cli.App, e hook) {
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
