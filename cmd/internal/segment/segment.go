// Package segment prints what a prompt, a bar and the client's status line show: the
// commands prompt and statusline, for beckon and for the small program beckon-line.
package segment

import (
	"beckon/cmd/internal/cli"
	"beckon/render"
)

// Main runs prompt or statusline. fleet adds the sessions of other machines; it may be
// nil. Main reports false, and has done nothing, where the command line is another one,
// or asks for them in vain.
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

// Run runs one of the commands that a prompt, a status line or a user's eye waits
// for, and returns its exit code. A client drops the status line of a command that
// failed.
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
