package rule

import (
	"path"
	"slices"
	"strings"

	"beckon/event/policy/shell"
)

// emptied reports whether a word is / or /* if its variables are empty.
func emptied(want, got string) bool {
	return shell.In("/ /*", want) && strings.HasPrefix(got, hole) && shell.In("/ /* /.", strings.ReplaceAll(got, hole, ""))
}

// operands are the words behind a program, sorted.
type operands struct {
	tail   []string // all of them
	words  []string
	behind []bool // the word stands directly behind a flag, whose value it may be
	flags  []string
}

func (p *Pattern) operands(tail []string) operands {
	o := operands{tail: tail}
	add := func(w string, behind bool) { o.words, o.behind = append(o.words, w), append(o.behind, behind) }
	ended, before := false, ""
	for _, w := range tail {
		last := before
		before = w
		switch {
		case w == "--" && !ended:
			ended = true
		case !ended && shell.IsFlag(w):
			if w = strings.ReplaceAll(w, hole, ""); shell.IsFlag(w) { // a variable in a flag is mostly empty
				o.flags = append(o.flags, w)
			}
			if _, value, _ := strings.Cut(w, "="); value != "" {
				add(value, true)
			}
		case !ended && shell.In(shell.TextFlags, last), strings.HasPrefix(w, ":!"), strings.HasPrefix(w, ":(exclude"):
		default:
			kind, name, slash := strings.Cut(w, "/")
			if slash = slash && shell.In(clusters, p.program) && isPlain(kind) && !strings.Contains(name, "/"); slash { // ns/prod
				add(kind, false)
				w = name
			}
			add(w, !slash && !ended && shell.IsFlag(last) && !strings.Contains(last, "="))
		}
	}
	return o
}

// same compares a pattern's word with a command's.
func (p *Pattern) same(want, got string) bool {
	if wild(tidy(want), tidy(got)) {
		return true
	}
	all := []string{tidy(got)}
	switch {
	case p.program == "git" && !strings.ContainsAny(want, ":*"):
		ref := strings.TrimPrefix(got[strings.LastIndexByte(got, ':')+1:], "+")
		ref = strings.TrimPrefix(strings.TrimPrefix(ref, "refs/heads/"), "refs/tags/")
		return ref == tidy(want) && (p.first() == "push" || !strings.Contains(got, ":"))
	case shell.In(clusters, p.program):
		all = strings.Split(got, ",") // ns,pods
	}
	names := p.namesOf(want)
	return slices.ContainsFunc(all, func(one string) bool { return slices.Contains(names, one) })
}

// tidy returns a word without what does not change a path.
func tidy(w string) string {
	if !strings.Contains(w, "/") || strings.Contains(w, "://") {
		return w
	}
	return path.Clean(w)
}

// wild compares a text with a pattern in which * stands for anything.
func wild(pattern, text string) bool {
	first, rest, starred := strings.Cut(pattern, "*")
	text, begins := strings.CutPrefix(text, first)
	for starred && begins {
		first, rest, starred = strings.Cut(rest, "*")
		if !starred {
			return strings.HasSuffix(text, first)
		}
		_, text, begins = strings.Cut(text, first)
	}
	return begins && text == ""
}
