package main

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"beckon/cmd/internal/cli"
	"beckon/render"
	"beckon/render/term"
	"beckon/state/store"

	"github.com/alecthomas/kong"
)

type completion struct{ word, help string }

// runComplete is the hidden command __complete, which the shells' completion scripts run. args
// are the words after beckon, up to the one at the cursor, which may be empty. It prints one
// word and its description per line, separated by a tab. It never fails, because a shell has
// no place for errors. The libraries that complete for kong (kongplete, kong-completion) offer
// no descriptions, and the description is what distinguishes sessions.
func (a *app) runComplete(root *kong.Node, args []string) int {
	dir, err := store.Dir(a.Getenv)
	if err != nil {
		return cli.ExitOK
	}
	a.Store = store.Open(dir)
	if len(args) == 0 {
		args = []string{""}
	}
	if r, ok := renamed(args); ok && len(args) > 1 {
		args = slices.Concat(r.is, args[len(r.was):])
	}
	for _, o := range suggest(root, args, a.sessionWords) {
		fmt.Fprintf(a.Stdout, "%s\t%s\n", o.word, render.OneLine(o.help))
	}
	return cli.ExitOK
}

// line is a command line read up to the word to complete.
type line struct {
	node    *kong.Node
	flag    *kong.Flag // whose value comes next
	args    int        // positional arguments given
	word    string
	session func() []completion
}

func suggest(root *kong.Node, args []string, sessions func() []completion) []completion {
	l := line{node: root, session: sessions, word: args[len(args)-1]}
	for _, w := range args[:len(args)-1] {
		l.read(w)
	}
	var list []completion
	before := ""
	if name, _, ok := strings.Cut(l.word, "="); ok && l.flag == nil && strings.HasPrefix(name, "--") {
		l.flag, before = l.find(name), name+"="
	}
	switch {
	case l.flag != nil:
		list = l.values(l.flag.Value)
	case strings.HasPrefix(l.word, "-"):
		list = l.flags()
	default:
		list = l.words()
	}
	if l.word == "=" { // bash splits --flag=value into three words
		l.word = ""
	}
	for i := range list {
		list[i].word = before + list[i].word
	}
	return slices.DeleteFunc(list, func(o completion) bool { return !strings.HasPrefix(o.word, l.word) })
}

// read consumes a word before the one to complete.
func (l *line) read(w string) {
	switch {
	case w == "=" && l.flag != nil:
	case l.flag != nil:
		l.flag = nil
	case strings.HasPrefix(w, "-"):
		if f := l.find(w); f != nil && !f.IsBool() {
			l.flag = f
		}
	default:
		i := slices.IndexFunc(
			l.node.Children,
			func(n *kong.Node) bool { return n.Name == w || slices.Contains(n.Aliases, w) },
		)
		if i < 0 {
			l.args++
			return
		}
		l.node, l.args = l.node.Children[i], 0
	}
}

// scope returns the nodes whose flags are valid here, with those of the default command until
// one is named.
func (l *line) scope() []*kong.Node {
	var out []*kong.Node
	for n := l.node; n != nil; n = n.Parent {
		out = append(out, n)
	}
	if d := l.node.DefaultCmd; d != nil {
		out = append(out, d)
	}
	return out
}

func (l *line) find(w string) *kong.Flag {
	for _, n := range l.scope() {
		for _, f := range n.Flags {
			if w == "--"+f.Name || f.Short != 0 && w == "-"+string(f.Short) {
				return f
			}
		}
	}
	return nil
}

func (l *line) flags() (list []completion) {
	for _, n := range l.scope() {
		for _, f := range n.Flags {
			if !f.Hidden {
				list = append(list, completion{"--" + f.Name, f.Help})
			}
		}
	}
	return list
}

// words offers commands and positional arguments.
func (l *line) words() (list []completion) {
	for _, n := range l.node.Children {
		if !n.Hidden {
			list = append(list, completion{n.Name, n.Help})
		}
	}
	if l.args < len(l.node.Positional) {
		p := l.node.Positional[l.args]
		if l.node.Name == "jump" {
			list = append(
				list,
				completion{"next", "the next session that needs you"},
				completion{"prev", "the one before"},
				completion{"last", "the end of the queue"},
			)
		}
		list = append(list, l.values(p)...)
	}
	return list
}

// values offers the values of an argument or flag.
func (l *line) values(v *kong.Value) (list []completion) {
	switch {
	case v.Name == "session":
		return l.session()
	case v.Name == "state":
		for _, word := range stateNames() {
			list = append(list, completion{word, ""})
		}
	default:
		for _, e := range strings.Split(v.Enum, ",") {
			if e = strings.TrimSpace(e); e != "" {
				list = append(list, completion{e, ""})
			}
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
		times[strings.ToLower(rows[i].Label())]++
		times[cli.ShortID(rows[i].SessionID)]++
	}
	for i := range rows {
		r := &rows[i]
		what := term.Word(r) + ": " + cmp.Or(r.What(), r.Cwd)
		if times[strings.ToLower(r.Label())] == 1 && plainWord(r.Label()) {
			list = append(list, completion{r.Label(), what})
		}
		id := cli.ShortID(r.SessionID)
		if times[id] > 1 {
			id = r.SessionID
		}
		if plainWord(id) {
			list = append(list, completion{id, strings.TrimSpace(r.Label() + " " + what)})
		}
	}
	return list
}

func plainWord(s string) bool {
	return s != "" && s[0] != '-' &&
		strings.Trim(s, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_.+@") == ""
}
