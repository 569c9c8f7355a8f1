package main

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"beckon/cmd/internal/cli"
	"beckon/cmd/internal/manual"

	"github.com/alecthomas/kong"
	mangokong "github.com/alecthomas/mango-kong"
	"github.com/muesli/roff"
)

type helpCmd struct {
	Topic []string `arg:"" optional:"" help:"A topic of the manual, or a command."`
	Man   bool     `hidden:"" help:"Print the manual page instead; to read it: beckon help --man | man -l -"`
}

// Run prints a page of the manual, or a command's usage if it has no page. Without a topic it
// lists both.
func (c *helpCmd) Run(a *app, k *kong.Kong) error {
	if c.Man {
		return a.man(k)
	}
	if len(c.Topic) == 0 || c.Topic[0] == "version" { // which is a flag now
		a.usage()
		return nil
	}
	if now, was := renamed(c.Topic); was != "" {
		c.Topic = now[:1]
	}
	if page, err := manual.Page(c.Topic[0]); err == nil && len(c.Topic) == 1 {
		if width := a.Width(); width > 0 {
			page = manual.Fit(page, min(width, manual.Widest))
		}
		return a.Printf("%s\n", strings.TrimSuffix(page, "\n"))
	}
	node := k.Model.Node
	for _, w := range c.Topic {
		i := slices.IndexFunc(node.Children, func(n *kong.Node) bool { return n.Name == w || slices.Contains(n.Aliases, w) })
		if i < 0 && len(node.Positional) > 0 {
			break // one of its arguments
		}
		if i < 0 {
			var topics []string
			if node.Parent == nil {
				topics = manual.Topics()
			}
			before := strings.Replace(node.FullPath(), "beckon", "beckon help", 1)
			advice := cmp.Or(didYouMean(w, before, node, topics), "beckon help lists the topics and commands")
			return cli.Usage("%w", cli.Hint(advice, "no help on %q", strings.Join(c.Topic, " ")))
		}
		node = node.Children[i]
	}
	a.usage(c.Topic...)
	return nil
}

// usage prints the help of a command, or of the whole program.
func (a *app) usage(command ...string) {
	run(append(command, "--help"), a.Stdin, a.Stdout, a.Stderr, a.Getenv)
}

// columns are the groups of commands on the left and on the right of the help.
var columns = [2][]string{{"Look", "Act"}, {"Elsewhere", "Rules", "Set up"}}

// printHelp prints the usage of a command as kong does, and of the whole program on one screen
// of 80 columns and 24 lines.
func printHelp(o kong.HelpOptions, ctx *kong.Context) error {
	if ctx.Selected() != nil {
		return kong.DefaultHelpPrinter(o, ctx)
	}
	var sides [2][]string
	for i, keys := range columns {
		width := [...]int{len("history"), len("statusline")}[i] // of the longest name
		for _, key := range keys {
			sides[i] = append(sides[i], key)
			for _, n := range ctx.Model.Children {
				if n.Group != nil && n.Group.Key == key {
					sides[i] = append(sides[i], fmt.Sprintf("  %-*s  %s", width, n.Name, n.Tag.Get("brief")))
				}
			}
		}
	}
	w := ctx.Stdout
	fmt.Fprintln(w, "beckon tells which of your coding-agent sessions needs you.")
	fmt.Fprintf(w, "Usage: beckon [COMMAND] [flags]; without a command, it lists them.\n\n")
	for i := range max(len(sides[0]), len(sides[1])) {
		side := func(j int) string { return append(sides[j], make([]string, len(sides[1-j]))...)[i] }
		fmt.Fprintln(w, strings.TrimRight(fmt.Sprintf("%-38s%s", side(0), side(1)), " "))
	}
	fmt.Fprintf(w, "\nFlags of a command: beckon COMMAND --help. The manual: beckon help TOPIC, of\n")
	_, err := fmt.Fprintln(w, manual.Fit(strings.Join(manual.Topics(), ", "), 80))
	return err
}

// man prints the manual page, made from the same model as --help.
func (a *app) man(k *kong.Kong) error {
	page := mangokong.NewManPage(1, k.Model).
		WithLongDescription("beckon follows the sessions of coding agents through their hooks: beckon setup sets it up. "+
			"beckon help lists the topics of its manual, and beckon help TOPIC prints one.").
		WithSection("Session", sessionHelp+".")
	// The library's first line contains today's date, but a commit's release must be the same
	// bytes on any day.
	_, text, _ := strings.Cut(page.Build(roff.NewDocument()), "\n")
	return a.Printf(".TH BECKON 1 \"\" \"beckon %s\"\n%s", cli.Version(), text)
}
