package main

import (
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"slices"

	"beckon/cmd/internal/cli"
	"beckon/cmd/internal/fleets"
	"beckon/render/term"
)

type promptCmd struct {
	Format string `help:"Template instead of the default (beckon help display)." placeholder:"TEMPLATE"`
	For    string `help:"Escape values for where the text goes: plain, zsh, tmux, polybar or pango." default:"plain" placeholder:"TARGET"`
	JSON   bool   `name:"json" help:"Print JSON, as waybar's custom modules read it."`
	Fleet  bool   `help:"Count the sessions of the fleet's other machines, too; beckon link keeps them at hand."`
}

// parsePrompt reads the command line as kong would.
func parsePrompt(args []string) (c promptCmd, ok bool) {
	c.For = string(term.Plain)
	ok = flags(args, map[string]*string{"--format": &c.Format, "--for": &c.For}, map[string]*bool{"--json": &c.JSON, "--fleet": &c.Fleet})
	return c, ok
}

func (c *promptCmd) Run(a *app) error {
	f, err := term.ParseFormat(cmp.Or(c.Format, term.DefaultPrompt), term.PromptFields)
	if err != nil {
		return cli.Usage("--format %q: %w", c.Format, err)
	}
	target := term.Target(c.For)
	if !slices.Contains(term.Targets, target) {
		return cli.Usage("--for %q: not one of plain, zsh, tmux, polybar, pango", c.For)
	}
	rows, _, now, err := a.Rows()
	if err != nil {
		return err
	}
	if c.Fleet {
		rows = fleets.Merge(rows, fleets.Known(a.App))
	}
	st := term.Style{Now: now}
	if c.JSON {
		return writeLine(a.Stdout, term.BarOf(rows, f, st))
	}
	if line := term.Prompt(rows, f, target, st); line != "" {
		fmt.Fprintln(a.Stdout, line)
	}
	return nil
}

// writeLine writes v as JSON on one line.
func writeLine(w io.Writer, v any) error {
	e := json.NewEncoder(w)
	e.SetEscapeHTML(false)
	return e.Encode(v)
}
