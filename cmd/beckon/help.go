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
		_, err = fmt.Fprintln(a.Stdout, strings.TrimSuffix(page, "\n"))
		return err
	}
	node := k.Model.Node
	for _, w := range c.Topic {
		i := slices.IndexFunc(node.Children, func(n *kong.Node) bool { return n.Name == w || slices.Contains(n.Aliases, w) })
		if i < 0 && len(node.Positional) > 0 {
			break // one of its arguments
		}
		if i < 0 {
			return unknown(c.Topic, w, node)
		}
		node = node.Children[i]
	}
	a.usage(c.Topic...)
	return nil
}

// unknown returns the error for a word that is neither a topic nor a command of node.
func unknown(topic []string, word string, node *kong.Node) error {
	var names []string
	if node.Parent == nil {
		for _, t := range manual.Topics() {
			names = append(names, t.Name)
		}
	}
	for _, n := range node.Children {
		names = append(names, n.Name)
	}
	advice := "beckon help lists the topics and commands"
	if near := nearest.Word(word, names); near != "" {
		advice = "did you mean beckon help " + strings.TrimPrefix(node.FullPath()+" "+near, "beckon ") + "?"
	}
	return cli.Usage("%w", cli.Hint(advice, "no help on %q", strings.Join(topic, " ")))
}

// usage prints the help of a command, or of the whole program.
func (a *app) usage(command ...string) {
	run(append(command, "--help"), a.Stdin, a.Stdout, a.Stderr, a.Getenv)
}
