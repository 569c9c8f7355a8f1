package main

import (
	"regexp"
	"slices"
	"strings"
	"testing"

	"beckon/cmd/internal/manual"

	"github.com/alecthomas/kong"
)

// TestManualFlags: the manual's table of commands has every command, those of a
// command among them, and no flag that the command does not have.
func TestManualFlags(t *testing.T) {
	page, err := manual.Page("commands")
	if err != nil {
		t.Fatal(err)
	}
	parser, err := kong.New(&commands{}, kong.Name("beckon"), kong.Vars{"session": sessionHelp})
	if err != nil {
		t.Fatal(err)
	}
	told := map[string]bool{}
	for _, row := range regexp.MustCompile("(?m)^\\| (`beckon .*?) \\|").FindAllStringSubmatch(page, -1) {
		var node *kong.Node
		for _, usage := range regexp.MustCompile("`beckon ([^`]*)`").FindAllStringSubmatch(row[1], -1) {
			words := strings.Fields(usage[1])
			node = child(parser.Model.Node, words[0])
			if node == nil {
				t.Errorf("the manual names %q, which is not a command", words[0])
				continue
			}
			told[node.FullPath()] = true
			below, _, _ := strings.Cut(strings.TrimPrefix(usage[1], words[0]+" "), " ")
			for command, names := node, strings.Split(below, `\|`); len(names) > 0; names = names[1:] {
				if sub := child(command, names[0]); sub != nil {
					node = sub
					told[node.FullPath()] = true
				}
			}
			for _, flag := range regexp.MustCompile(`--([a-z-]+)`).FindAllStringSubmatch(usage[1], -1) {
				if !slices.ContainsFunc(node.Flags, func(f *kong.Flag) bool { return f.Name == flag[1] }) {
					t.Errorf("the manual names %s --%s, which is not a flag", node.FullPath(), flag[1])
				}
			}
		}
	}
	for _, n := range parser.Model.Children {
		for _, n := range append([]*kong.Node{n}, n.Children...) {
			if !n.Hidden && !told[n.FullPath()] {
				t.Errorf("the manual's table of commands lacks %q", n.FullPath())
			}
		}
	}
}

func child(n *kong.Node, name string) *kong.Node {
	for _, c := range n.Children {
		if c.Name == name {
			return c
		}
	}
	return nil
}
