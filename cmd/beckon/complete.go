package main

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"beckon/cmd/internal/cli"
	"beckon/render"
	"beckon/render/term"

	"github.com/alecthomas/kong"
)

type completion struct{ word, help string }

// runComplete is the hidden command __complete, which the shells' completion scripts run. args
// are the words after beckon, up to the one at the cursor, which may be empty. It prints one
// word and its description per line, separated by a tab. It never fails, because a shell has
// no place for errors. The libraries that complete for kong (kongplete, kong-completion) offer
// no descriptions, and the description is what distinguishes sessions.
func (a *app) runComplete(root *kong.Node, args []string) int {
	if a.Open() != nil {
		return cli.ExitOK
	}
	if len(args) > 1 {
		args, _ = renamed(args)
	}
	word := ""
	if n := len(args) - 1; n >= 0 {
		word, args = args[n], args[:n]
	}
	for _, o := range a.suggest(root, args, word) {
		fmt.Fprintf(a.Stdout, "%s\t%s\n", o.word, render.OneLine(o.help))
	}
	return cli.ExitOK
}

// suggest returns what may follow args and begins with word.
func (a *app) suggest(node *kong.Node, args []string, word string) (list []completion) {
	var flag *kong.Flag // whose value comes next
	given := 0          // positional arguments
	for _, w := range args {
		named := func(n *kong.Node) bool { return n.Name == w || slices.Contains(n.Aliases, w) }
		switch i := slices.IndexFunc(node.Children, named); {
		case w == "=" && flag != nil:
		case flag != nil:
			flag = nil
		case strings.HasPrefix(w, "-"):
			if f := flagOf(node, w); f != nil && !f.IsBool() {
				flag = f
			}
		case i < 0:
			given++
		default:
			node, given = node.Children[i], 0
		}
	}
	before := ""
	if name, _, ok := strings.Cut(word, "="); ok && flag == nil && strings.HasPrefix(name, "--") {
		flag, before = flagOf(node, name), name+"="
	}
	switch {
	case flag != nil:
		list = a.values(flag.Value)
	case strings.HasPrefix(word, "-"):
		for _, f := range flagsAt(node, true) {
			list = append(list, completion{"--" + f.Name, f.Help})
		}
	default:
		for _, n := range node.Children {
			if !n.Hidden {
				list = append(list, completion{n.Name, n.Help})
			}
		}
		if given < len(node.Positional) {
			if node.Name == "jump" {
				list = []completion{
					{"next", "the next session that needs you"},
					{"prev", "the one before"},
					{"last", "the end of the queue"},
				}
			}
			list = append(list, a.values(node.Positional[given])...)
		}
	}
	if word == "=" { // bash splits --flag=value into three words
		word = ""
	}
	for i := range list {
		list[i].word = before + list[i].word
	}
	return slices.DeleteFunc(list, func(o completion) bool { return !strings.HasPrefix(o.word, word) })
}

// flagsAt returns the flags that are valid at node, with those of the default command until one
// is named; listed leaves out the hidden ones.
func flagsAt(node *kong.Node, listed bool) []*kong.Flag {
	if node.DefaultCmd != nil {
		node = node.DefaultCmd
	}
	return slices.Concat(node.AllFlags(listed)...)
}

func flagOf(node *kong.Node, w string) *kong.Flag {
	for _, f := range flagsAt(node, false) {
		if w == "--"+f.Name || f.Short != 0 && w == "-"+string(f.Short) {
			return f
		}
	}
	return nil
}

// values offers the values of an argument or flag.
func (a *app) values(v *kong.Value) (list []completion) {
	words := strings.Split(v.Enum, ",")
	switch v.Name {
	case "session":
		return a.sessionWords()
	case "state":
		words = stateNames()
	}
	for _, w := range words {
		if w = strings.TrimSpace(w); w != "" {
			list = append(list, completion{w, ""})
		}
	}
	return list
}

// sessionWords offers the live sessions, the ones that need you first: by name or project
// where that is unique, and by the beginning of the id. It leaves out words that a shell would
// have to quote.
func (a *app) sessionWords() (list []completion) {
	snap, err := a.Reader().Look(false)
	if err != nil {
		return nil
	}
	rows := a.Queue("").Rows(snap.Seen, false)
	times := map[string]int{}
	for i := range rows {
		times[strings.ToLower(rows[i].ShownName())]++
		times[cli.ShortID(rows[i].SessionID)]++
	}
	for i := range rows {
		r := &rows[i]
		what := term.Word(r) + ": " + cmp.Or(r.What(), r.Cwd)
		if times[strings.ToLower(r.ShownName())] == 1 && plainWord(r.ShownName()) {
			list = append(list, completion{r.ShownName(), what})
		}
		id := cli.ShortID(r.SessionID)
		if times[id] > 1 {
			id = r.SessionID
		}
		if plainWord(id) {
			list = append(list, completion{id, strings.TrimSpace(r.ShownName() + " " + what)})
		}
	}
	return list
}

func plainWord(s string) bool {
	return s != "" && s[0] != '-' &&
		strings.Trim(s, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_.+@") == ""
}
