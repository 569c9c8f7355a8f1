package installer

import (
	"path"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/tailscale/hujson"

	"beckon/event/run"
)

// The client has one status line. If there is one already, ours runs it and adds to it: its
// command becomes an argument of ours, from which remove restores it. Nothing else about it
// changes.

// StatusLine returns the status line, which is program, the absolute path of beckon-hook or beckon.
func (t Target) StatusLine(program string) Part {
	return Part{Target: t, owns: owns, edit: func(old []byte, on bool) ([]byte, error) {
		if !on && !owns(old) {
			return old, nil
		}
		d, err := parse(old, !on)
		if err == nil && on {
			err = d.addStatus(program)
		} else if err == nil {
			d.dropStatus()
		}
		if err != nil {
			return nil, err
		}
		return d.bytes(), nil
	}}
}

// addStatus makes program the status line, wrapping the one that is there.
func (d *document) addStatus(program string) error {
	s := member(&d.file, "statusLine")
	if s == nil {
		put(&d.file, "statusLine", struct {
			Type    string `json:"type"`
			Command string `json:"command"`
			// The client runs it that often, in seconds, while nothing happens in its session, to show
			// what happens in the others. Clients that do not know the setting ignore it.
			RefreshInterval int `json:"refreshInterval"`
		}{"command", statusCommand(program, nil), 5}, 0)
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
		if name == "--wrap" {
			return &value
		}
	}
	return nil
}

// statusCommand returns our command line, which first runs the other command, if any.
func statusCommand(program string, other *string) string {
	command := run.Quote(slashed(program)) + " statusline"
	if other != nil {
		command += " --wrap " + run.Quote(*other)
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

// status returns the program of the last status line of ours, "" without one.
func (d *document) status() (program string) {
	for _, m := range d.members() {
		if words := statusWords(m.value); m.name == "statusLine" && ownStatus(words) {
			program = words[0]
		}
	}
	return program
}

// dropStatus takes every status line of ours out, or puts back what it wraps.
func (d *document) dropStatus() {
	for i, m := range slices.Backward(d.members()) {
		words := statusWords(m.value)
		if m.name != "statusLine" || !ownStatus(words) {
			continue
		}
		if other := wrapped(words); other != nil {
			member(m.value, "command").Value = hujson.String(*other)
		} else {
			cut(&d.file, i)
		}
	}
}
