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

// stream is what a command reads.
type stream struct {
	text  string
	fed   bool
	feeds []int
}

// state is what a subshell cannot change for its parent.
type state struct {
	vars   map[string][]string
	from   map[string][]int // the commands whose output is in a variable
	args   []string
	env    []string // exported variables
	dir    string
	plain  bool
	loose  bool
	carry  int
	remote bool
}

type reader struct {
	state
	line  *Line
	depth int
	nest  int
	funcs map[string]*syntax.Stmt
	calls []string          // the functions being read
	files map[string]string // what the line writes to files
	wrote map[string]int    // and the command that does
	feeds []int             // of the present command's words
	names []string          // the unknown variables among them
	fds   int
	left  int // bytes that may still be read
}

func newReader(text string) *reader {
	return &reader{
		line: &Line{Text: text},
		state: state{
			vars:  map[string][]string{},
			from:  map[string][]int{},
			plain: true,
			carry: -1,
		},
		funcs: map[string]*syntax.Stmt{},
		files: map[string]string{},
		wrote: map[string]int{},
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

// fork gives what follows variables of its own.
func (r *reader) fork() {
	r.spend(len(r.vars))
	r.vars, r.from = maps.Clone(r.vars), maps.Clone(r.from)
}

const tooMuch = "the line is too long or too deep to be read"

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
	list, err := parse(text)
	if err != nil && !r.loose {
		r.strange("not all of it is a shell's syntax: " + err.Error())
	}
	return r.stmts(list, in)
}

// parse returns the statements of a text: those of the first dialect that accepts it, else Bash's
// up to the mistake, which a shell runs, too.
func parse(text string) (first []*syntax.Stmt, mistake error) {
	for i, dialect := range [...]syntax.LangVariant{syntax.LangBash, syntax.LangZsh, syntax.LangMirBSDKorn} {
		var list []*syntax.Stmt
		var bad error
		p := syntax.NewParser(syntax.Variant(dialect))
		for s, err := range p.StmtsSeq(&source{Reader: strings.NewReader(text)}) {
			if bad = err; err == nil {
				list = append(list, s)
			}
		}
		if bad == nil {
			return list, nil
		}
		if i == 0 {
			first, mistake = list, bad
		}
		if errors.Is(bad, errDeep) {
			break
		}
	}
	return first, mistake
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

// sub reads the statements of a subshell or substitution.
func (r *reader) sub(list []*syntax.Stmt, in stream) string {
	return r.subshell(list, in, false)
}

func (r *reader) stmt(s *syntax.Stmt, in stream) string {
	if s == nil {
		return ""
	}
	if r.nest++; r.nest > maxNest {
		r.nest--
		return r.strange(tooMuch)
	}
	defer func() { r.nest-- }()
	plain := r.plain
	var reads, writes []string
	for _, d := range s.Redirs {
		switch d.Op {
		case syntax.Hdoc, syntax.DashHdoc:
			if d.Hdoc != nil {
				in = stream{text: r.word(d.Hdoc), fed: true}
			}
		case syntax.WordHdoc:
			in = stream{text: r.word(d.Word) + "\n", fed: true}
		default:
			name := r.word(d.Word)
			duplicate := d.Op == syntax.DplOut || d.Op == syntax.DplIn
			if In("/dev/null /dev/stderr /dev/stdout", name) || duplicate && strings.Trim(name, "0123456789-") == "" {
				continue
			}
			if d.Op == syntax.RdrIn || d.Op == syntax.DplIn {
				text, known := r.files[r.file(name)]
				if !known {
					text = Hole
				}
				in = stream{text: text, fed: true}
				if from, ok := r.wrote[r.file(name)]; ok {
					in.feeds = append(in.feeds, from)
				}
				reads = append(reads, name)
				continue
			}
			writes = append(writes, name)
			r.plain = false
		}
	}
	before := len(r.line.Commands)
	out := r.command(s.Cmd, in)
	r.plain = plain
	r.redirected(s.Cmd, before, reads, writes)
	for _, w := range writes {
		if r.spend(len(out)) {
			r.files[r.file(w)] += out
		}
		r.wrote[r.file(w)] = before
	}
	if len(writes) > 0 {
		return ""
	}
	return out
}

// redirected notes the files of redirections with the command that they belong to.
func (r *reader) redirected(cmd syntax.Command, before int, reads, writes []string) {
	if len(reads)+len(writes) == 0 {
		return
	}
	if _, simple := cmd.(*syntax.CallExpr); !simple || len(r.line.Commands) == before {
		r.emit(Command{Words: []string{":"}})
	}
	at := before
	for i := before; i < len(r.line.Commands); i++ {
		if r.line.Commands[i].Carrier == r.carry {
			at = i
		}
	}
	c := &r.line.Commands[at]
	c.Reads, c.Writes = append(c.Reads, reads...), append(c.Writes, writes...)
}

// file returns the name by which a file of the line is known.
func (r *reader) file(name string) string {
	if !strings.HasPrefix(name, "/") && r.dir != "" {
		name = r.dir + "/" + name
	}
	return path.Clean(name)
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
		return r.sub([]*syntax.Stmt{c.Stmt}, in)
	case *syntax.IfClause:
		for ; c != nil; c = c.Else {
			r.stmts(c.Cond, in)
			r.stmts(c.Then, in)
		}
	case *syntax.WhileClause:
		r.stmts(c.Cond, in)
		r.stmts(c.Do, in)
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
	case *syntax.TestDecl:
		r.stmt(c.Body, in)
	case *syntax.DeclClause:
		r.declare(c)
	case nil:
	default:
		r.inner(cmd)
	}
	return Hole
}

// subshell keeps what a list in brackets sets from the rest of the line.
func (r *reader) subshell(list []*syntax.Stmt, in stream, plain bool) string {
	saved := r.state
	r.fork()
	r.plain = plain
	out := r.stmts(list, in)
	r.state = saved
	return out
}

func (r *reader) pipe(c *syntax.BinaryCmd, in stream) string {
	from, dir := len(r.line.Commands), r.dir
	text := r.stmt(c.X, in)
	feeds := slices.Clone(in.feeds)
	for i := from; i < len(r.line.Commands); i++ {
		feeds = append(append(feeds, i), r.line.Commands[i].within...)
	}
	if !r.spend(len(feeds)) {
		return Hole
	}
	out := r.stmt(c.Y, stream{text: text, fed: true, feeds: feeds})
	r.dir = dir
	return out
}

// loop reads the body of a for loop once for each item that the line names.
func (r *reader) loop(c *syntax.ForClause, in stream) {
	l, words := c.Loop.(*syntax.WordIter)
	if !words {
		r.inner(c.Loop)
		r.stmts(c.Do, in)
		return
	}
	outer := r.feeds
	r.feeds = nil
	items, _ := r.words(l.Items)
	from := r.feeds
	r.feeds = outer
	if len(items) == 0 || len(items) > maxItems {
		items = []string{Hole}
	}
	for _, item := range items {
		r.vars[l.Name.Value], r.from[l.Name.Value] = []string{item}, from
		r.stmts(c.Do, in)
	}
}

// call reads a simple command: assignments and words.
func (r *reader) call(c *syntax.CallExpr, in stream) string {
	outer, names := r.feeds, r.names
	r.feeds, r.names = nil, nil
	env := slices.Clip(r.env)
	for _, a := range c.Assigns {
		if len(c.Args) == 0 {
			r.assign(a)
			continue
		}
		sets, vars, from := r.line.Sets, r.vars, r.from
		r.fork()
		r.assign(a)
		env = append(env, a.Name.Value+"="+strings.Join(r.vars[a.Name.Value], " "))
		r.line.Sets, r.vars, r.from = sets, vars, from
	}
	words, globs := r.words(c.Args)
	feeds, unknown := r.feeds, r.names
	r.feeds, r.names = outer, names
	if len(words) == 0 {
		return Hole
	}
	if body := r.funcs[words[0]]; body != nil && !slices.Contains(r.calls, words[0]) {
		args := r.args
		r.args, r.calls = words[1:], append(r.calls, words[0])
		out := r.stmt(body, in)
		r.args, r.calls = args, r.calls[:len(r.calls)-1]
		return out
	}
	return r.run(Command{
		Words: words,
		Globs: globs,
		Env:   env,
		Input: in.text,
		Fed:   in.fed,
		Feeds: append(slices.Clone(in.feeds), feeds...),

		Unknown: unknown,

		within: feeds,
	})
}

func (r *reader) emit(c Command) int {
	c.Dir, c.Plain, c.Carrier, c.Loose = r.dir, r.plain, r.carry, r.loose
	c.Remote = r.remote
	r.line.Commands = append(r.line.Commands, c)
	return len(r.line.Commands) - 1
}

// nested reads a word as a line.
func (r *reader) nested(text string, in stream) {
	plain, dir := r.plain, r.dir
	r.plain = false
	r.text(text, in)
	r.plain, r.dir = plain, dir
}
