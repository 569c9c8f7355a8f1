package installer

import (
	"encoding/json"
	"errors"
	"strings"

	"mvdan.cc/sh/v3/expand"
	"mvdan.cc/sh/v3/syntax"
)

// handler is an entry of a group's hooks array; of a repeated key it has the last value, as the client
// reads it.
type handler map[string]any

// readHandler decodes an entry that is known to be valid JSON.
func readHandler(text []byte) (h handler) {
	_ = json.Unmarshal(text, &h) // nil if it is no object
	return h
}

// words returns the program and its arguments, without quoting; nil if the entry runs anything
// but one plain command.
func (h handler) words() []string {
	kind, typed := h["type"].(string)
	command, _ := h["command"].(string)
	list, exec := h["args"].([]any) // the client starts the program without a shell
	switch {
	case typed && kind != "command", command == "": // http, prompt and the like have no program
		return nil
	case !exec:
		return plainCommand(command)
	}
	words := []string{command}
	for _, a := range list {
		s, _ := a.(string)
		words = append(words, s)
	}
	return words
}

// own reports whether the entry is beckon's: its program is beckon-hook, or is
// beckon with hook as first argument. The command is parsed, never searched.
func (h handler) own() bool {
	w := h.words()
	if len(w) == 0 {
		return false
	}
	name := programName(w[0])
	return name == "beckon-hook" || name == "beckon" && len(w) > 1 && w[1] == "hook"
}

// Own reports whether an entry of a settings file, as JSON, is beckon's.
func Own(entry []byte) bool { return readHandler(entry).own() }

// programName returns the base name of a program path of any platform, in lower case, without
// quotes and .exe.
func programName(path string) string {
	path = strings.Trim(path, `"'`)
	path = strings.ToLower(path[strings.LastIndexAny(path, `/\`)+1:])
	return strings.TrimSuffix(path, ".exe")
}

// plainCommand splits a command line for sh that runs one program and nothing else; it returns nil
// for any other. Quoting and redirections are dropped; variables and the home directory stay as in
// the line. Variables set before it, exec, env and a trailing "|| true" are accepted, since people
// add them by hand.
func plainCommand(line string) (words []string) {
	line = strings.TrimPrefix(line, "& ") // PowerShell's call operator, before a quoted program
	file, err := syntax.NewParser().Parse(strings.NewReader(line), "")
	if err != nil || len(file.Stmts) != 1 {
		return nil
	}
	command := file.Stmts[0].Cmd
	if or, ok := command.(*syntax.BinaryCmd); ok && or.Op == syntax.OrStmt {
		if end := line[or.Y.Pos().Offset():or.Y.End().Offset()]; end == "true" || end == ":" {
			command = or.X.Cmd
		}
	}
	call, ok := command.(*syntax.CallExpr)
	if !ok {
		return nil
	}
	for _, w := range call.Args {
		fields, err := unquoted(line, w)
		if err != nil {
			return nil
		}
		words = append(words, fields...)
	}
	for len(words) > 0 {
		name, _, set := strings.Cut(words[0], "=")
		if words[0] != "exec" && words[0] != "env" && !(set && syntax.ValidName(name)) {
			break
		}
		words = words[1:]
	}
	return words
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

// windowsPath reports whether path is an absolute Windows path.
func windowsPath(path string) bool {
	drive := len(path) > 2 && path[1] == ':' && strings.ContainsRune(`\/`, rune(path[2])) &&
		path[0]|0x20 >= 'a' && path[0]|0x20 <= 'z'
	return drive || len(path) > 2 && path[:2] == `\\` && path[2] != '\\' && path[2] != '/'
}

// slashed converts a Windows path to forward slashes, which both of Claude Code's shells there
// accept and JSON need not escape.
func slashed(path string) string {
	if windowsPath(path) {
		return strings.ReplaceAll(path, `\`, "/")
	}
	return path
}
