package trust

import (
	"os"
	"strconv"
	"strings"
	"time"
)

// speaksDir has a file for each pair of policy files (the global one and a
// project's) with the events that they speak of, so that an event of which
// nobody speaks costs what it costs without a policy. Whoever answers writes it
// when all is well: as long as there is something to tell the user it is not
// there, and every event goes the long way.
const speaksDir = "speaks"

// Voice is what a policy has for an event.
type Voice uint8

// The voices.
const (
	Unknown Voice = iota
	Nothing       // nobody speaks of the event
	Rules         // only rules do
	Starts        // something must be started: a command, a question
)

// Speaks is what a pair of policy files speaks of, as far as their stamps are
// what they were.
type Speaks struct {
	name   string // of the file in speaksDir
	stamps string
	newest time.Time
}

// SpeaksOf looks at the two files as they are now.
func SpeaksOf(global, project string) Speaks {
	s := Speaks{name: nameOf(global + "\x00" + project)}
	s.stamp(global)
	s.stamp(project)
	return s
}

// speaksVersion is another one whenever other events would be written for the
// same files.
const speaksVersion = "2"

// oldest is 2000-01-01: what is older was put there by a tool that gives all
// files one time (Nix, ostree), and its next version has the same.
const oldest = 946684800

// stamp adds what tells one version of a file from another.
func (s *Speaks) stamp(path string) {
	s.stamps += path + "\t"
	info, err := os.Stat(path)
	switch {
	case err == nil && info.ModTime().Unix() < oldest:
		s.stamps += "?"
	case err == nil:
		at := info.ModTime()
		if at.After(s.newest) {
			s.newest = at
		}
		s.stamps += strconv.FormatInt(at.UnixNano(), 10) + "\t" + strconv.FormatInt(info.Size(), 10)
	case os.IsNotExist(err):
		s.stamps += "-"
	default:
		s.stamps += "?" // no file is written for it
	}
	s.stamps += "\n"
}

// text is the file's content. It is empty when it must not be written: a
// policy file that has just changed may change again within the same tick of
// its clock.
func (s Speaks) text(events map[string]Voice, now time.Time) string {
	const settled = 2 * time.Second
	if strings.Contains(s.stamps, "\t?\n") || now.Sub(s.newest) < settled {
		return ""
	}
	out := s.head()
	for name, v := range events {
		out += name + " " + strconv.Itoa(int(v)) + "\n"
	}
	return out
}

func (s Speaks) head() string { return speaksVersion + "\n" + s.stamps }

// Of returns what is known to be there for an event.
func (s Speaks) Of(d Dir, event string) Voice {
	text, known := strings.CutPrefix(string(d.Read(speaksDir, s.name)), s.head())
	if !known || event == "" || text != "" && !strings.HasSuffix(text, "\n") {
		return Unknown
	}
	_, line, there := strings.Cut("\n"+text, "\n"+event+" ")
	if !there {
		return Nothing
	}
	v, err := strconv.Atoi(line[:strings.IndexByte(line, '\n')])
	if err != nil || v > int(Starts) {
		return Unknown
	}
	return Voice(v)
}

// Speak keeps what the policies have for each event; nil takes back what is
// there.
func (d Dir) Speak(s Speaks, events map[string]Voice, now time.Time) error {
	if d == "" || s.name == "" {
		return nil // a fault came before they were known: never a file in the agent's directory
	}
	text := ""
	if events != nil {
		text = s.text(events, now)
	}
	if text == "" {
		return d.Remove(speaksDir, s.name)
	}
	if before := string(d.Read(speaksDir, s.name)); len(before) == len(text) && strings.HasPrefix(before, s.head()) {
		return nil // the same files speak of the same events
	}
	return d.Write([]byte(text), speaksDir, s.name)
}

// Unspeak takes all of that back: what the user trusts has changed.
func (d Dir) Unspeak() error { return os.RemoveAll(d.Path(speaksDir)) }

// nameOf is the FNV-1a hash of a text: two texts of one hash would only
// overwrite each other's file.
func nameOf(text string) string {
	h := uint64(14695981039346656037)
	for i := range len(text) {
		h = (h ^ uint64(text[i])) * 1099511628211
	}
	return strconv.FormatUint(h, 16)
}
