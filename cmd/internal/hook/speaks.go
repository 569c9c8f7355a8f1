package hook

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

// speaksDir has a file for each pair of policy files (the global one and a
// project's) with the events that they speak of, so that an event of which
// nobody speaks costs what it costs without a policy. `beckon hook` writes it
// when all is well: as long as there is something to tell the user it is not
// there, and every event goes the long way.
const speaksDir = "speaks"

// Speaks is what a pair of policy files speaks of, as far as their stamps are
// what they were.
type Speaks struct {
	Name   string // of the file in policy/speaks of the state directory
	stamps string
	newest time.Time
}

// SpeaksOf looks at the two files as they are now.
func SpeaksOf(getenv func(string) string) Speaks {
	global, project := PolicyFiles(getenv)
	s := Speaks{Name: filepath.Join(speaksDir, nameOf(global+"\x00"+project))}
	s.stamp(global)
	s.stamp(project)
	return s
}

// speaksVersion is another one whenever other events would be written for the
// same files.
const speaksVersion = "1"

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

// Text is what the file of s has for the events. It is empty when it must not
// be written: a file that has just changed may change again within the same
// tick of its clock.
func (s Speaks) Text(events []string, now time.Time) string {
	const settled = 2 * time.Second
	if strings.Contains(s.stamps, "\t?\n") || now.Sub(s.newest) < settled {
		return ""
	}
	return s.head() + strings.Join(events, "\n") + "\n"
}

func (s Speaks) head() string { return speaksVersion + "\n" + s.stamps }

// silent reports whether it is known that the policy has nothing for an event.
func (s Speaks) silent(stateDir, event string) bool {
	text, err := os.ReadFile(filepath.Join(stateDir, "policy", s.Name))
	events, known := strings.CutPrefix(string(text), s.head())
	return err == nil && known && event != "" && strings.HasSuffix(events, "\n") && !strings.Contains("\n"+events, "\n"+event+"\n")
}

// nameOf is the FNV-1a hash of a text: two texts of one hash would only
// overwrite each other's file.
func nameOf(text string) string {
	h := uint64(14695981039346656037)
	for i := range len(text) {
		h = (h ^ uint64(text[i])) * 1099511628211
	}
	return strconv.FormatUint(h, 16)
}
