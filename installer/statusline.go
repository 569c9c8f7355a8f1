package installer

import (
	"bytes"
	"encoding/json"
	"path"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/tailscale/hujson"
)

// The client has one status line. If there is one already, ours runs it and adds to it: its
// command becomes an argument of ours, from which remove restores it as it was. Nothing else
// about it changes.

// statusRefresh is how often the client runs our status line while nothing happens in its
// session, in seconds, to show what happens in the others. Clients that do not know the
// setting ignore it.
const statusRefresh = 5

// statusLine is a "statusLine" member of the settings.
type statusLine struct {
	at      int           // index in the root
	value   hujson.Value  // of the member
	command *hujson.Value // its "command"; nil if that is missing, or no string
	kind    string        // its "type"
	words   []string      // of the command; nil if it is more than one program
}

// statusLines returns the members of that name; the client reads the last one.
func (d *document) statusLines() []statusLine {
	var all []statusLine
	for i, m := range d.root.Members {
		if stringValue(m.Name) != "statusLine" {
			continue
		}
		s := statusLine{at: i, value: m.Value}
		if obj, ok := m.Value.Value.(*hujson.Object); ok {
			for i, f := range obj.Members {
				switch stringValue(f.Name) {
				case "type":
					s.kind = stringValue(f.Value)
				case "command":
					s.command = &obj.Members[i].Value
				}
			}
		}
		if s.command != nil && s.command.Value.Kind() != '"' {
			s.command = nil
		}
		if s.command != nil {
			s.words = plainCommand(shellCommands(stringValue(*s.command)))
		}
		all = append(all, s)
	}
	return all
}

// statusPrograms are our programs that print a status line; earlier versions wrote beckon-line.
var statusPrograms = []string{"beckon", "beckon-hook", "beckon-line"}

// own reports whether the status line runs beckon.
func (s statusLine) own() bool {
	return len(s.words) > 1 && slices.Contains(statusPrograms, programName(s.words[0])) && s.words[1] == "statusline"
}

// wrapped returns the literal of the command that ours runs first, as it was in the file.
func (s statusLine) wrapped() (literal hujson.Literal, ok bool) {
	for i := 2; i < len(s.words); i++ {
		name, value, has := strings.Cut(s.words[i], "=")
		if !has && i+1 < len(s.words) {
			value = s.words[i+1]
		}
		switch {
		case name == "--wrap":
			return hujson.String(value), true
		case name == "--wrap-json" && json.Valid([]byte(value)) && strings.HasPrefix(value, `"`):
			return hujson.Literal(value), true
		}
	}
	return nil, false
}

// statusCommand returns our command line, which first runs the one in literal, if any. A
// literal that cannot be restored from its value (usually one with unneeded JSON escapes) is
// passed unchanged.
func statusCommand(program string, literal hujson.Literal) string {
	command := quote(slashed(program)) + " statusline"
	if literal == nil {
		return command
	}
	var value string
	_ = json.Unmarshal(literal, &value) // a string of a checked document
	plain := command + " --wrap " + quote(value)
	back := statusLine{words: plainCommand(shellCommands(plain))}
	if got, _ := back.wrapped(); back.own() && bytes.Equal(got, literal) {
		return plain
	}
	return command + " --wrap-json " + quote(string(literal))
}

// ensureStatus makes beckon at program the status line, wrapping the one that is there.
func (d *document) ensureStatus(program string) error {
	all := d.statusLines()
	if len(all) == 0 {
		d.layout().put(d.root, "statusLine", struct {
			Type            string `json:"type"`
			Command         string `json:"command"`
			RefreshInterval int    `json:"refreshInterval"`
		}{"command", statusCommand(program, nil), statusRefresh}, 0)
		return nil
	}
	s := all[0]
	if s.command == nil || s.kind != "command" {
		return problemAt(d.text, s.value.StartOffset, "statusLine", "not a command", "correct it, or install without --statusline")
	}
	literal, _ := s.command.Value.(hujson.Literal)
	if !utf8.Valid(literal) { // no string of ours could give it back
		return problemAt(d.text, s.value.StartOffset, "statusLine", "not UTF-8", "correct it, or install without --statusline")
	}
	if s.own() {
		if s.words[0] == slashed(program) {
			return nil
		}
		literal, _ = s.wrapped()
		if path.Dir(s.words[0]) == path.Dir(slashed(program)) && stringValue(*s.command) != statusCommand(s.words[0], literal) {
			return nil // changed by the user since; either program does
		}
	}
	s.command.Value = hujson.String(statusCommand(program, literal))
	return nil
}

// dropStatus takes every status line of ours out, or puts back what it wraps.
func (d *document) dropStatus() {
	for {
		own, found := d.ownStatus()
		if !found {
			return
		}
		if literal, wraps := own.wrapped(); wraps {
			own.command.Value = literal
			continue
		}
		at := -1
		filter(d.root, func(*hujson.ObjectMember) bool { at++; return at != own.at })
	}
}

// ownStatus is the first status line of ours.
func (d *document) ownStatus() (statusLine, bool) {
	for _, s := range d.statusLines() {
		if s.own() {
			return s, true
		}
	}
	return statusLine{}, false
}
