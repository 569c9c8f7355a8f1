package main

import (
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"beckon/event"
	"beckon/render"
	"beckon/render/term"
	"beckon/state"
)

type listCmd struct {
	JSON  bool     `name:"json" help:"Print JSON (README: list --json)."`
	All   bool     `help:"Also list sessions that ended, and the archive."`
	State []string `help:"Only these states, separated by commas." placeholder:"STATE"`
	Color string   `enum:",auto,always,never" default:"" help:"auto, always or never (default: as configured)."`
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
	if want != nil {
		rows = slices.DeleteFunc(rows, func(r render.Row) bool { return !slices.Contains(want, r.State) })
	}
	if c.JSON {
		if err := a.busy(rows, now); err != nil {
			return err
		}
		return writeJSON(a.stdout, render.List{Schema: render.ListSchema, GeneratedAt: clock(now), Sessions: rows})
	}
	if len(rows) == 0 {
		_, err := fmt.Fprintln(a.stdout, emptyList(c))
		return err
	}
	return term.List(a.stdout, rows, term.Style{Color: a.color(color), Width: a.width(), Now: clock(now)})
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
