package command

import (
	"slices"
	"strconv"

	"mvdan.cc/sh/v3/syntax"
)

// maxAlternatives limits how often one simple command is repeated with other values of its
// variables.
const maxAlternatives = 64

// value is what a variable holds: one word, or an array's.
type value struct {
	words []Word
	array bool
}

func scalar(w Word) value { return value{words: []Word{w}} }

// size returns the size of a value, as maxRoom counts it.
func (v value) size() (n int) {
	for _, word := range v.words {
		n += len(word.Text) + len(word.shell) + perItem
	}
	return n
}

// An unknown word and an unknown value.
var (
	unknownWord = Word{shell: hole}
	nothing     = scalar(unknownWord)
)

// set sets a variable. If the assignment may not run, the earlier values stay possible. What
// uses a variable that is only set behind && most probably runs behind it, too.
func (w *walker) set(name string, v value) {
	old := w.vars[name]
	if w.branch == 0 && (w.and == 0 || old == nil) {
		w.vars[name] = []value{v}
		return
	}
	if old == nil {
		old = []value{nothing}
	}
	if len(old) >= maxAlternatives {
		w.vars[name] = []value{nothing}
		return
	}
	w.vars[name] = append(slices.Clip(old), v)
}

// get returns a variable's value under the present alternatives.
func (w *walker) get(name string) (value, bool) {
	if list := w.vars[name]; list != nil {
		at, picked := w.pick[name]
		if !picked && len(list) > 1 {
			return nothing, true
		}
		return list[min(at, len(list)-1)], true
	}
	switch name {
	case "HOME":
		return scalar(known("~")), true
	case "IFS":
		return scalar(known(" \t\n")), true
	case "PWD":
		if w.dir.Known && w.dir.Text == "" {
			return scalar(known(".")), true
		}
		return scalar(w.dir), true
	case "@", "*":
		return value{words: w.args, array: true}, w.args != nil
	}
	if n, err := strconv.Atoi(name); err == nil && n > 0 && n <= len(w.args) {
		return scalar(w.args[n-1]), true
	}
	return nothing, false
}

// param adds a parameter's value.
func (f *fields) param(p *syntax.ParamExp, quoted bool) {
	if p.Param == nil || p.NestedParam != nil || p.Length || p.Width || p.IsSet || p.Slice != nil || p.Repl != nil || p.Names != 0 || len(p.Modifiers) > 0 {
		f.unknown()
		return
	}
	v, isSet := f.w.get(p.Param.Value)
	if p.Excl {
		name := v.words
		if len(name) != 1 || !name[0].Known {
			f.unknown()
			return
		}
		v, isSet = f.w.get(name[0].Text)
	}
	if p.Exp != nil {
		v = f.w.expansion(p, v, isSet)
	}
	if p.Index != nil {
		v = index(v, p.Index)
	} else if v.array && p.Param.Value != "@" && p.Param.Value != "*" {
		v = value{words: v.words[:min(1, len(v.words))]}
	}
	for i, word := range v.words {
		if i > 0 {
			f.end()
		}
		f.value(word, quoted)
	}
}

// expansion returns the value of ${x:-word} and similar expansions. A variable that the line
// does not set may be set where the line runs.
func (w *walker) expansion(p *syntax.ParamExp, v value, isSet bool) value {
	filled := isSet && (len(v.words) != 1 || !v.words[0].Known || v.words[0].Text != "")
	switch p.Exp.Op {
	case syntax.DefaultUnset, syntax.DefaultUnsetOrNull, syntax.AssignUnset, syntax.AssignUnsetOrNull:
		if filled {
			return v
		}
		if w.pick[defaultOf(p)] == 0 {
			return scalar(w.word(p.Exp.Word))
		}
	case syntax.AlternateUnset, syntax.AlternateUnsetOrNull:
		if filled || w.pick[defaultOf(p)] == 1 {
			return scalar(w.word(p.Exp.Word))
		}
		return scalar(known(""))
	case syntax.ErrorUnset, syntax.ErrorUnsetOrNull:
		return v
	}
	return nothing
}

// defaultOf names the choice between a variable and its default.
func defaultOf(p *syntax.ParamExp) string { return p.Param.Value + ":" }

// index returns the value of ${x[@]} or ${x[2]}.
func index(v value, expr syntax.ArithmExpr) value {
	word, ok := expr.(*syntax.Word)
	if !ok {
		return nothing
	}
	switch at := word.Lit(); {
	case at == "@", at == "*":
		return v
	default:
		n, err := strconv.Atoi(at)
		if err != nil || n < 0 || n >= len(v.words) {
			return nothing
		}
		return scalar(v.words[n])
	}
}

// combinations calls do once for each choice of values that the variables in a node may have.
func (w *walker) combinations(node syntax.Node, do func()) {
	var names []string
	var counts []int
	total := 1
	syntax.Walk(node, func(n syntax.Node) bool {
		switch n.(type) {
		case *syntax.CmdSubst, *syntax.ProcSubst: // a shell of its own
			return false
		}
		w.spend(1)
		p, ok := n.(*syntax.ParamExp)
		if !ok || p.Param == nil {
			return w.room >= 0
		}
		for name, count := range map[string]int{p.Param.Value: len(w.vars[p.Param.Value]), defaultOf(p): defaults(p)} {
			if count > 1 && !slices.Contains(names, name) && total*count <= maxAlternatives {
				names, counts = append(names, name), append(counts, count)
				total *= count
			}
		}
		return true
	})
	outer := w.pick
	defer func() { w.pick = outer }()
	for n := range total {
		if n > 0 && w.spent() {
			return
		}
		w.pick = map[string]int{}
		for i, name := range names {
			w.pick[name] = n % counts[i]
			n /= counts[i]
		}
		do()
	}
}

func defaults(p *syntax.ParamExp) int {
	if p.Exp == nil || p.Exp.Op == syntax.ErrorUnset || p.Exp.Op == syntax.ErrorUnsetOrNull {
		return 1
	}
	return 2
}
