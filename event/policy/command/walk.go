package command

import (
	"errors"
	"maps"
	"runtime"
	"slices"
	"strconv"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

const (
	// maxDepth bounds commands in commands: sh -c "sh -c '...'".
	maxDepth = 16
	// maxNest limits how deep statements nest, as the walk recurses as deep. The parser nests
	// a && b && c as well.
	maxNest = 1000
	// maxReread limits how often a byte is parsed again as part of a nested command, on
	// average.
	maxReread = 16
	minReread = 1 << 16
	// maxRoom limits what is built from a line: the bytes of all words and values, plus
	// perItem for each item.
	maxRoom = 1 << 22
	perItem = 64
	// maxCommands bounds the simple commands of a line.
	maxCommands = 10_000
	// maxText is the longest line that is parsed: Linux starts no shell with one more than
	// half as long.
	maxText = 1 << 18
	// maxDir is the longest path that a system accepts.
	maxDir = 4096
	// maxFrames limits the parser's recursion in brackets: a stack overflow ends the program.
	maxFrames = 3000
)

// walker walks over one line. Its fields are the shell's state at the present command.
type walker struct {
	state
	line  *Line
	left  int // bytes that may still be parsed
	room  int // what may still be built, as maxRoom counts it
	depth int
	nest  int // nesting of statements

	pick   map[string]int
	branch int // above 0 the command may not run
	and    int // above 0 it runs if the command before it in a && b succeeded

	functions map[string]*syntax.Stmt
	calling   []string             // functions being called
	written   map[string]Word      // files that the line has written, and /dev/fd/63 of <(...)
	outputs   map[syntax.Node]Word // of substitutions that have been walked

	began int // where the commands in the words of the present command begin
}

// state is the state that a subshell cannot change for its parent.
type state struct {
	vars   map[string][]value
	args   []Word // positional parameters; nil if unknown
	dir    Word   // where `cd` has gone
	by     int    // the command that carries the present text
	top    bool   // the text is the line itself
	remote bool
	from   int // the first command whose output is in the words; -1 for none
}

// Parse parses a line. It never fails: Line.Unknown has what cannot be parsed.
func Parse(text string, d Dialect) *Line {
	w := &walker{line: &Line{Text: text, Dialect: d}, left: maxReread*len(text) + minReread, room: maxRoom,
		state: state{vars: map[string][]value{}, dir: known(""), by: -1, top: true, from: -1}, functions: map[string]*syntax.Stmt{}, written: map[string]Word{},
		outputs: map[syntax.Node]Word{}}
	if d == PowerShell {
		w.power(text)
	} else {
		w.text(text, stream{})
	}
	return w.line
}

func (w *walker) unknown(why string) {
	if !slices.Contains(w.line.Unknown, why) {
		w.line.Unknown = append(w.line.Unknown, why)
	}
}

// spend subtracts n from the room.
func (w *walker) spend(n int) { w.room -= n }

// spent reports whether the line has used up its time or memory: the rest stays unread.
func (w *walker) spent() bool {
	if len(w.line.Commands) < maxCommands && w.room >= 0 && w.left >= 0 {
		return false
	}
	w.unknown("the line has too many commands to be read")
	return true
}

var errDeep = errors.New("too many brackets in brackets")

// source is a text being parsed that ends when the parser recurses too deep.
type source struct {
	*strings.Reader
	read bool // a part of it has been read
}

func (s *source) Read(p []byte) (int, error) {
	if s.read && s.Len() > 0 && runtime.Callers(maxFrames, make([]uintptr, 1)) > 0 {
		return 0, errDeep
	}
	s.read = true
	return s.Reader.Read(p)
}

// text walks over a command line and returns its output.
func (w *walker) text(text string, in stream) Word {
	w.left -= len(text)
	if w.depth >= maxDepth || w.left < 0 || len(text) > maxText {
		w.unknown("the line is too long or too deep to be read")
		return unknownWord
	}
	w.depth++
	defer func() { w.depth-- }()
	stmts, err := parse(text)
	out := w.stmts(stmts, in)
	if err != nil {
		w.unknown("not all of it is a shell's syntax: " + err.Error())
		w.line.Mistake = err.Error()
		return unknownWord
	}
	return out
}

// dialects are tried in this order; a line that Bash accepts is Bash.
var dialects = [...]syntax.LangVariant{syntax.LangBash, syntax.LangZsh, syntax.LangMirBSDKorn}

// parse returns the statements of a text: those of the first dialect that accepts it, else
// Bash's up to the syntax error, which a shell runs, too.
func parse(text string) (first []*syntax.Stmt, mistake error) {
	for i, dialect := range dialects {
		var list []*syntax.Stmt
		var mistaken error
		p := syntax.NewParser(syntax.Variant(dialect))
		for stmt, err := range p.StmtsSeq(&source{Reader: strings.NewReader(text)}) {
			if mistaken = err; err == nil {
				list = append(list, stmt)
			}
		}
		if mistaken == nil {
			return list, nil
		}
		if i == 0 {
			first, mistake = list, mistaken
		}
		if errors.Is(mistaken, errDeep) {
			break
		}
	}
	return first, mistake
}

// stmts walks over a list and returns its output.
func (w *walker) stmts(list []*syntax.Stmt, in stream) Word {
	outs := make([]Word, len(list))
	for i, s := range list {
		if w.spent() {
			return unknownWord
		}
		outs[i] = w.stmt(s, in)
	}
	out := joined(outs, "")
	w.spend(len(out.all()))
	return out
}

// nested is stmts for the statements of a substitution.
func (w *walker) nested(list []*syntax.Stmt, in stream) Word {
	defer w.restore(w.save())
	w.top = false
	return w.stmts(list, in)
}

func (w *walker) save() state {
	w.spend(perItem * (1 + len(w.vars)))
	s := w.state
	w.vars = maps.Clone(w.vars)
	return s
}

func (w *walker) restore(s state) { w.state = s }

// maybe walks over statements that may not run.
func (w *walker) maybe(list []*syntax.Stmt, in stream) Word {
	w.branch++
	defer func() { w.branch-- }()
	return w.stmts(list, in)
}

// stmt walks over one statement and returns its output.
func (w *walker) stmt(s *syntax.Stmt, in stream) Word {
	if s == nil {
		return known("")
	}
	if w.spent() {
		return unknownWord
	}
	w.spend(perItem)
	if w.nest++; w.nest > maxNest {
		w.nest--
		w.unknown("the line is too long or too deep to be read")
		return unknownWord
	}
	defer func() { w.nest-- }()
	var files []File
	var to []target
	plain := w.top
	for _, r := range s.Redirs {
		file, name, err := w.redirect(r, &in)
		if file != nil {
			files = append(files, *file)
			plain = plain && file.Access&Write == 0
		}
		if name != nil && !err {
			to = append(to, target{w.path(*name), strings.Contains(r.Op.String(), ">>")})
		}
	}
	before := len(w.line.Commands)
	top := w.top
	w.top = plain
	out := w.cmd(s.Cmd, in)
	w.top = top
	w.attach(before, files, s.Cmd)
	for _, t := range to {
		w.write(t, out)
	}
	if len(to) > 0 {
		return known("")
	}
	return out
}

// attach adds the files of a statement's redirections to its command; a statement without one
// has an empty command.
func (w *walker) attach(before int, files []File, cmd syntax.Command) {
	if len(files) == 0 {
		return
	}
	if _, call := cmd.(*syntax.CallExpr); len(w.line.Commands) == before || !call {
		w.emit([]Word{known(":")}, nil, stream{})
	}
	if w.remote && w.by >= 0 && w.line.Commands[w.by].Remote {
		return
	}
	last := &w.line.Commands[len(w.line.Commands)-1]
	for i := before; i < len(w.line.Commands); i++ {
		if w.line.Commands[i].By == w.by {
			last = &w.line.Commands[i]
		}
	}
	last.Files = append(last.Files, files...)
}

// cmd walks over a command of any kind and returns its output.
func (w *walker) cmd(cmd syntax.Command, in stream) Word {
	if cmd == nil {
		return known("")
	}
	switch c := cmd.(type) {
	case *syntax.CallExpr:
		return w.call(c, in)
	case *syntax.BinaryCmd:
		return w.binary(c, in)
	case *syntax.Block:
		return w.stmts(c.Stmts, in)
	case *syntax.Subshell:
		defer w.restore(w.save())
		return w.stmts(c.Stmts, in)
	case *syntax.IfClause:
		for ; c != nil; c = c.Else {
			w.stmts(c.Cond, in)
			w.maybe(c.Then, in)
		}
	case *syntax.WhileClause:
		w.stmts(c.Cond, in)
		w.maybe(c.Do, in)
	case *syntax.ForClause:
		w.loop(c, in)
	case *syntax.CaseClause:
		w.word(c.Word)
		for _, item := range c.Items {
			for _, p := range item.Patterns {
				w.substitutions(p)
			}
			w.maybe(item.Stmts, in)
		}
	case *syntax.FuncDecl:
		w.function(c)
		return known("")
	case *syntax.TestDecl:
		w.maybe([]*syntax.Stmt{c.Body}, in)
	case *syntax.DeclClause:
		w.declare(c)
		return known("")
	case *syntax.TimeClause:
		return w.stmt(c.Stmt, in)
	case *syntax.CoprocClause:
		w.nested([]*syntax.Stmt{c.Stmt}, stream{})
	default: // [[ ]], (( )), let
		w.substitutions(cmd)
		return known("")
	}
	return unknownWord
}

func (w *walker) binary(c *syntax.BinaryCmd, in stream) Word {
	switch c.Op {
	case syntax.Pipe, syntax.PipeAll:
		from := len(w.line.Commands)
		if in.some {
			from = min(from, max(in.from, 0))
		}
		defer w.restore(w.save())
		left := w.stmt(c.X, in)
		return w.stmt(c.Y, stream{text: left, some: true, from: from, to: len(w.line.Commands)})
	case syntax.OrStmt:
		left := w.stmt(c.X, in)
		w.branch++
		defer func() { w.branch-- }()
		return joined([]Word{left, w.stmt(c.Y, in)}, "")
	}
	left := w.stmt(c.X, in)
	w.and++
	right := w.stmt(c.Y, in)
	w.and--
	if !left.Known {
		return left // no useful text
	}
	return joined([]Word{left, right}, "")
}

func (w *walker) loop(c *syntax.ForClause, in stream) {
	switch l := c.Loop.(type) {
	case *syntax.WordIter:
		var items []value
		for _, word := range w.words(l.Items) {
			items = append(items, scalar(word))
		}
		if !l.InPos.IsValid() {
			for _, word := range w.args {
				items = append(items, scalar(word))
			}
		}
		if len(items) == 0 || len(items) > maxAlternatives {
			items = []value{nothing}
		}
		w.vars[l.Name.Value] = items
	case *syntax.CStyleLoop:
		w.substitutions(l)
	}
	w.maybe(c.Do, in)
}

// declare walks over export, local and similar builtins, which are commands, too.
func (w *walker) declare(c *syntax.DeclClause) {
	words := []Word{known(c.Variant.Value)}
	for _, a := range c.Args {
		w.assign(a)
		text := known("")
		if a.Name != nil {
			text.Text = a.Name.Value
		}
		if !a.Naked {
			text.Text += "="
		}
		words = append(words, joined([]Word{text, w.word(a.Value)}, ""))
	}
	w.emit(words, nil, stream{})
}

// assign carries out NAME=value.
func (w *walker) assign(a *syntax.Assign) {
	if w.spent() {
		return
	}
	w.spend(perItem)
	w.substitutions(a)
	if a.Name == nil || a.Naked {
		return
	}
	w.line.Sets = true
	w.combinations(a, func() {
		v := value{array: a.Array != nil}
		if v.array {
			for _, e := range a.Array.Elems {
				if e.Value != nil {
					v.words = append(v.words, w.words([]*syntax.Word{e.Value})...)
				}
			}
		} else {
			v = scalar(w.word(a.Value))
		}
		if a.Index != nil {
			v = nothing
		}
		if old, ok := w.get(a.Name.Value); a.Append && ok {
			v = appended(old, v)
		}
		w.spend(v.size())
		w.set(a.Name.Value, v)
		if slices.Contains(commandVars, a.Name.Value) {
			w.later(v)
		}
	})
}

// later walks over texts that the shell runs after the line.
func (w *walker) later(v value) {
	defer w.restore(w.save())
	w.top = false
	for _, text := range v.words {
		w.text(text.all(), stream{})
	}
}

func appended(old, v value) value {
	if old.array {
		return value{words: append(slices.Clone(old.words), v.words...), array: true}
	}
	sum := joined([]Word{old.words[0], v.words[0]}, "")
	if len(sum.all()) > maxValue {
		return nothing
	}
	return scalar(sum)
}

// substitutions walks over the commands in a node's words.
func (w *walker) substitutions(n syntax.Node) {
	syntax.Walk(n, func(n syntax.Node) bool {
		w.spend(1)
		switch n := n.(type) {
		case *syntax.CmdSubst:
			w.substitution(n)
			return false
		case *syntax.ProcSubst:
			if _, done := w.outputs[n]; !done {
				name := "/dev/fd/" + strconv.Itoa(63+len(w.written))
				w.outputs[n] = known(name)
				from := len(w.line.Commands)
				// What a command writes to >(...) is not known before it runs.
				w.written[name] = w.nested(n.Stmts, stream{text: unknownWord, some: n.Op == syntax.CmdOut})
				if w.from < 0 { // they write what the present command reads
					w.from = from
				}
			}
			return false
		}
		return true
	})
}
