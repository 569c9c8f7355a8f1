package installer

import (
	"encoding/json"
	"path"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/tailscale/hujson"
)

// The client has one status line. If there is one already, ours runs it and adds to it: its
// command becomes an argument of ours, from which remove restores it. Nothing else about it
// changes.

// StatusLine returns the operation that makes program, the absolute path of beckon-hook or beckon, the
// status line, or removes ours if it is empty.
func StatusLine(program string) Op {
	return Op{owns: owns, edit: func(old []byte) ([]byte, error) { return editStatus(old, program) }}
}

func editStatus(old []byte, program string) ([]byte, error) {
	if program == "" && !owns(old) {
		return old, nil
	}
	d, err := parseTree(old)
	switch {
	case err != nil:
	case program == "":
		d.dropStatus()
	case !absolute(program) || !printable(program) || !ownStatus(plainCommand(statusCommand(program, nil))):
		err = badProgram(program, "not the program for status lines",
			"the program must be called beckon or beckon-hook, at an absolute path")
	default:
		if _, err = parse(old, false); err == nil {
			err = d.addStatus(program)
		}
	}
	if err != nil {
		return nil, err
	}
	return d.bytes(), nil
}

// addStatus makes program the status line, wrapping the one that is there.
func (d *document) addStatus(program string) error {
	s := member(&d.file, "statusLine")
	if s == nil {
		d.put(&d.file, "statusLine", d.layout.text(struct {
			Type    string `json:"type"`
			Command string `json:"command"`
			// The client runs it that often, in seconds, while nothing happens in its session, to show
			// what happens in the others. Clients that do not know the setting ignore it.
			RefreshInterval int `json:"refreshInterval"`
		}{"command", statusCommand(program, nil), 5}, 1), 0)
		return nil
	}
	command, kind := member(s, "command"), member(s, "type")
	if command == nil || command.Value.Kind() != '"' || kind == nil || stringValue(*kind) != "command" ||
		!utf8.Valid(command.Pack()) { // no string of ours could give it back
		return d.problem(s.StartOffset, "statusLine: not a command", "correct it, or leave out the step statusline")
	}
	line := stringValue(*command)
	before := &line
	if words := plainCommand(line); ownStatus(words) {
		is, of := words[0], slashed(program)
		before = wrapped(words)
		if is == of || path.Dir(is) == path.Dir(of) && line != statusCommand(is, before) {
			return nil // as it should be, or changed by the user since: either program does
		}
	}
	command.Value = hujson.String(statusCommand(program, before))
	return nil
}

// ownStatus reports whether the words of a command run our status line; earlier versions wrote beckon-line.
func ownStatus(words []string) bool {
	return len(words) > 1 && words[1] == "statusline" &&
		slices.Contains([]string{"beckon", "beckon-hook", "beckon-line"}, programName(words[0]))
}

// wrapped returns the command that ours runs first; nil if there is none.
func wrapped(words []string) *string {
	for i, word := range words {
		name, value, has := strings.Cut(word, "=")
		if !has && i+1 < len(words) {
			value = words[i+1]
		}
		switch {
		case name == "--wrap", name == "--wrap-json" && json.Unmarshal([]byte(value), &value) == nil: // of earlier versions
			return &value
		}
	}
	return nil
}

// statusCommand returns our command line, which first runs the other command, if any.
func statusCommand(program string, other *string) string {
	command := quote(slashed(program)) + " statusline"
	if other != nil {
		command += " --wrap " + quote(*other)
	}
	return command
}

// statusWords returns the words of a status line's command.
func statusWords(v *hujson.Value) []string {
	if command := member(v, "command"); command != nil {
		return plainCommand(stringValue(*command))
	}
	return nil
}

// ownStatus returns the index of the last status line of ours at the top, -1 without one.
func (d *document) ownStatus() int {
	list := d.members()
	for i, m := range slices.Backward(list) {
		if m.name == "statusLine" && ownStatus(statusWords(m.value)) {
			return i
		}
	}
	return -1
}

// dropStatus takes every status line of ours out, or puts back what it wraps.
func (d *document) dropStatus() {
	for at := d.ownStatus(); at >= 0; at = d.ownStatus() {
		value := d.members()[at].value
		if other := wrapped(statusWords(value)); other != nil {
			member(value, "command").Value = hujson.String(*other)
		} else {
			cut(&d.file, at)
		}
	}
}
