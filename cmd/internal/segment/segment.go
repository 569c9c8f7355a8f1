// Package segment prints what a prompt, a bar and the client's status line show: the commands
// prompt and statusline, for beckon and for beckon-hook, which starts faster.
package segment

import (
	"beckon/cmd/internal/cli"
	"beckon/render"
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
