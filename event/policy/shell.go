package policy

import (
	"slices"
	"strings"
)

// commandLine is a shell command taken apart as far as rules need it.
type commandLine struct {
	// commands are the simple commands, those inside $(...), `...`, (...) and
	// `sh -c` included; the words are without quotes.
	commands [][]string
	// texts are the simple commands as written, blanks at the ends cut off.
	texts []string
	// opaque: a word comes out of a variable or a substitution, or output is
	// redirected, so the words do not tell all that happens.
	opaque bool
	// broken: quotes or brackets do not close, or braces make several words of
	// one; nothing is certain.
	broken bool
	// fed: a shell reads commands that are nowhere among the words.
	fed bool

	power bool // PowerShell's quotes and escapes
	left  int  // bytes that may still be read, commands in commands included
}

const (
	// maxNested bounds how deep commands in commands are looked into.
	maxNested = 8
	// maxReread bounds how often a byte is read again as part of a command in
	// a command, on average: who writes the line must not choose how long it
	// takes to judge.
	maxReread = 16
	// maxName is how long what stands in ${...} may be.
	maxName = 1024
)

// readCommand takes a command line apart. It knows quotes, escapes, comments,
// lists, pipes, substitutions and here-documents' operators, not functions or
// arithmetic: what it does not know it calls opaque or broken.
func readCommand(text string) commandLine {
	c := commandLine{left: maxReread * (len(text) + 1)}
	c.read(text, 0)
	return c
}

// readPowerShell is readCommand for PowerShell, whose typographic quotes quote
// too.
func readPowerShell(text string) commandLine {
	c := commandLine{left: maxReread * (len(text) + 1), power: true}
	c.read(text, 0)
	c.broken = c.broken || strings.ContainsAny(text, "‘’‚‛“”„")
	return c
}

func (c *commandLine) read(text string, depth int) {
	if c.left -= len(text); depth > maxNested || c.left < 0 {
		c.broken = true
		return
	}
	s := scanner{line: c, text: text, depth: depth}
	s.run()
}

// scanner walks over one command line.
type scanner struct {
	line  *commandLine
	text  string
	depth int
	at    int // the byte that is next
	start int // where the simple command begins
	words []string
	word  strings.Builder
	open  bool // a word has begun, maybe an empty one: ''
	// braces is 1 after an open one in the word, 2 if a list or range is in it.
	braces int
	here   []heredoc // texts that begin at the next line
	drop   bool      // the next word is where output goes to or input comes from
}

func (s *scanner) run() {
	for s.at < len(s.text) {
		c := s.text[s.at]
		switch {
		case c == s.escapes():
			s.escape()
		case c == '\'':
			s.single()
		case c == '"':
			s.double()
		case c == '`':
			s.backtick()
		case c == '$':
			s.dollar(false)
		case c == '#' && !s.open:
			s.comment()
		case c == ' ' || c == '\t' || c == '\r':
			s.endWord()
			s.at++
		case strings.IndexByte(";&|()\n", c) >= 0 || (c == '{' || c == '}') && s.groups(c):
			s.operator(c)
		case c == '<' || c == '>':
			s.redirect()
		default:
			s.brace(c)
			s.put(c)
		}
	}
	s.endCommand(len(s.text))
}

// escapes is the character that takes the next one's meaning away.
func (s *scanner) escapes() byte {
	if s.line.power {
		return '`'
	}
	return '\\'
}

// groups reports whether a brace stands for itself, as a shell's word does,
// and so begins or ends a group of commands; else it is part of a word.
func (s *scanner) groups(c byte) bool {
	if s.line.power {
		return true
	}
	return !s.open && (c == '}' || s.at+1 == len(s.text) || strings.IndexByte(" \t\r\n;&|()<>", s.text[s.at+1]) >= 0)
}

// brace notes braces of which a shell makes several words: {rm,-rf,/}. c
// belongs to a word, and is not quoted.
func (s *scanner) brace(c byte) {
	switch {
	case c == '{':
		s.braces = 1
	case s.braces == 1 && (c == ',' || c == '.' && strings.HasPrefix(s.text[s.at:], "..")):
		s.braces = 2
	case s.braces == 2 && c == '}':
		s.line.broken = true
	}
}

func (s *scanner) put(c byte) {
	s.word.WriteByte(c)
	s.open = true
	s.at++
}

func (s *scanner) escape() {
	s.at++
	if s.at == len(s.text) {
		s.line.broken = true
		return
	}
	if s.text[s.at] == '\n' { // the line goes on
		s.at++
		return
	}
	s.put(s.text[s.at])
}

func (s *scanner) single() {
	end := strings.IndexByte(s.text[s.at+1:], '\'')
	if end < 0 {
		s.broken()
		return
	}
	s.word.WriteString(s.text[s.at+1 : s.at+1+end])
	s.open = true
	s.at += end + 2
}

func (s *scanner) broken() {
	s.line.broken = true
	s.word.WriteString(s.text[s.at+1:])
	s.open = true
	s.at = len(s.text)
}

func (s *scanner) double() {
	s.open = true
	for s.at++; s.at < len(s.text); {
		switch c := s.text[s.at]; c {
		case '"':
			s.at++
			return
		case s.escapes():
			s.escapeInside()
		case '$':
			s.dollar(true)
		case '`':
			s.backtick()
		default:
			s.put(c)
		}
	}
	s.line.broken = true
}

// escapeInside reads an escape between double quotes.
func (s *scanner) escapeInside() {
	s.at++
	if s.at == len(s.text) {
		return
	}
	switch c := s.text[s.at]; {
	case c == '\n':
		s.at++
		return
	case !s.line.power && strings.IndexByte("\"\\$`", c) < 0:
		s.word.WriteByte('\\')
	}
	s.put(s.text[s.at])
}

func (s *scanner) backtick() {
	s.line.opaque = true
	end := strings.IndexByte(s.text[s.at+1:], '`')
	if end < 0 {
		s.broken()
		return
	}
	s.line.read(s.text[s.at+1:s.at+1+end], s.depth+1)
	s.open = true
	s.at += end + 2
}

// dollar reads $(...), which holds commands, a text with escapes, or a
// variable; inside says that it is between double quotes.
func (s *scanner) dollar(inside bool) {
	rest := s.text[s.at+1:]
	switch {
	case strings.HasPrefix(rest, "("):
		s.substitution(rest)
		return
	case !inside && !s.line.power && strings.HasPrefix(rest, "'"):
		s.ansi()
		return
	case !inside && !s.line.power && strings.HasPrefix(rest, `"`): // a text that may be translated
		s.line.opaque = true
		s.at++
		return
	}
	s.line.opaque = s.line.opaque || rest != "" && rest[0] != ' ' && rest[0] != '"'
	s.put('$')
	switch {
	case strings.HasPrefix(rest, "["): // arithmetic, where << is another thing
		s.line.broken = true
	case !strings.HasPrefix(rest, "{"):
	case s.line.power:
		s.through('}')
	default: // ${x:-$(command)}
		s.put('{')
		name, _, _ := strings.Cut(rest[:min(len(rest), maxName)], "}")
		s.line.broken = s.line.broken || strings.Contains(name, "<<") || len(name) == maxName
	}
}

// through puts all up to the next c.
func (s *scanner) through(c byte) {
	end := strings.IndexByte(s.text[s.at:], c)
	if end < 0 {
		s.broken()
		return
	}
	s.word.WriteString(s.text[s.at : s.at+end+1])
	s.at += end + 1
}

func (s *scanner) substitution(rest string) {
	s.line.opaque = true
	inside, ok := bracketed(rest)
	if !ok {
		s.broken()
		return
	}
	s.line.read(inside, s.depth+1)
	s.open = true
	s.at += len(inside) + 3
}

// redirections are the operators that a word follows, longer ones first.
var redirections = []string{"<<<", "<<-", "<<", "<>", "<&", "<", ">>", ">|", ">&", ">"}

// redirect reads an operator that sends output somewhere or takes input from
// there; the word that says where is none of the command's.
func (s *scanner) redirect() {
	s.line.opaque = true
	rest := s.text[s.at:]
	if s.line.power && strings.HasPrefix(rest, "<#") {
		s.remark()
		return
	}
	s.line.broken = s.line.broken || strings.Contains(s.word.String(), "[") // maybe a[1<<2]=3
	if s.open && descriptor(s.word.String()) {                              // 2>
		s.word.Reset()
		s.open = false
	}
	s.endWord()
	op := redirections[slices.IndexFunc(redirections, func(op string) bool { return strings.HasPrefix(rest, op) })]
	switch rest = rest[len(op):]; {
	case !s.line.power && (op == "<<" || op == "<<-"):
		h, n, ok := readHeredoc(s.text[s.at+len("<<"):])
		s.line.broken = s.line.broken || !ok
		s.here = append(s.here, h)
		s.at += len("<<") + n
	case strings.HasPrefix(rest, "("):
		s.at++
		s.process()
	case strings.HasSuffix(op, "&") && strings.HasPrefix(rest, "-"): // closed, and nothing follows
		s.at += len(op) + 1
	default:
		s.at += len(op)
		s.drop = true
	}
}

// process reads <(...) and >(...).
func (s *scanner) process() {
	inside, ok := bracketed(s.text[s.at:])
	if !ok {
		s.broken()
		return
	}
	s.line.read(inside, s.depth+1)
	s.at += len(inside) + 2
	s.open = true // the name of a pipe takes its place
}

// remark passes over <# ... #>.
func (s *scanner) remark() {
	end := strings.Index(s.text[s.at:], "#>")
	if end < 0 {
		s.broken()
		return
	}
	s.endWord()
	s.at += end + 2
}

// descriptor reports whether a word before < or > is the number of what is
// redirected, or the name of a variable that gets it.
func descriptor(word string) bool {
	return strings.Trim(word, "0123456789") == "" || strings.HasPrefix(word, "{") && strings.HasSuffix(word, "}")
}

func (s *scanner) comment() {
	if end := strings.IndexByte(s.text[s.at:], '\n'); end >= 0 {
		s.at += end
		return
	}
	s.at = len(s.text)
}

// operator ends a simple command. "&>" is a redirection.
func (s *scanner) operator(c byte) {
	if c == '&' && strings.HasPrefix(s.text[s.at:], "&>") {
		s.endWord()
		s.at++
		return
	}
	if c == '(' && strings.HasPrefix(s.text[s.at:], "((") { // maybe arithmetic, where << is another thing
		s.line.broken = true
	}
	s.endCommand(s.at)
	s.at++
	s.start = s.at
	if c == '\n' {
		s.bodies()
	}
}

func (s *scanner) endWord() {
	if !s.open {
		return
	}
	if !s.drop {
		s.words = append(s.words, s.word.String())
	}
	s.word.Reset()
	s.open, s.drop, s.braces = false, false, 0
}

func (s *scanner) endCommand(end int) {
	s.endWord()
	if len(s.words) > 0 {
		s.line.commands = append(s.line.commands, s.words)
		s.line.texts = append(s.line.texts, strings.TrimSpace(s.text[s.start:end]))
		s.inner()
	}
	s.words, s.drop = nil, false
	s.start = end
}
