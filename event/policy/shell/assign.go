package shell

import (
	"slices"

	"mvdan.cc/sh/v3/syntax"
)

// declare reads export, local, declare and their like.
func (r *reader) declare(c *syntax.DeclClause) {
	words := []string{c.Variant.Value}
	for _, a := range c.Args {
		r.assign(a)
		switch {
		case a.Name == nil:
			words = append(words, r.word(a.Value))
		case a.Naked:
			words = append(words, a.Name.Value)
		default:
			words = append(words, a.Name.Value+"="+r.vars[a.Name.Value].text())
		}
	}
	if c.Variant.Value == "export" {
		r.env = append(slices.Clip(r.env), words[1:]...)
	}
	r.emit(Command{Words: words, Globs: make([]bool, len(words))})
}

func (r *reader) assign(a *syntax.Assign) {
	if a.Name == nil || a.Naked {
		return
	}
	r.line.Sets = true
	v := r.valueOf(a)
	if len(v.text()) < maxWord {
		r.vars[a.Name.Value] = v
	}
}

// valueOf returns what an assignment gives a variable.
func (r *reader) valueOf(a *syntax.Assign) (v value) {
	if a.Array != nil {
		var elems []*syntax.Word
		for _, e := range a.Array.Elems {
			elems = append(elems, e.Value)
		}
		v = r.expand(false, elems...).value()
	} else {
		v = r.expand(true, a.Value).value()
		v.words = []string{v.text()}
	}
	if old := r.vars[a.Name.Value]; a.Append {
		v.feeds = append(slices.Clip(old.feeds), v.feeds...)
		if a.Array == nil && len(old.words) == 1 {
			v.words = []string{old.words[0] + v.words[0]}
		} else {
			v.words = append(slices.Clip(old.words), v.words...)
		}
	}
	return v
}
