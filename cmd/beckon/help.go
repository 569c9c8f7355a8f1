package main

import (
	"fmt"
	"slices"
	"strings"

	"beckon/cmd/internal/cli"
	"beckon/cmd/internal/manual"
	"beckon/event/nearest"

	"github.com/alecthomas/kong"
)

type helpCmd struct {
	Topic []string `arg:"" optional:"" help:"A topic of the manual, or a command."`
}

// Run prints a page of the manual, or a command's usage if it has no page. Without a topic it
// lists the commands and the topics.
func (c *helpCmd) Run(a *app, k *kong.Kong) error {
	if len(c.Topic) == 0 {
		a.usage()
		fmt.Fprintf(a.Stdout, "\nTopics of the manual (beckon help TOPIC):\n")
		for _, t := range manual.Topics() {
			fmt.Fprintf(a.Stdout, "  %-16s %s\n", t.Name, t.Title)
		}
		return nil
	}
	if page, err := manual.Page(c.Topic[0]); err == nil && len(c.Topic) == 1 {
		if width := a.Width(); width > 0 {
			page = manual.Fit(page, min(width, manual.Widest))
		}
		_, err = fmt.Fprint(a.Stdout, page)
		return err
	}
	words := []string{}
	for _, t := range manual.Topics() {
		words = append(words, t.Name)
	}
	for _, n := range k.Model.Children {
		if n.Name == c.Topic[0] || slices.Contains(n.Aliases, c.Topic[0]) {
			a.usage(c.Topic...)
			return nil
		}
		words = append(words, n.Name)
	}
	advice := "beckon help lists the topics and commands"
	if word := nearest.Word(c.Topic[0], words); word != "" {
		advice = "did you mean beckon help " + word + "?"
	}
	return cli.Usage("%w", cli.Hint(advice, "no help on %q", strings.Join(c.Topic, " ")))
}

// usage prints the help of a command, or of the whole program.
func (a *app) usage(command ...string) {
	run(append(command, "--help"), a.Stdin, a.Stdout, a.Stderr, a.Getenv)
}
