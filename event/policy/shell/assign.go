package shell

import (
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// declare reads export, local, declare and their like.
func (r *reader) declare(c *syntax.DeclClause) {
	words := []string{c.Variant.Value}
	for _, a := range c.Args {
		r.assign(a)
		switch {
		case a.Name != nil && a.Naked:
			words = append(words, a.Name.Value)
		case a.Name != nil:
			words = append(words, a.Name.Value+"="+strings.Join(r.vars[a.Name.Value], " "))
		case a.Value != nil:
			words = append(words, r.word(a.Value))
		}
	}
	if c.Variant.Value == "export" {
		r.env = append(slices.Clip(r.env), words[1:]...)
	}
	r.emit(Command{Words: words, Globs: make([]bool, len(words))})
}

// inner reads the substitutions in a part of the line that is no command.
func (r *reader) inner(n syntax.Node) {
	syntax.Walk(n, func(n syntax.Node) bool {
		switch n := n.(type) {
		case *syntax.CmdSubst:
			r.sub(n.Stmts, stream{})
			return false
		case *syntax.ProcSubst:
			r.sub(n.Stmts, stream{})
			return false
		}
		return true
	})
}

// runVariables are variables whose values programs run as lines.
const runVariables = "PROMPT_COMMAND GIT_SSH_COMMAND GIT_EXTERNAL_DIFF GIT_PAGER PAGER GIT_EDITOR EDITOR VISUAL"

func (r *reader) assign(a *syntax.Assign) {
	if a.Name == nil || a.Naked {
		return
	}
	r.line.Sets = true
	outer := r.feeds
	r.feeds = nil
	value := r.valueOf(a)
	from := r.feeds
	r.feeds = outer
	name := a.Name.Value
	if a.Append {
		from = append(slices.Clone(r.from[name]), from...)
		if old := r.vars[name]; a.Array == nil && len(old) == 1 {
			value = []string{old[0] + value[0]}
		} else {
			value = append(slices.Clone(old), value...)
		}
	}
	if len(strings.Join(value, "")) < maxWord {
		r.vars[name], r.from[name] = value, from
	}
	if In(runVariables, name) {
		r.nested(strings.Join(value, " "), stream{})
	}
}

func (r *reader) valueOf(a *syntax.Assign) (value []string) {
	switch {
	case a.Array != nil:
		for _, e := range a.Array.Elems {
			if e.Value != nil {
				words, _ := r.words([]*syntax.Word{e.Value})
				value = append(value, words...)
			}
		}
		return value
	case a.Value != nil:
		return []string{r.word(a.Value)}
	}
	return []string{""}
}
