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
