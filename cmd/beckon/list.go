package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"beckon/event"
	"beckon/render"
	"beckon/render/hosts"
	"beckon/render/term"
	"beckon/state"
)

type listCmd struct {
	JSON  bool     `name:"json" help:"Print JSON (beckon help json)."`
	All   bool     `help:"Also list sessions that ended, and the archive."`
	State []string `help:"Only these states, separated by commas." placeholder:"STATE"`
	Host  []string `sep:"none" placeholder:"ssh:NAME" help:"Also the sessions of another machine, asked by ssh; can be given more than once."`
	colored
}

// parseList is the quick way to a listCmd (quick); lists of hosts and states are
// left to kong.
func parseList(args []string) (c listCmd, ok bool) {
	ok = flags(args, nil, map[string]*bool{"--json": &c.JSON, "--all": &c.All})
	return c, ok
}

func (c *listCmd) Run(a *app) error {
	want, err := parseStates(c.State)
	if err != nil {
		return err
	}
	color, err := a.colorChoice(c.Color)
	if err != nil {
		return err
	}
	seen, now, err := a.look(c.All)
	if err != nil {
		return err
	}
	rows := render.Rows(seen, c.All)
	if c.JSON {
		if err := a.busy(rows, now); err != nil {
			return err
		}
	}
	rows, others, err := c.others(a, rows)
	if err != nil {
		return err
	}
	if want != nil {
		rows = slices.DeleteFunc(rows, func(r render.Row) bool { return !slices.Contains(want, r.State) })
	}
	if c.JSON {
		return writeJSON(a.stdout, listed{render.List{Schema: render.ListSchema, GeneratedAt: clock(now), Sessions: rows}, others})
	}
	if lack := a.unknownClient(); lack != "" && len(rows) > 0 {
		fmt.Fprintln(a.stderr, "beckon: "+lack)
	}
	if len(rows) == 0 {
		_, err := fmt.Fprintln(a.stdout, emptyList(c))
		return err
	}
	return term.List(a.stdout, rows, term.Style{Color: a.color(color), Width: a.width(), Now: clock(now)})
}

// listed is what `list --json` prints when other hosts were asked.
type listed struct {
	render.List
	Hosts []hosts.Status `json:"hosts,omitempty"`
}

// others adds the sessions of other hosts to the local rows. A host that does
// not answer is named on stderr, with the age of what is shown of it.
func (c *listCmd) others(a *app, rows []render.Row) ([]render.Row, []hosts.Status, error) {
	if len(c.Host) == 0 {
		return rows, nil, nil
	}
	h, err := hosts.Open(a.st, c.Host...)
	if err != nil {
		return nil, nil, usageError{err}
	}
	h.Poll(context.Background())
	remote, status := h.Snapshot()
	for _, st := range status {
		switch {
		case !st.Stale:
		case st.AsOf == nil:
			fmt.Fprintf(a.stderr, "beckon: asking host %s: %s\n", st.Name, st.Error)
		default:
			fmt.Fprintf(a.stderr, "beckon: asking host %s: %s; shown is what it said %s ago\n", st.Name, st.Error, term.Age(time.Since(*st.AsOf)))
		}
	}
	remote = slices.DeleteFunc(remote, func(r render.Row) bool { return !c.All && !r.State.Live() })
	return hosts.Merge(rows, remote), status, nil
}

func emptyList(c *listCmd) string {
	if c.State != nil {
		return "no session in that state"
	}
	return "no sessions; start an agent after `beckon install`"
}

func parseStates(names []string) ([]state.State, error) {
	var out []state.State
	for _, n := range names {
		s := state.State(strings.ToLower(strings.TrimSpace(n)))
		if !slices.Contains(state.States[:], s) {
			return nil, usageError{fmt.Errorf("--state %q: no such state (one of %s)", n, stateNames())}
		}
		out = append(out, s)
	}
	return out, nil
}

func stateNames() string {
	names := make([]string, len(state.States))
	for i, s := range state.States {
		names[i] = string(s)
	}
	return strings.Join(names, ", ")
}

func writeJSON(w io.Writer, v any) error {
	e := json.NewEncoder(w)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	return e.Encode(v)
}

// writeLine writes v as JSON on one line.
func writeLine(w io.Writer, v any) error {
	e := json.NewEncoder(w)
	e.SetEscapeHTML(false)
	return e.Encode(v)
}

func clock(m event.Millis) time.Time { return time.UnixMilli(int64(m)).UTC() }
