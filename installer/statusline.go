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

// statusRefresh is how often the client runs our status line while nothing happens in its
// session, in seconds, to show what happens in the others. Clients that do not know the
// setting ignore it.
const statusRefresh = 5

// statusLine is a "statusLine" member of the settings.
type statusLine struct {
	at      int           // index in the root
	value   *hujson.Value // of the member
	command *hujson.Value // its "command"; nil if that is missing, or no string
	words   []string      // of the command; nil if it is more than one program
}

// statusLines returns the members of that name; the client reads the last one.
func (d *document) statusLines() (all []statusLine) {
	for i, m := range d.members() {
		if m.name != "statusLine" {
			continue
		}
		s := statusLine{at: i, value: m.value}
		if c := member(m.value, "command"); c != nil && c.Value.Kind() == '"' {
			s.command, s.words = c, plainCommand(stringValue(*c))
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

// wrapped returns the literal of the command that ours runs first; nil if there is none.
func (s statusLine) wrapped() hujson.Literal {
	for i := 2; i < len(s.words); i++ {
		name, value, has := strings.Cut(s.words[i], "=")
		if !has && i+1 < len(s.words) {
			value = s.words[i+1]
		}
		switch {
		case name == "--wrap":
			return hujson.String(value)
		case name == "--wrap-json" && json.Valid([]byte(value)) && strings.HasPrefix(value, `"`):
			return hujson.Literal(value)
		}
	}
	return nil
}

// statusCommand returns our command line, which first runs the one in literal, if any. A literal
// that cannot be restored from its value (usually one with unneeded JSON escapes) is passed as it
// is.
func statusCommand(program string, literal hujson.Literal) string {
	command := quote(slashed(program)) + " statusline"
	if literal == nil {
		return command
	}
	value := literal.String()
	if string(hujson.String(value)) != string(literal) || strings.ContainsRune(value, 0) {
		return command + " --wrap-json " + quote(string(literal))
	}
	return command + " --wrap " + quote(value)
}

// editStatus makes beckon the status line, wrapping the one that is there, or removes it.
func (d *document) editStatus(want Spec) error {
	if want.NoStatusLine {
		d.dropStatus()
		return nil
	}
	all := d.statusLines()
	switch {
	case want.StatusLine == "":
		return nil
	case len(all) == 0:
		d.put(&d.file, "statusLine", struct {
			Type            string `json:"type"`
			Command         string `json:"command"`
			RefreshInterval int    `json:"refreshInterval"`
		}{"command", statusCommand(want.StatusLine, nil), statusRefresh}, 0)
		return nil
	}
	s := all[0]
	refuse := func(what string) error {
		return problemAt(d.text, s.value.StartOffset, "statusLine", what, "correct it, or install without --statusline")
	}
	if kind := member(s.value, "type"); s.command == nil || kind == nil || stringValue(*kind) != "command" {
		return refuse("not a command")
	}
	literal, _ := s.command.Value.(hujson.Literal)
	if !utf8.Valid(literal) { // no string of ours could give it back
		return refuse("not UTF-8")
	}
	if s.own() {
		is, of := s.words[0], slashed(want.StatusLine)
		literal = s.wrapped()
		if is == of || path.Dir(is) == path.Dir(of) && stringValue(*s.command) != statusCommand(is, literal) {
			return nil // as it should be, or changed by the user since: either program does
		}
	}
	s.command.Value = hujson.String(statusCommand(want.StatusLine, literal))
	return nil
}

// dropStatus takes every status line of ours out, or puts back what it wraps.
func (d *document) dropStatus() {
	for own, found := d.ownStatus(); found; own, found = d.ownStatus() {
		if literal := own.wrapped(); literal != nil {
			own.command.Value = literal
		} else {
			cut(&d.file, own.at)
		}
	}
}

// ownStatus is the first status line of ours.
func (d *document) ownStatus() (statusLine, bool) {
	all := d.statusLines()
	if i := slices.IndexFunc(all, statusLine.own); i >= 0 {
		return all[i], true
	}
	return statusLine{}, false
}
