package main

import (
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"beckon/cmd/internal/manual"

	"github.com/alecthomas/kong"
)

// TestManualFlags: README and manual name every command, those of a command among them, and no
// command or flag that does not exist.
func TestManualFlags(t *testing.T) {
	readme, err := os.ReadFile("../../README.md")
	if err != nil {
		t.Fatal(err)
	}
	pages := map[string]string{"README": string(readme)}
	for _, topic := range manual.Topics() {
		if pages[topic], err = manual.Page(topic); err != nil {
			t.Fatal(err)
		}
	}
	for _, place := range []string{"../../.github/*.md", "../../.github/ISSUE_TEMPLATE/*.md"} {
		files, err := filepath.Glob(place)
		if err != nil || len(files) == 0 {
			t.Fatalf("%s: %q, %v", place, files, err)
		}
		for _, path := range files {
			text, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			pages[path] = string(text)
		}
	}
	parser, err := kong.New(&commands{}, kong.Name("beckon"), kong.Vars{"session": sessionHelp})
	if err != nil {
		t.Fatal(err)
	}
	told := map[string]bool{}
	usage := regexp.MustCompile("(?m)(`|^    (?:\\$ )?)beckon ([^`\n#]*)")
	flags := regexp.MustCompile(`--([a-z-]+)`)
	for _, page := range slices.Sorted(maps.Keys(pages)) {
		for _, found := range usage.FindAllStringSubmatch(pages[page], -1) {
			line, _, _ := strings.Cut(found[2], "|") // into another program
			node := parser.Model.Node
			for _, word := range strings.Fields(line) {
				sub := child(node, word)
				if sub == nil {
					break
				}
				node = sub
				told[node.FullPath()] = true
			}
			if first, _, _ := strings.Cut(line, " "); node.Parent == nil && found[1] != "    " && regexp.MustCompile(`^[a-z]+$`).MatchString(first) {
				t.Errorf("%s: beckon %s: %q is no command", page, line, first)
			}
			for _, flag := range flags.FindAllStringSubmatch(line, -1) {
				has := func(f *kong.Flag) bool { return f.Name == flag[1] || f.Name == strings.TrimPrefix(flag[1], "no-") }
				if node.Parent != nil && !slices.ContainsFunc(slices.Concat(node.AllFlags(false)...), has) {
					t.Errorf("%s: beckon %s: there is no --%s", page, line, flag[1])
				}
			}
		}
	}
	for _, n := range parser.Model.Children {
		for _, n := range append([]*kong.Node{n}, n.Children...) {
			if !n.Hidden && !told[n.FullPath()] {
				t.Errorf("neither README nor manual names %q", n.FullPath())
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

// maxFlags is how many names of flags a user has to know, of all commands together.
const maxFlags = 40

// TestFlags: all commands together have few flags, and one name takes the same value in each.
func TestFlags(t *testing.T) {
	parser, err := kong.New(&commands{}, kong.Name("beckon"), kong.Vars{"session": sessionHelp})
	if err != nil {
		t.Fatal(err)
	}
	takes := map[string]string{}
	var walk func(n *kong.Node)
	walk = func(n *kong.Node) {
		if n.Hidden {
			return
		}
		for _, f := range n.Flags {
			value := f.PlaceHolder
			if f.IsBool() {
				value = "nothing"
			}
			if f.Hidden || n.Parent == nil {
				continue
			}
			if old, ok := takes[f.Name]; ok && old != value {
				t.Errorf("%s --%s takes %s, elsewhere it takes %s", n.FullPath(), f.Name, value, old)
			}
			takes[f.Name] = value
		}
		for _, c := range n.Children {
			walk(c)
		}
	}
	walk(parser.Model.Node)
	if len(takes) > maxFlags {
		t.Errorf("%d flags: %v", len(takes), slices.Sorted(maps.Keys(takes)))
	}
}
