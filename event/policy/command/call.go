package command

import (
	"path"
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// function stores a function for its calls, and walks over its body, because it may be called
// from elsewhere.
func (w *walker) function(c *syntax.FuncDecl) {
	w.line.Sets = true
	for _, name := range append(slices.Clone(c.Names), c.Name) {
		if name != nil {
			w.functions[name.Value] = c.Body
		}
	}
	defer w.restore(w.save())
	w.args = nil
	w.maybe([]*syntax.Stmt{c.Body}, stream{})
}

// invoke walks over a function's body with the arguments of a call.
func (w *walker) invoke(name string, args []Word, in stream) Word {
	body := w.functions[name]
	if w.left -= int(body.End().Offset() - body.Pos().Offset()); len(w.calling) >= maxDepth || w.left < 0 {
		w.unknown("the line is too long or too deep to be read")
		return unknownWord
	}
	before := w.args
	w.calling = append(w.calling, name)
	w.args = args
	w.outputs = map[syntax.Node]Word{} // they may differ with the arguments
	out := w.stmt(body, in)
	w.args = before
	w.calling = w.calling[:len(w.calling)-1]
	return out
}

// substitution returns the value of $(...).
func (w *walker) substitution(c *syntax.CmdSubst) Word {
	if out, done := w.outputs[c]; done {
		return out
	}
	out := w.nested(c.Stmts, stream{})
	if out.Known {
		out.Text = strings.TrimRight(out.Text, "\n")
	}
	w.outputs[c] = out
	return out
}

// call walks over a simple command.
func (w *walker) call(c *syntax.CallExpr, in stream) Word {
	if len(c.Args) == 0 {
		for _, a := range c.Assigns {
			w.assign(a)
		}
		return known("")
	}
	before, began := w.from, w.began
	w.from, w.began = -1, len(w.line.Commands)
	w.substitutions(c)
	from := w.from
	var outs []Word
	w.combinations(c, func() {
		var sets []Word
		for _, a := range c.Assigns {
			v := w.word(a.Value)
			sets = append(sets, joined([]Word{known(a.Name.Value + "="), v}, ""))
		}
		words := w.words(c.Args)
		if len(words) == 0 {
			return
		}
		w.from = from
		outs = append(outs, w.run(words, sets, in))
	})
	w.from, w.began = before, began
	if len(outs) == 1 {
		return outs[0]
	}
	return unknownWord
}

// run records a simple command with those that it carries, and returns its output.
func (w *walker) run(words, sets []Word, in stream) Word {
	w.spend(value{words: words}.size())
	if w.spent() {
		return unknownWord
	}
	name := words[0]
	if _, ok := w.functions[name.Text]; ok && name.Known && w.by < 0 && !slices.Contains(w.calling, name.Text) {
		return w.invoke(name.Text, words[1:], in)
	}
	at := w.emit(words, sets, in)
	if out, ok := w.builtin(at, in); ok {
		return out
	}
	w.carry(at, in)
	return w.output(at, in)
}

func (w *walker) emit(words, sets []Word, in stream) int {
	c := Command{Words: words, Sets: sets, By: w.by, Plain: w.top, Remote: w.remote}
	if in.some && in.to > in.from {
		c.From, c.To = in.from, in.to
	}
	if at := len(w.line.Commands); w.from >= 0 {
		if c.To == 0 {
			c.From = w.from
		}
		c.To = at
	}
	c.Args = Analyze(words)
	if !w.remote {
		c.Files = c.Args.files(w.dir)
	}
	w.line.Commands = append(w.line.Commands, c)
	return len(w.line.Commands) - 1
}

// builtin carries out commands that change the shell's own state.
func (w *walker) builtin(at int, in stream) (Word, bool) {
	c := w.line.Commands[at]
	args := c.Words[1:]
	switch c.Words[0].Text {
	case "cd", "pushd":
		w.chdir(c.Args.Operands)
	case "popd":
		w.dir = unknownWord
	case "set":
		if i := slices.IndexFunc(args, func(a Word) bool { return a.Text == "--" }); i >= 0 {
			w.args = append([]Word{}, args[i+1:]...)
		}
	case "shift":
		w.args = w.args[min(1, len(w.args)):]
	case "read", "mapfile", "readarray", "getopts", "unset":
		for _, a := range c.Args.Operands {
			w.readInto(a.Text, len(c.Args.Operands), in)
		}
		for _, f := range c.Args.Flags { // mapfile -C
			w.flagCarries(at, f)
		}
	case "alias":
		for _, a := range args {
			if name, text, ok := strings.Cut(a.Text, "="); ok && a.Known {
				w.alias(name, text)
			}
		}
	default:
		return Word{}, false
	}
	return known(""), true
}

// alias defines a name for a text, which works like a function.
func (w *walker) alias(name, text string) {
	if stmts, err := parse(text + ` "$@"`); err == nil && len(stmts) == 1 && len(text) < w.left {
		w.left -= len(text)
		w.functions[name] = stmts[0]
		w.function(&syntax.FuncDecl{Name: &syntax.Lit{Value: name}, Body: stmts[0]})
	}
}

func (w *walker) chdir(operands []Word) {
	switch {
	case len(operands) == 0:
		w.dir = known("~")
	case len(operands) > 1 || !operands[0].Known || operands[0].Text == "-":
		w.dir = unknownWord
	default:
		if w.dir = below(w.dir, operands[0]); len(w.dir.Text) > maxDir {
			w.dir = unknownWord
		}
	}
}

// below returns the path p relative to a directory.
func below(dir, p Word) Word {
	if !p.Known || strings.HasPrefix(p.Text, "/") || strings.HasPrefix(p.Text, "~") || dir.Known && dir.Text == "" {
		return p
	}
	if !dir.Known {
		return dir
	}
	return known(path.Join(dir.Text, p.Text))
}
