package main

import (
	"fmt"
	"strings"

	"beckon/cmd/internal/cli"
	"beckon/cmd/internal/config"

	"github.com/alecthomas/kong"
	mangokong "github.com/alecthomas/mango-kong"
	"github.com/muesli/roff"
)

type manCmd struct{}

// Run prints the manual page, made from the same model as --help.
func (c *manCmd) Run(a *app, k *kong.Kong) error {
	page := mangokong.NewManPage(1, k.Model).
		WithSection("Session", sessionHelp+".").
		WithSection("Configuration", configurationText()).
		WithSection("Environment", environmentText).
		WithSection("Exit status", exitText)
	// The library's first line contains today's date, but a commit's release must be the same
	// bytes on any day.
	_, text, _ := strings.Cut(page.Build(roff.NewDocument()), "\n")
	_, err := fmt.Fprintf(a.Stdout, ".TH BECKON 1 \"\" \"beckon %s\"\n%s", cli.Version(), text)
	return err
}

// configurationText lists the keys of the configuration.
func configurationText() string {
	var b strings.Builder
	b.WriteString("config.json in $XDG_CONFIG_HOME/beckon, else in ~/.config/beckon: JSON, with comments and trailing commas.\n")
	for _, k := range config.Keys {
		fmt.Fprintf(&b, "\n%s: %s: %s (default %s).\n", k.Name, k.Doc, strings.Join(k.OneOf, ", "), k.Value(config.Default()))
	}
	return b.String()
}

const environmentText = `BECKON_STATE_DIR: where sessions are kept, else $XDG_STATE_HOME/beckon, else ~/.local/state/beckon.

CLAUDE_CONFIG_DIR: the client's own directory, else ~/.claude.

NO_COLOR, CLICOLOR_FORCE: take colour away, or force it.`

const exitText = `0: done.

1: something is wrong, or doctor or fsck found something.

2: the command line is not understood.

3: there is no such session.

4: it was answered already.

hook exits 0 unless a policy has no other way to refuse.`
