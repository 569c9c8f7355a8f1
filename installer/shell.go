package installer

import (
	"errors"
	"strings"

	"mvdan.cc/sh/v3/expand"
	"mvdan.cc/sh/v3/syntax"
)

// shellCommands parses a command line as sh does, and returns its simple commands as words
// without quoting; variables and the home directory stay as in the line. Redirections are
// dropped. It returns nil for a line with anything else in it.
func shellCommands(line string) (commands [][]string) {
	line = strings.TrimPrefix(line, "& ") // PowerShell's call operator, before a quoted program
	file, err := syntax.NewParser().Parse(strings.NewReader(line), "")
	if err != nil {
		return nil
	}
	plain := true
	syntax.Walk(file, func(n syntax.Node) bool {
		switch n := n.(type) {
		case *syntax.CallExpr:
			var words []string
			for _, w := range n.Args {
				fields, err := unquoted(line, w)
				plain = plain && err == nil
				words = append(words, fields...)
			}
			if len(words) > 0 {
				commands = append(commands, words)
			}
		case *syntax.BinaryCmd:
		case syntax.Command:
			plain = false
		}
		return plain
	})
	if !plain {
		return nil
	}
	return commands
}

// unquoted returns a word of the line without quoting. A Windows path that PowerShell would
// run keeps its backslashes, and braces, which may stand for any number of words, stay as they
// are.
func unquoted(line string, w *syntax.Word) ([]string, error) {
	text, word := line[w.Pos().Offset():w.End().Offset()], *w
	if windowsPath(text) || syntax.SplitBraces(&word) {
		return []string{text}, nil
	}
	notPlain := func(*syntax.ProcSubst) (string, error) { return "", errors.New("runs a command") }
	return expand.Fields(&expand.Config{ProcSubst: notPlain, Env: expand.FuncEnviron(func(name string) string {
		user, home := strings.CutPrefix(name, "HOME")
		switch {
		case name == "IFS":
			return "" // as usual
		case home && (user == "" || user[0] == ' '): // the expander asks for a user's home as "HOME user"
			return "~" + strings.TrimPrefix(user, " ")
		}
		return "$" + name
	})}, w)
}

var windowsStart = lazily(`^([A-Za-z]:[\\/]|\\\\[^\\/])`)

// windowsPath reports whether path is an absolute Windows path.
func windowsPath(path string) bool { return windowsStart().MatchString(path) }

// slashed converts a Windows path to forward slashes, which both of Claude Code's shells there
// accept and JSON need not escape.
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
