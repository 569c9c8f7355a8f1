package main

import (
	"context"
	"errors"
	"fmt"
	"os"

	"beckon/cmd/internal/cli"
	"beckon/cmd/internal/talk"
	"beckon/render"
	"beckon/render/term"
	"beckon/render/tui/pick"

	xterm "golang.org/x/term"
)

type pickCmd struct {
	What string `arg:"" optional:"" enum:"jump,show,answer,print" default:"jump" help:"What to do with it: jump, show, answer (list what it asks) or print (its id) (default: jump)."`
	All  bool   `help:"Add ended sessions."`
}

// Run lets the user choose a session by typing parts of its line. It draws on stderr,
// so that $(beckon pick print) works.
func (c *pickCmd) Run(a *app) error {
	in, ok := a.Stdin.(*os.File)
	out, tty := a.Stderr.(*os.File)
	if !ok || !tty || !xterm.IsTerminal(int(in.Fd())) || !xterm.IsTerminal(int(out.Fd())) || a.Getenv("TERM") == "dumb" {
		return cli.Hint("beckon list --json lists the sessions for a program", "pick needs a terminal, and one that can move its cursor")
	}
	seen, now, err := a.Look(c.All)
	if err != nil {
		return err
	}
	rows := render.Rows(seen, c.All)
	if len(rows) == 0 {
		return cli.Hint("beckon list says what to do", "there is no session to pick")
	}
	i, err := pick.Line(context.Background(), term.Lines(rows, now.Time()), in, out, a.Getenv("NO_COLOR") == "")
	if errors.Is(err, pick.ErrNone) {
		return cli.ErrSilent
	}
	if err != nil {
		return err
	}
	record := rows[i].Record()
	switch c.What {
	case "show":
		return (&showCmd{Session: record, Turns: 10}).Run(a)
	case "answer":
		return (&talk.AnswerCmd{Words: []string{record}}).Run(a.App)
	case "print":
		_, err := fmt.Fprintln(a.Stdout, record)
		return err
	}
	return (&jumpCmd{Session: record}).Run(a)
}
