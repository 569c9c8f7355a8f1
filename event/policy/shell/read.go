package shell

import (
	"errors"
	"maps"
	"path"
	"runtime"
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// Limits on what is read of a line.
const (
	maxDepth    = 12     // lines in lines
	maxNest     = 1000   // statements in statements
	maxFrames   = 3000   // of the parser: a stack overflow ends the program
	maxCommands = 10_000 // simple commands
	maxWord     = 1 << 16
	maxText     = 1 << 18 // no system starts a shell with a longer line
	maxReread   = 16      // how often a byte is read, as a part of lines in lines
	minReread   = 1 << 16
	maxItems    = 16 // of a loop whose body is read once for each
)

const tooMuch = "the line is too long or too deep to be read"

// value is what a variable has.
type value struct {
	words []string // nil if unknown
	feeds []int    // the commands whose output it is
	glob  bool     // it is one of the files that fit a pattern
}

func (v value) text() string { return strings.Join(v.words, " ") }

// stream is what a command reads, or the line writes to a file, and the commands it comes from.
type stream struct {
	text  string
	fed   bool // there is something to read
	feeds []int

	reads, writes []string // the files of a simple command's redirections
}

// state is what a subshell cannot change for its parent.
type state struct {
	vars   map[string]value
	args   []string
	env    []string // exported variables
	dir    string
	plain  bool
	loose  bool
	remote bool
}

type reader struct {
	state
	line  *Line
	depth int
	nest  int
	funcs map[string]*syntax.Stmt
	calls []string // the functions being read
	files map[string]stream

	unpacked []int // the commands whose output it has unpacked into files of unknown names
	left     int   // bytes that may still be read
}

func newReader(text string) *reader {
	is := func(text string) value { return value{words: []string{text}} }
	vars := map[string]value{
		"IFS": is(" "), "HOME": is("~"), "PWD": is("."), "TMPDIR": is("/tmp"), "TMP": is("/tmp"), "TEMP": is("/tmp"),
	}
	return &reader{
		line:  &Line{Text: text},
		state: state{vars: vars, plain: true},
		funcs: map[string]*syntax.Stmt{},
		files: map[string]stream{},
		left:  maxReread*len(text) + minReread,
	}
}

// strange notes what cannot be read.
func (r *reader) strange(what string) string {
	if r.line.Strange == "" {
		r.line.Strange = what
	}
	return Hole
}

// spend takes bytes from what may still be read or built, and reports whether they are there.
func (r *reader) spend(bytes int) bool {
	if r.left -= bytes; r.left < 0 {
		r.strange(tooMuch)
	}
	return r.left >= 0
}

var errDeep = errors.New("too many brackets in brackets")

// source is a text being parsed; it ends when the parser recurses too deep.
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

// text reads a command line and returns its output.
func (r *reader) text(text string, in stream) string {
	r.depth++
	defer func() { r.depth-- }()
	if !r.spend(len(text)) || r.depth > maxDepth || len(text) > maxText {
		return r.strange(tooMuch)
	}
	list, err := parse(text, syntax.LangBash, syntax.LangZsh, syntax.LangMirBSDKorn)
	if err != nil && !r.loose {
		r.strange("not all of it is a shell's syntax: " + err.Error())
	}
	return r.stmts(list, in)
}

// parse returns the statements of a text, in the first dialect that accepts it, else the first one's up to the mistake.
func parse(text string, dialects ...syntax.LangVariant) (list []*syntax.Stmt, mistake error) {
	p := syntax.NewParser(syntax.Variant(dialects[0]))
	for s, err := range p.StmtsSeq(&source{Reader: strings.NewReader(text)}) {
		if mistake = err; err == nil {
			list = append(list, s)
		}
	}
	if mistake != nil && len(dialects) > 1 && !errors.Is(mistake, errDeep) {
		if other, bad := parse(text, dialects[1:]...); bad == nil {
			return other, nil
		}
	}
	return list, mistake
}

// nested reads a word as a line.
func (r *reader) nested(text string, in stream) {
	saved := r.state
	r.plain = false
	r.text(text, in)
	r.state = saved
}

func (r *reader) stmts(list []*syntax.Stmt, in stream) string {
	var out strings.Builder
	for _, s := range list {
		if len(r.line.Commands) > maxCommands || r.left < 0 {
			return r.strange("the line has too many commands to be read")
		}
		if o := r.stmt(s, in); out.Len() < maxWord {
			out.WriteString(o)
		}
	}
	return out.String()
}

// subshell keeps what a list sets from the rest of the line.
func (r *reader) subshell(list []*syntax.Stmt, in stream, plain bool) string {
	saved := r.state
	r.spend(len(r.vars))
	r.vars, r.plain = maps.Clone(r.vars), plain
	out := r.stmts(list, in)
	r.state = saved
	return out
}

func (r *reader) stmt(s *syntax.Stmt, in stream) string {
	r.nest++
	defer func() { r.nest-- }()
	switch {
	case s == nil:
		return ""
	case r.nest > maxNest:
		return r.strange(tooMuch)
	}
	plain := r.plain
	var reads, writes []string
	for _, d := range s.Redirs {
		switch d.Op {
		case syntax.Hdoc, syntax.DashHdoc:
			in = r.expand(true, d.Hdoc).stream("")
			continue
		case syntax.WordHdoc:
			in = r.expand(true, d.Word).stream("\n")
			continue
		}
		name := r.word(d.Word)
		duplicate := d.Op == syntax.DplOut || d.Op == syntax.DplIn
		switch {
		case In("/dev/null /dev/stderr /dev/stdout", name), duplicate && strings.Trim(name, "0123456789-") == "":
		case d.Op == syntax.RdrIn || d.Op == syntax.DplIn:
			if in = r.files[r.file(name)]; !in.fed {
				in = stream{text: Hole, fed: true}
			}
			reads = append(reads, name)
		default:
			writes = append(writes, name)
			r.plain = false
		}
	}
	if one, simple := s.Cmd.(*syntax.CallExpr); len(reads)+len(writes) > 0 &&
		(!simple || len(one.Args) == 0 || r.funcs[one.Args[0].Lit()] != nil) {
		r.emit(Command{Words: []string{":"}, Reads: reads, Writes: writes})
	}
	in.reads, in.writes = reads, writes
	before := len(r.line.Commands)
	out := r.command(s.Cmd, in)
	r.plain = plain
	for _, w := range writes {
		r.write(w, out, before)
	}
	if len(writes) > 0 {
		return ""
	}
	return out
}

// file returns the name by which a file of the line is known.
func (r *reader) file(name string) string {
	if !strings.HasPrefix(name, "/") && !strings.HasPrefix(name, "~") && r.dir != "" {
		name = r.dir + "/" + name
	}
	return path.Clean(name)
}

// write adds what a command writes to what is known of a file.
func (r *reader) write(name, text string, by int) {
	name = r.file(name)
	if !r.spend(len(text)) {
		text = ""
	}
	r.files[name] = stream{text: r.files[name].text + text, fed: true, feeds: []int{by}}
}

func (r *reader) command(cmd syntax.Command, in stream) string {
	switch c := cmd.(type) {
	case *syntax.CallExpr:
		return r.call(c, in)
	case *syntax.BinaryCmd:
		if c.Op == syntax.Pipe || c.Op == syntax.PipeAll {
			return r.pipe(c, in)
		}
		left := r.stmt(c.X, in)
		return left + r.stmt(c.Y, in)
	case *syntax.Block:
		return r.stmts(c.Stmts, in)
	case *syntax.Subshell:
		return r.subshell(c.Stmts, in, r.plain)
	case *syntax.TimeClause:
		return r.stmt(c.Stmt, in)
	case *syntax.CoprocClause:
		return r.subshell([]*syntax.Stmt{c.Stmt}, in, false)
	case *syntax.IfClause:
		for ; c != nil; c = c.Else {
			r.stmts(slices.Concat(c.Cond, c.Then), in)
		}
	case *syntax.WhileClause:
		r.stmts(slices.Concat(c.Cond, c.Do), in)
	case *syntax.ForClause:
		r.loop(c, in)
	case *syntax.CaseClause:
		r.word(c.Word)
		for _, i := range c.Items {
			r.stmts(i.Stmts, in)
		}
	case *syntax.FuncDecl:
		if c.Name != nil {
			r.funcs[c.Name.Value] = c.Body
		}
		r.line.Sets = true
		r.stmt(c.Body, in)
	case *syntax.DeclClause:
		r.declare(c)
	case nil:
	default:
		r.inner(cmd)
	}
	return Hole
}

// inner reads the substitutions in a part of the line that is no command.
func (r *reader) inner(n syntax.Node) {
	syntax.Walk(n, func(n syntax.Node) bool {
		switch n := n.(type) {
		case *syntax.CmdSubst:
			r.subshell(n.Stmts, stream{}, false)
			return false
		case *syntax.ProcSubst:
			r.subshell(n.Stmts, stream{}, false)
			return false
		}
		return true
	})
}

func (r *reader) pipe(c *syntax.BinaryCmd, in stream) string {
	from, dir := len(r.line.Commands), r.dir
	text := r.stmt(c.X, in)
	out := r.stmt(c.Y, stream{text: text, fed: true, feeds: r.since(from)})
	r.dir = dir
	return out
}

// since returns the commands from a number on.
func (r *reader) since(from int) (list []int) {
	r.spend(len(r.line.Commands) - from)
	for i := from; i < len(r.line.Commands) && r.left >= 0; i++ {
		list = append(list, i)
	}
	return list
}

// loop reads the body of a for loop once for each item that the line names.
func (r *reader) loop(c *syntax.ForClause, in stream) {
	l, words := c.Loop.(*syntax.WordIter)
	if !words {
		r.inner(c.Loop)
		r.stmts(c.Do, in)
		return
	}
	items := r.expand(false, l.Items...)
	if len(items.list) == 0 || len(items.list) > maxItems {
		items.list = []string{Hole}
	}
	for i, item := range items.list {
		r.vars[l.Name.Value] = value{[]string{item}, items.feeds, i < len(items.globs) && items.globs[i]}
		r.stmts(c.Do, in)
	}
}

// call reads a simple command: assignments and words.
func (r *reader) call(c *syntax.CallExpr, in stream) string {
	env := slices.Clip(r.env)
	for _, a := range c.Assigns {
		if len(c.Args) == 0 {
			r.assign(a)
		} else {
			env = append(env, a.Name.Value+"="+r.valueOf(a).text())
		}
	}
	f := r.expand(false, c.Args...)
	if len(f.list) == 0 {
		return Hole
	}
	name := f.list[0]
	if body := r.funcs[name]; body != nil && !slices.Contains(r.calls, name) {
		args := r.args
		r.args, r.calls = f.list[1:], append(r.calls, name)
		out := r.stmt(body, in)
		r.args, r.calls = args, r.calls[:len(r.calls)-1]
		return out
	}
	return r.run(Command{
		Words:   f.list,
		Globs:   f.globs,
		Env:     env,
		Input:   in.text,
		Fed:     in.fed,
		Feeds:   slices.Concat(in.feeds, f.feeds),
		Unknown: f.unknown,
		Reads:   in.reads,
		Writes:  in.writes,
	})
}

func (r *reader) emit(c Command) int {
	c.Dir, c.Plain, c.Loose, c.Remote = r.dir, r.plain, r.loose, r.remote
	r.line.Commands = append(r.line.Commands, c)
	return len(r.line.Commands) - 1
}
