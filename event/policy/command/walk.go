package command

import (
	"errors"
	"io"
	"maps"
	"path"
	"runtime"
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

const (
	// maxDepth bounds commands in commands: sh -c "sh -c '...'".
	maxDepth = 16
	// maxNest bounds statements in statements, of which a && b && c is one:
	// walking goes as deep.
	maxNest = 1000
	// maxReread bounds how often a byte is read again as part of a command in a
	// command, on average.
	maxReread = 16
	minReread = 1 << 16
	// maxRoom bounds what is made of a line: the bytes of all words and values
	// together, with perItem for each thing that has some.
	maxRoom = 1 << 22
	perItem = 64
	// maxCommands bounds the simple commands of a line.
	maxCommands = 10_000
	// maxText is the longest line that is read: Linux starts no shell with a
	// longer one than half of it.
	maxText = 1 << 18
	// maxDir is the longest path that a system takes.
	maxDir = 4096
	// maxFrames bounds how deep the parser may be in brackets: it calls itself
	// for each, and a stack that overflows ends the program.
	maxFrames = 3000
)

// walker reads one line. Its fields are the shell's state at the command at
// hand.
type walker struct {
	line  *Line
	left  int // bytes that may still be read
	room  int // what may still be made, as maxRoom counts it
	depth int
	nest  int // statements in statements

	vars   map[string][]value
	args   []Word // positional parameters; nil when they are not known
	pick   map[string]int
	branch int  // above 0 it is not certain that the command runs
	dir    Word // where `cd` has gone

	functions map[string]*syntax.Stmt
	calling   []string             // functions that are being called
	written   map[string]Word      // files that the line has filled
	outputs   map[syntax.Node]Word // of substitutions, once they are walked

	by     int  // the command that carries what is read
	top    bool // what is read stands on the line itself
	remote bool
	from   int // the first command whose output the words hold; -1 without one
	began  int // where the commands in the words of the command at hand begin
}

// stream is what goes through a pipe.
type stream struct {
	text     Word
	some     bool // something is connected
	from, to int  // the commands that write it
}

// Parse reads a line. It never fails: what cannot be read is in Line.Unknown.
func Parse(text string, d Dialect) *Line {
	w := &walker{line: &Line{Text: text, Dialect: d}, left: maxReread*len(text) + minReread, room: maxRoom, dir: known(""),
		vars: map[string][]value{}, functions: map[string]*syntax.Stmt{}, written: map[string]Word{},
		outputs: map[syntax.Node]Word{}, by: -1, top: true, from: -1}
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

// spend takes n from the room.
func (w *walker) spend(n int) { w.room -= n }

// spent reports whether the line has had its share of time and memory: what is
// left of it stays unread.
func (w *walker) spent() bool {
	if len(w.line.Commands) < maxCommands && w.room >= 0 && w.left >= 0 {
		return false
	}
	w.unknown("the line has too many commands to be read")
	return true
}

var errDeep = errors.New("too many brackets in brackets")

// source is a text under parsing that ends when the parser is too deep in it.
type source struct {
	rest string
	read bool // a part of it has been read
}

func (s *source) Read(p []byte) (int, error) {
	if s.read && s.rest != "" && runtime.Callers(maxFrames, make([]uintptr, 1)) > 0 {
		return 0, errDeep
	}
	s.read = true
	if s.rest == "" {
		return 0, io.EOF
	}
	n := copy(p, s.rest)
	s.rest = s.rest[n:]
	return n, nil
}

// text reads a command line and returns what it writes.
func (w *walker) text(text string, in stream) Word {
	w.left -= len(text)
	if w.depth >= maxDepth || w.left < 0 || len(text) > maxText {
		w.unknown("the line is too long or too deep to be read")
		return nothing.words[0]
	}
	w.depth++
	defer func() { w.depth-- }()
	stmts, err := parse(text)
	out := w.stmts(stmts, in)
	if err != nil {
		w.unknown("not all of it is a shell's syntax: " + err.Error())
		w.line.Mistake = err.Error()
		return nothing.words[0]
	}
	return out
}

// dialects are tried in this order; what Bash reads is Bash.
var dialects = [...]syntax.LangVariant{syntax.LangBash, syntax.LangZsh, syntax.LangMirBSDKorn}

// parse returns the statements of a text: of the first dialect that reads it
// all, else those of Bash before its mistake, which a shell runs, too.
func parse(text string) (first []*syntax.Stmt, mistake error) {
	for i, dialect := range dialects {
		var list []*syntax.Stmt
		var mistaken error
		p := syntax.NewParser(syntax.Variant(dialect))
		for stmt, err := range p.StmtsSeq(&source{rest: text}) {
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

// stmts walks over a list and returns what it writes.
func (w *walker) stmts(list []*syntax.Stmt, in stream) Word {
	outs := make([]Word, len(list))
	for i, s := range list {
		if w.spent() {
			return nothing.words[0]
		}
		outs[i] = w.stmt(s, in)
	}
	out := joined(outs, "")
	w.spend(len(out.all()))
	return out
}

// nested is stmts for what stands in a substitution.
func (w *walker) nested(list []*syntax.Stmt) Word {
	defer w.restore(w.save())
	w.top = false
	return w.stmts(list, stream{})
}

// state is what a subshell cannot change for its parent.
type state struct {
	vars map[string][]value
	args []Word
	dir  Word
	top  bool
	by   int
	far  bool
	from int
}

func (w *walker) save() state {
	w.spend(perItem * (1 + len(w.vars)))
	s := state{w.vars, w.args, w.dir, w.top, w.by, w.remote, w.from}
	w.vars = maps.Clone(w.vars)
	return s
}

func (w *walker) restore(s state) {
	w.vars, w.args, w.dir, w.top, w.by, w.remote, w.from = s.vars, s.args, s.dir, s.top, s.by, s.far, s.from
}

// maybe walks over statements that do not always run.
func (w *walker) maybe(list []*syntax.Stmt, in stream) Word {
	w.branch++
	defer func() { w.branch-- }()
	return w.stmts(list, in)
}

// stmt walks over one statement and returns what it writes to its output.
func (w *walker) stmt(s *syntax.Stmt, in stream) Word {
	if s == nil {
		return known("")
	}
	if w.spent() {
		return nothing.words[0]
	}
	w.spend(perItem)
	if w.nest++; w.nest > maxNest {
		w.nest--
		w.unknown("the line is too long or too deep to be read")
		return nothing.words[0]
	}
	defer func() { w.nest-- }()
	var files []File
	var to []Word
	plain := w.top
	for _, r := range s.Redirs {
		file, target, err := w.redirect(r, &in)
		if file != nil {
			files = append(files, *file)
			plain = plain && file.Access&Write == 0
		}
		if target != nil && !err {
			to = append(to, *target)
		}
	}
	before := len(w.line.Commands)
	top := w.top
	w.top = plain
	out := w.cmd(s.Cmd, in)
	w.top = top
	w.attach(before, files, s.Cmd)
	for _, name := range to {
		w.write(name, out)
	}
	if len(to) > 0 {
		return known("")
	}
	return out
}

// attach notes files that a statement's redirections read or write with its
// command; a statement without any has the one that does nothing.
func (w *walker) attach(before int, files []File, cmd syntax.Command) {
	if len(files) == 0 {
		return
	}
	if len(w.line.Commands) == before || !isCall(cmd) {
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

func isCall(cmd syntax.Command) bool {
	_, ok := cmd.(*syntax.CallExpr)
	return ok
}

// redirect reads one redirection: the file that it opens, the target that gets
// what the statement writes (err: what it writes as an error).
func (w *walker) redirect(r *syntax.Redirect, in *stream) (f *File, target *Word, err bool) {
	err = r.N != nil && r.N.Value != "1" && r.Op != syntax.RdrAll && r.Op != syntax.AppAll
	switch r.Op {
	case syntax.Hdoc, syntax.DashHdoc:
		text := known("")
		if r.Hdoc != nil {
			text = w.document(r.Hdoc)
		}
		*in = stream{text: text, some: true}
		return nil, nil, err
	case syntax.WordHdoc:
		text := w.word(r.Word)
		text.Text += "\n"
		*in = stream{text: text, some: true}
		return nil, nil, err
	}
	from, feeds := len(w.line.Commands), w.from
	name := w.word(r.Word)
	w.from = feeds
	if name.Known && name.Text == "/dev/null" || descriptor(r, name) {
		if r.Op == syntax.RdrIn {
			*in = stream{text: known(""), some: true}
		}
		return nil, nil, err
	}
	if len(w.line.Commands) > from && strings.HasPrefix(name.Text, "/dev/fd/") { // < <(...)
		*in = stream{text: w.content(name), some: true, from: from, to: len(w.line.Commands)}
		return nil, nil, err
	}
	f = &File{Path: name, Dir: w.dir}
	switch r.Op {
	case syntax.RdrIn, syntax.DplIn:
		f.Access = Read
		*in = stream{text: w.content(name), some: true}
		return f, nil, err
	case syntax.RdrInOut:
		f.Access = Read | Write
		return f, nil, err
	}
	f.Access = Write
	return f, &name, err
}

// descriptor: what is meant is one that is open, no file (2>&1).
func descriptor(r *syntax.Redirect, name Word) bool {
	return (r.Op == syntax.DplOut || r.Op == syntax.DplIn) && name.Known && strings.Trim(name.Text, "0123456789-") == ""
}

// write notes what the line writes to a file, and file finds it again.
func (w *walker) write(name, text Word) { w.written[path.Clean(name.Text)] = text }

func (w *walker) file(name Word) (text Word, ok bool) {
	if name.Known {
		text, ok = w.written[path.Clean(name.Text)]
	}
	return text, ok
}

// content is what the line itself has written to a file.
func (w *walker) content(name Word) Word {
	if text, ok := w.file(name); ok {
		return text
	}
	return nothing.words[0]
}

// document is the text of a here-document.
func (w *walker) document(body *syntax.Word) Word {
	f := fields{w: w, open: true}
	for _, part := range body.Parts {
		if lit, ok := part.(*syntax.Lit); ok {
			f.add(unslash(lit.Value, "\\$`"))
		} else {
			f.part(part, true)
		}
	}
	f.end()
	return f.list[0]
}

// cmd walks over a command of any kind and returns what it writes.
func (w *walker) cmd(cmd syntax.Command, in stream) Word {
	if cmd == nil {
		return known("")
	}
	silent := nothing.words[0]
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
		w.nested([]*syntax.Stmt{c.Stmt})
	default: // [[ ]], (( )), let
		w.substitutions(cmd)
		return known("")
	}
	return silent
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
	left, right := w.stmt(c.X, in), w.stmt(c.Y, in)
	if !left.Known {
		return left // no text that is worth its length
	}
	return joined([]Word{left, right}, "")
}

// joined puts texts one after the other.
func joined(list []Word, between string) Word {
	out := Word{Known: true}
	var text strings.Builder
	for i, v := range list {
		if i > 0 {
			text.WriteString(between)
		}
		if out.Known && !v.Known {
			out.Known = false
			out.Text = text.String() + v.Text
		}
		if text.Len() < maxText {
			text.WriteString(v.all())
		}
	}
	if out.Known {
		out.Text = text.String()
	} else {
		out.shell = text.String()
	}
	return out
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

// function notes a function for its calls, and walks over its body, for it may
// be called from elsewhere.
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
		return nothing.words[0]
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

// declare is export, local and their like, which are commands, too.
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
		if a.Name.Value == "PROMPT_COMMAND" { // Bash runs it before each prompt
			w.later(v)
		}
	})
}

// later walks over texts that the shell runs when the line is over.
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

// substitutions walks over the commands that stand in a node's words.
func (w *walker) substitutions(n syntax.Node) {
	syntax.Walk(n, func(n syntax.Node) bool {
		w.spend(1)
		switch n := n.(type) {
		case *syntax.CmdSubst:
			w.substitution(n)
			return false
		case *syntax.ProcSubst:
			if _, done := w.outputs[n]; !done {
				w.outputs[n] = known("")
				from := len(w.line.Commands)
				w.written["/dev/fd/63"] = w.nested(n.Stmts)
				w.feed(from)
			}
			return false
		}
		return true
	})
}

func (w *walker) expressions(x syntax.ArithmExpr) {
	if x != nil {
		w.substitutions(x)
	}
}

// substitution is the value of $(...).
func (w *walker) substitution(c *syntax.CmdSubst) Word {
	if out, done := w.outputs[c]; done {
		return out
	}
	out := w.nested(c.Stmts)
	if out.Known {
		out.Text = strings.TrimRight(out.Text, "\n")
	}
	w.outputs[c] = out
	return out
}

// feed notes that the commands from there on write what the command at hand
// reads.
func (w *walker) feed(from int) {
	if w.from < 0 {
		w.from = from
	}
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
	return nothing.words[0]
}

// run notes a simple command with those that it carries, and returns what it
// writes.
func (w *walker) run(words, sets []Word, in stream) Word {
	w.spend(value{words: words}.size())
	if w.spent() {
		return nothing.words[0]
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

// builtin carries out what changes the shell's own state.
func (w *walker) builtin(at int, in stream) (Word, bool) {
	c := w.line.Commands[at]
	args := c.Words[1:]
	switch c.Words[0].Text {
	case "cd", "pushd":
		w.chdir(c.Args.Operands)
	case "popd":
		w.dir = nothing.words[0]
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

// readInto fills a variable from the input.
func (w *walker) readInto(name string, names int, in stream) {
	v := nothing
	if line, _, _ := strings.Cut(in.text.Text, "\n"); in.some && in.text.Known && names == 1 {
		v = scalar(known(strings.TrimSpace(line)))
	}
	w.set(name, v)
}

// alias makes a name stand for a text, as a function does.
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
		w.dir = nothing.words[0]
	default:
		if w.dir = below(w.dir, operands[0]); len(w.dir.Text) > maxDir {
			w.dir = nothing.words[0]
		}
	}
}

// below is the path p as seen from a directory.
func below(dir, p Word) Word {
	if !p.Known || strings.HasPrefix(p.Text, "/") || strings.HasPrefix(p.Text, "~") || dir.Known && dir.Text == "" {
		return p
	}
	if !dir.Known {
		return dir
	}
	return known(path.Join(dir.Text, p.Text))
}
