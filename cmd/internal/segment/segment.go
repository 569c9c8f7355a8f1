// Package segment prints what a prompt, a bar and the client's status line show: the commands
// prompt and statusline, for beckon and for beckon-hook, which starts faster.
package segment

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"beckon/cmd/internal/cli"
	"beckon/render"
	"beckon/render/term"
)

// Main runs prompt or statusline. fleet adds the sessions of other machines; it may be nil.
// It does nothing and reports false for any other command line, and for one that needs fleet if
// that is nil.
func Main(a *cli.App, args []string, fleet func([]render.Row) []render.Row) (code int, ok bool) {
	if len(args) == 0 {
		return 0, false
	}
	var show func() error
	switch args[0] {
	case "prompt":
		c, fits := ParsePrompt(args[1:])
		ok, show = fits && (!c.Fleet || fleet != nil), func() error { return c.Show(a, fleet) }
	case "statusline":
		c, fits := ParseStatusline(args[1:])
		ok, show = fits && (!c.Fleet || fleet != nil), func() error { return c.Show(a, fleet) }
	}
	if !ok {
		return 0, false
	}
	return Run(a, args[0], show), true
}

// Run runs a command that a prompt, a status line or a user waits for, and returns its exit
// code. The client drops the status line of a command that fails.
func Run(a *cli.App, name string, show func() error) (code int) {
	if err := a.Open(); err != nil {
		if name == "statusline" {
			return cli.ExitOK
		}
		return a.Fail(err)
	}
	a.Command, a.Unwarned, a.Brief = "beckon "+name, name != "list", true
	return a.Fail(show())
}

// Prompt is the command that prints a short segment.
type Prompt struct {
	Format string `help:"Template to fill in instead of the default (beckon help display)." placeholder:"TEMPLATE"`
	For    string `hidden:"" help:"Escape values for where the text goes: plain, zsh, tmux, polybar, pango or swiftbar (default: ${default})." default:"plain" placeholder:"TARGET"`
	JSON   bool   `name:"json" help:"Print JSON, as waybar's custom modules read it."`
	Fleet  bool   `help:"Count the sessions of the fleet's other machines, too, as beckon fleet link last saw them."`
}

// ParsePrompt parses the command line as kong would; ok is false for anything that it does not
// understand.
func ParsePrompt(args []string) (c Prompt, ok bool) {
	c.For = string(term.Plain)
	ok = Flags(args, map[string]*string{"--format": &c.Format, "--for": &c.For},
		map[string]*bool{"--json": &c.JSON, "--fleet": &c.Fleet})
	return c, ok
}

// Show prints the segment. fleet adds the sessions of other machines, if asked for.
func (c *Prompt) Show(a *cli.App, fleet func([]render.Row) []render.Row) error {
	f, err := term.ParseFormat(cmp.Or(c.Format, term.DefaultPrompt), term.PromptFields)
	if err != nil {
		return cli.Usage("--format %q: %w", c.Format, err)
	}
	target := term.Target(c.For)
	if !slices.Contains(term.Targets, target) {
		return cli.Usage("--for %q: not one of plain, zsh, tmux, polybar, pango, swiftbar", c.For)
	}
	rows, _, now, err := a.Rows()
	if err != nil {
		return err
	}
	if c.Fleet {
		rows = fleet(rows)
	}
	st := term.Style{Now: now}
	if c.JSON {
		return cli.WriteJSONLine(a.Stdout, term.BarOf(rows, f, st))
	}
	if line := term.Prompt(rows, f, target, st); line != "" {
		fmt.Fprintln(a.Stdout, line)
	}
	return nil
}

// Flags parses "--name value" and "--name=value" into values and "--name" into switches. It
// reports whether it understood all of args.
func Flags(args []string, values map[string]*string, switches map[string]*bool) bool {
	for i := 0; i < len(args); i++ {
		name, value, has := strings.Cut(args[i], "=")
		switch {
		case switches[name] != nil && !has:
			*switches[name] = true
		case values[name] == nil:
			return false
		case has:
			*values[name] = value
		case i+1 < len(args):
			i++
			*values[name] = args[i]
		default:
			return false
		}
	}
	return true
}
