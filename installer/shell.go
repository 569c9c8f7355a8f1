package installer

import (
	"strings"
)

// shellCommands splits a command line, as sh reads it, into its simple commands
// and those into words without quoting. Redirections are left out. A backslash
// stays in a word that begins as a Windows path, which PowerShell would run.
func shellCommands(line string) [][]string {
	l := lexer{rest: line}
	for l.rest != "" {
		l.next()
	}
	l.endCommand()
	return l.commands
}

type lexer struct {
	rest     string
	commands [][]string
	words    []string
	word     strings.Builder
	inWord   bool // the word may be empty and still be one, as in ''
	target   bool // the next word is a redirection's target
}

// next consumes one character or one quoted part.
func (l *lexer) next() {
	c := l.rest[0]
	l.rest = l.rest[1:]
	switch {
	case c == ' ' || c == '\t' || c == '\r':
		l.endWord()
	case strings.IndexByte("\n;&|()", c) >= 0:
		l.endCommand()
	case c == '<' || c == '>':
		l.redirect()
	case c == '#' && !l.inWord:
		_, after, _ := strings.Cut(l.rest, "\n")
		l.rest = "\n" + after
	case c == '\'':
		quoted, after, _ := strings.Cut(l.rest, "'")
		l.add(quoted)
		l.rest = after
	case c == '"':
		l.doubleQuoted()
	case c == '\\':
		l.backslash()
	default:
		l.add(string([]byte{c}))
	}
}

func (l *lexer) add(s string) {
	l.word.WriteString(s)
	l.inWord = true
}

func (l *lexer) endWord() {
	if l.inWord && !l.target {
		l.words = append(l.words, l.word.String())
	}
	l.target = l.target && !l.inWord
	l.word.Reset()
	l.inWord = false
}

func (l *lexer) endCommand() {
	l.endWord()
	if len(l.words) > 0 {
		l.commands = append(l.commands, l.words)
	}
	l.words, l.target = nil, false
}

// redirect drops a redirection: its file descriptor, operator and target.
func (l *lexer) redirect() {
	if strings.Trim(l.word.String(), "0123456789") == "" {
		l.word.Reset()
		l.inWord = false
	}
	l.endWord()
	l.rest = strings.TrimLeft(l.rest, "<>&|")
	l.target = true
}

func (l *lexer) doubleQuoted() {
	l.inWord = true
	for i := 0; i < len(l.rest); i++ {
		switch c := l.rest[i]; {
		case c == '"':
			l.rest = l.rest[i+1:]
			return
		case c == '\\' && i+1 < len(l.rest) && strings.IndexByte("$`\"\\\n", l.rest[i+1]) >= 0:
			i++
			l.word.WriteByte(l.rest[i])
		default:
			l.word.WriteByte(c)
		}
	}
	l.rest = ""
}

func (l *lexer) backslash() {
	if windowsPath(l.word.String() + `\` + l.rest) {
		l.add(`\`)
		return
	}
	if l.rest == "" {
		return
	}
	if l.rest[0] != '\n' { // a backslash before a line end joins the lines
		l.add(l.rest[:1])
	}
	l.rest = l.rest[1:]
}

var windowsStart = lazily(`^([A-Za-z]:[\\/]|\\\\[^\\/])`)

// windowsPath reports whether path has the shape of an absolute Windows path.
func windowsPath(path string) bool { return windowsStart().MatchString(path) }

// slashed turns a Windows path into one with forward slashes, which both of the
// shells that Claude Code uses there take and JSON need not escape.
func slashed(path string) string {
	if windowsPath(path) {
		return strings.ReplaceAll(path, `\`, "/")
	}
	return path
}

var safeWord = lazily(`^[A-Za-z0-9_./:@%+,-]+$`)

// quote makes s one word for sh.
func quote(s string) string {
	if safeWord().MatchString(s) {
		return s
	}
	return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'"
}

// CommandLine writes words as one command for sh.
func CommandLine(words ...string) string {
	quoted := make([]string, len(words))
	for i, w := range words {
		quoted[i] = quote(w)
	}
	return strings.Join(quoted, " ")
}
