package main

import (
	"fmt"
	"io"
	"strings"

	"beckon/cmd/internal/config"

	"github.com/alecthomas/kong"
)

type manCmd struct{}

func (c *manCmd) Run(a *app, k *kong.Kong) error {
	p := page{w: a.stdout}
	p.write(k.Model)
	return p.err
}

// page writes the manual in the man macros, from the same model as --help.
type page struct {
	w   io.Writer
	err error
}

// request writes one line that begins with a request, its arguments escaped.
func (p *page) request(name string, args ...string) {
	line := "." + name
	for _, a := range args {
		line += ` "` + strings.ReplaceAll(troff(a), `"`, `\(dq`) + `"`
	}
	p.raw(line)
}

// text writes a line of plain text.
func (p *page) text(s string) {
	s = troff(s)
	if strings.HasPrefix(s, ".") || strings.HasPrefix(s, "'") {
		s = `\&` + s
	}
	p.raw(s)
}

func (p *page) raw(line string) {
	if p.err == nil {
		_, p.err = io.WriteString(p.w, line+"\n")
	}
}

// troff escapes what the formatter would take for its own.
func troff(s string) string {
	return strings.NewReplacer(`\`, `\e`, "-", `\-`, "\n", " ").Replace(s)
}

// item writes a term and what it means.
func (p *page) item(term, text string) {
	p.request("TP")
	p.request("B", term)
	p.text(text)
}

func (p *page) write(m *kong.Application) {
	p.request("TH", "BECKON", "1", "", "beckon "+versionString())
	p.request("SH", "NAME")
	p.text(m.Name + " - " + strings.TrimSuffix(m.Help, "."))
	p.request("SH", "SYNOPSIS")
	p.request("B", m.Name)
	p.text("[command] [flags]")
	p.request("SH", "COMMANDS")
	p.text("Without a command, " + m.DefaultCmd.Name + " is run. A session is named by its id, the beginning of it, its seat's id, or the project or branch that only one live session works in.")
	for _, n := range m.Children {
		if !n.Hidden {
			p.command(n)
		}
	}
	p.rest()
}

func (p *page) command(n *kong.Node) {
	p.request("SS", "beckon "+n.Path())
	p.text(n.Help)
	for _, a := range n.Positional {
		p.item(a.Summary(), a.Help)
	}
	for _, f := range n.Flags {
		if !f.Hidden && f.Name != "help" {
			p.item(flagTerm(f), f.Help)
		}
	}
	for _, c := range n.Children {
		p.command(c)
	}
}

func flagTerm(f *kong.Flag) string {
	term := "--" + f.Name
	if f.Short != 0 {
		term = "-" + string(f.Short) + ", " + term
	}
	if !f.IsBool() {
		term += "=" + f.FormatPlaceHolder()
	}
	return term
}

// rest is what no command's help says.
func (p *page) rest() {
	p.request("SH", "CONFIGURATION")
	p.text("config.json in $XDG_CONFIG_HOME/beckon, else in ~/.config/beckon: JSON, with comments and trailing commas.")
	for _, k := range config.Keys {
		p.item(k.Name, fmt.Sprintf("%s: %s (default %s).", k.Doc, strings.Join(k.OneOf, ", "), k.Value(config.Default())))
	}
	p.request("SH", "ENVIRONMENT")
	p.item("BECKON_STATE_DIR", "Where sessions are kept, else $XDG_STATE_HOME/beckon, else ~/.local/state/beckon.")
	p.item("CLAUDE_CONFIG_DIR", "The client's own directory, else ~/.claude.")
	p.item("NO_COLOR, CLICOLOR_FORCE", "Take colour away, or force it.")
	p.request("SH", "EXIT STATUS")
	for _, e := range []struct {
		code int
		text string
	}{
		{exitOK, "Done."}, {exitError, "Something is wrong, or doctor or fsck found something."},
		{exitUsage, "The command line is not understood."}, {exitNotFound, "There is no such session."},
	} {
		p.item(fmt.Sprint(e.code), e.text)
	}
	p.text("hook always exits 0.")
}
