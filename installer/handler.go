package installer

import (
	"encoding/json"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// handler is the content of one entry of a group's hooks array.
type handler struct {
	fields  map[string]any // the whole entry; for a repeated key the last value, as the client reads it
	command string         // empty if the entry runs no command
	args    []string
	exec    bool // "args" is present: the client starts the program without a shell
}

// readHandler decodes an entry that is known to be a JSON object.
func readHandler(text []byte) handler {
	var h handler
	_ = json.Unmarshal(text, &h.fields) // valid JSON: the document was checked
	if kind, ok := h.fields["type"].(string); ok && kind != "command" {
		return h // http, prompt and the like have no program
	}
	h.command, _ = h.fields["command"].(string)
	list, ok := h.fields["args"].([]any)
	h.exec = ok
	for _, a := range list {
		s, _ := a.(string)
		h.args = append(h.args, s)
	}
	return h
}

// lacks names the field that an entry needs and does not have.
func (h handler) lacks() string {
	kind, ok := h.fields["type"].(string)
	if !ok {
		return "type"
	}
	if _, ok := h.fields["command"].(string); kind == "command" && !ok {
		return "command"
	}
	return ""
}

// words returns the program and its arguments, without quoting; nil if the entry runs anything
// but one plain command.
func (h handler) words() []string {
	switch {
	case h.command == "":
		return nil
	case h.exec:
		return append([]string{h.command}, h.args...)
	default:
		return plainCommand(shellCommands(h.command))
	}
}

// own reports whether the entry is beckon's: its program is beckon-hook, or is
// beckon with hook as first argument. The command is parsed, never searched.
func (h handler) own() bool {
	w := h.words()
	if len(w) == 0 {
		return false
	}
	switch programName(w[0]) {
	case "beckon-hook":
		return true
	case "beckon":
		return len(w) > 1 && w[1] == "hook"
	default:
		return false
	}
}

// programName returns the base name of a program path of any platform, in lower case, without
// quotes and .exe.
func programName(path string) string {
	path = strings.Trim(path, `"'`)
	path = strings.ToLower(path[strings.LastIndexAny(path, `/\`)+1:])
	return strings.TrimSuffix(path, ".exe")
}

// plainCommand splits a command line that runs one program and nothing else. Variables set
// before it, exec, env and a trailing "|| true" are accepted, since people add them by hand.
func plainCommand(commands [][]string) []string {
	if len(commands) == 0 {
		return nil
	}
	for _, c := range commands[1:] {
		if len(c) != 1 || c[0] != "true" && c[0] != ":" {
			return nil
		}
	}
	words := commands[0]
	for len(words) > 0 && (words[0] == "exec" || words[0] == "env" || isAssignment(words[0])) {
		words = words[1:]
	}
	return words
}

// isAssignment reports whether a word is NAME=value.
func isAssignment(word string) bool {
	name, _, ok := strings.Cut(word, "=")
	return ok && syntax.ValidName(name)
}

// Own reports whether an entry of a settings file, as JSON, is beckon's.
func Own(entry []byte) bool { return readHandler(entry).own() }
