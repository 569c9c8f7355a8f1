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

// man prints the manual page, made from the same model as --help.
func (a *app) man(k *kong.Kong) error {
	page := mangokong.NewManPage(1, k.Model).
		WithLongDescription(descriptionText).
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
	b.WriteString(
		"config.json in $XDG_CONFIG_HOME/beckon, else in ~/.config/beckon: JSON, with comments and trailing commas.\n",
	)
	for _, k := range config.Keys {
		if k.Old {
			continue
		}
		fmt.Fprintf(&b, "\n%s: %s", k.Name, k.Doc)
		if len(k.OneOf) > 0 {
			fmt.Fprintf(&b, ": %s", strings.Join(k.OneOf, ", "))
		}
		if value := k.Value(config.Default()); value != "" {
			fmt.Fprintf(&b, " (default %s)", value)
		}
		b.WriteString(".\n")
	}
	return strings.ReplaceAll(b.String(), "%", "%%") // the library takes a text as a format
}

const descriptionText = `It follows the sessions of Claude Code and other agents through their hooks: beckon setup sets it up. beckon help lists the topics of its manual, and beckon help TOPIC prints one.`

const environmentText = `BECKON_STATE_DIR: where sessions are kept, else $XDG_STATE_HOME/beckon, else ~/.local/state/beckon.

CLAUDE_CONFIG_DIR: the client's own directory, else ~/.claude.

NO_COLOR, CLICOLOR_FORCE: take colour away, or force it.`

const exitText = `0: done.

1: something is wrong, or doctor found something.

2: the command line is not understood.

3: there is no such session.

4: it was answered already.

hook exits 0 unless a policy has no other way to refuse.`
