package policy

import (
	"path"
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
	// broken: quotes or brackets do not close; nothing is certain.
	broken bool
}

// maxNested bounds how deep commands in commands are looked into.
const maxNested = 8

// readCommand takes a command line apart. It knows quotes, escapes, comments,
// lists, pipes, substitutions and here-documents' operators, not functions or
// arithmetic: what it does not know it calls opaque or broken.
func readCommand(text string) commandLine {
	var c commandLine
	c.read(text, 0)
	return c
}

func (c *commandLine) read(text string, depth int) {
	if depth > maxNested {
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
}

func (s *scanner) run() {
	for s.at < len(s.text) {
		c := s.text[s.at]
		switch {
		case c == '\\':
			s.escape()
		case c == '\'':
			s.single()
		case c == '"':
			s.double()
		case c == '`':
			s.backtick()
		case c == '$':
			s.dollar()
		case c == '#' && !s.open:
			s.comment()
		case c == ' ' || c == '\t' || c == '\r':
			s.endWord()
			s.at++
		case strings.IndexByte(";&|()\n{}", c) >= 0 && !(strings.IndexByte("{}", c) >= 0 && s.open):
			s.operator(c)
		case c == '<' || c == '>':
			s.line.opaque = true
			s.endWord()
			s.at++
			s.process()
		default:
			s.put(c)
		}
	}
	s.endCommand(len(s.text))
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
		case '\\':
			s.at++
			if s.at < len(s.text) {
				if strings.IndexByte("\"\\$`", s.text[s.at]) < 0 {
					s.word.WriteByte('\\')
				}
				s.put(s.text[s.at])
			}
		case '$':
			s.dollar()
		case '`':
			s.backtick()
		default:
			s.put(c)
		}
	}
	s.line.broken = true
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

// dollar reads $(...), which holds commands, or a variable.
func (s *scanner) dollar() {
	rest := s.text[s.at+1:]
	if !strings.HasPrefix(rest, "(") {
		s.line.opaque = s.line.opaque || rest != "" && rest[0] != ' ' && rest[0] != '"'
		s.put('$')
		return
	}
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

// process reads <(...) and >(...).
func (s *scanner) process() {
	if !strings.HasPrefix(s.text[s.at:], "(") {
		return
	}
	if inside, ok := bracketed(s.text[s.at:]); ok {
		s.line.read(inside, s.depth+1)
		s.at += len(inside) + 2
	}
}

// bracketed returns what is between the bracket that text begins with and the
// one that closes it, quotes heeded.
func bracketed(text string) (string, bool) {
	depth, quote := 0, byte(0)
	for i := 0; i < len(text); i++ {
		switch c := text[i]; {
		case c == '\\' && quote != '\'':
			i++
		case quote != 0:
			if c == quote {
				quote = 0
			}
		case c == '\'' || c == '"':
			quote = c
		case c == '(':
			depth++
		case c == ')':
			if depth--; depth == 0 {
				return text[1:i], true
			}
		}
	}
	return "", false
}

func (s *scanner) comment() {
	if end := strings.IndexByte(s.text[s.at:], '\n'); end >= 0 {
		s.at += end
		return
	}
	s.at = len(s.text)
}

// operator ends a simple command. "&>" and ">&" are redirections.
func (s *scanner) operator(c byte) {
	if c == '&' && (strings.HasPrefix(s.text[s.at:], "&>") || s.at > 0 && s.text[s.at-1] == '>') {
		s.line.opaque = true
		s.endWord()
		s.at++
		return
	}
	s.endCommand(s.at)
	s.at++
	s.start = s.at
}

func (s *scanner) endWord() {
	if s.open {
		s.words = append(s.words, s.word.String())
		s.word.Reset()
		s.open = false
	}
}

func (s *scanner) endCommand(end int) {
	s.endWord()
	if len(s.words) > 0 {
		s.line.commands = append(s.line.commands, s.words)
		s.line.texts = append(s.line.texts, strings.TrimSpace(s.text[s.start:end]))
		s.line.commands = append(s.line.commands, executed(s.words)...)
		if inner, ok := shellArgument(s.words); ok {
			s.line.read(inner, s.depth+1)
		}
	}
	s.words = nil
	s.start = end
}

// executed returns the commands that find runs on what it finds.
func executed(words []string) (list [][]string) {
	words = bare(words)
	if len(words) == 0 || program(words[0]) != "find" {
		return nil
	}
	for i, w := range words {
		if !slices.Contains([]string{"-exec", "-execdir", "-ok", "-okdir"}, w) {
			continue
		}
		rest := words[i+1:]
		if end := slices.IndexFunc(rest, func(w string) bool { return w == ";" || w == "+" }); end >= 0 {
			rest = rest[:end]
		}
		list = append(list, rest)
	}
	return list
}

// shellArgument returns the command line that a command hands to a shell:
// sh -c TEXT, eval TEXT.
func shellArgument(words []string) (string, bool) {
	words = bare(words)
	if len(words) < 2 {
		return "", false
	}
	switch program(words[0]) {
	case "eval":
		return strings.Join(words[1:], " "), true
	case "watch":
		return strings.Join(afterFlags(words[1:], []string{"n"}), " "), true
	case "sh", "bash", "zsh", "dash", "ksh", "fish", "su":
		for i, w := range words[1:] {
			if strings.HasPrefix(w, "-") && !strings.HasPrefix(w, "--") && strings.Contains(w, "c") && i+2 < len(words) {
				return words[i+2], true
			}
		}
	}
	return "", false
}

// program is the name that a command's first word runs.
func program(word string) string {
	return strings.TrimSuffix(path.Base(strings.ReplaceAll(word, `\`, "/")), ".exe")
}

// wrappers run the command that follows them, with the flags that take a word
// of their own.
var wrappers = map[string]string{
	"sudo": "u g h p C D R T U", "doas": "u C", "env": "u C S", "nohup": "", "nice": "n", "ionice": "c n p",
	"time": "f o", "timeout": "k s", "stdbuf": "i o e", "setsid": "", "coproc": "", "parallel": "j", "command": "", "builtin": "", "exec": "a", "xargs": "I n P L s d E a", "then": "", "do": "", "else": "", "if": "", "while": "", "until": "", "!": "",
}

// bare takes off what stands before the command that really runs: NAME=value,
// and programs that run another.
func bare(words []string) []string {
	for len(words) > 0 {
		takes, wraps := wrappers[program(words[0])]
		switch {
		case assignment(words[0]):
			words = words[1:]
		case wraps && len(words) > 1:
			name := program(words[0])
			words = afterFlags(words[1:], strings.Fields(takes))
			if name == "timeout" && len(words) > 1 {
				words = words[1:] // the duration
			}
		default:
			return words
		}
	}
	return words
}

func afterFlags(words, takes []string) []string {
	for len(words) > 0 && len(words[0]) > 1 && words[0][0] == '-' {
		flag := words[0]
		words = words[1:]
		if flag == "--" {
			return words
		}
		if len(flag) == 2 && slices.Contains(takes, flag[1:]) && len(words) > 0 {
			words = words[1:]
		}
	}
	return words
}

// assignment reports whether a word is NAME=value.
func assignment(word string) bool {
	name, _, ok := strings.Cut(word, "=")
	return ok && name != "" && strings.IndexFunc(name, func(r rune) bool {
		return r != '_' && (r < '0' || r > '9') && (r < 'A' || r > 'Z') && (r < 'a' || r > 'z')
	}) < 0
}
