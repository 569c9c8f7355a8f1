package trust

import (
	"maps"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"beckon/event/plainfile"
)

// coverageDir has a file for each pair of policy files (the global one and a project's) with the events
// that they cover, so that an event that no hook is for costs nothing. While there is something to
// tell the user the file is missing, and every event is evaluated in full.
const coverageDir = "covers"

// Needs is what a policy needs to answer an event.
type Needs uint8

// The needs.
const (
	Unknown Needs = iota
	None          // no hook is for the event
	Rules         // only rules are
	Starts        // something must be started: a command, a request
)

// Coverage is what a pair of policy files covers, as long as the files do not change.
type Coverage struct {
	name     string // of the file in coverageDir
	versions string
	newest   time.Time
}

// CoverageOf reads the versions of the two files. place is what else rules depend on.
func CoverageOf(global, project, place string) Coverage {
	c := Coverage{name: Sum(global + "\x00" + project)[:16], versions: strconv.Quote(place) + "\n"}
	c.add(global)
	c.add(project)
	return c
}

// coverageVersion changes whenever something else would be written for the same files.
const coverageVersion = "7"

// oldest is 2000-01-01: an older file is of a tool that gives all files one time, like Nix.
const oldest = 946684800

// add adds what distinguishes versions of a file; "?" if nothing does.
func (c *Coverage) add(path string) {
	version := "?"
	s, there := plainfile.VersionOf(path)
	at := time.Unix(0, s.Time)
	switch {
	case there && at.Unix() >= oldest:
		if at.After(c.newest) {
			c.newest = at
		}
		version = ""
		for _, n := range []int64{s.Time, s.Size, s.Changed, int64(s.Inode)} {
			version += strconv.FormatInt(n, 10) + "\t"
		}
	case !there:
		if _, err := os.Stat(path); os.IsNotExist(err) {
			version = "-"
		}
	}
	c.versions += path + "\t" + version + "\n"
}

// end is the last line: a file without it is incomplete.
const end = "end\n"

func (c Coverage) head() string { return coverageVersion + "\n" + c.versions }

// Of returns what an event needs, and the rules for tool calls.
func (c Coverage) Of(d Dir, event string) (needs Needs, rules []byte) {
	text, known := strings.CutPrefix(string(d.Read(coverageDir, c.name)), c.head())
	text, whole := strings.CutSuffix(text, end)
	events, index, apart := strings.Cut("\n"+text, "\n\n")
	if !known || !whole || !apart || event == "" {
		return Unknown, nil
	}
	_, line, there := strings.Cut(events+"\n", "\n"+event+" ")
	if !there {
		return None, nil
	}
	v, err := strconv.Atoi(line[:strings.IndexByte(line, '\n')])
	if err != nil || v > int(Starts) {
		return Unknown, nil
	}
	return Needs(v), []byte(index)
}

// settled is how long a policy file must have been unchanged: timestamps are coarse.
const settled = 2 * time.Second

// Cover stores what the policies cover, if something must be written; nil removes it. It is what each event
// needs, and the rules for tool calls, as package rule flattens them; nil if they do not decide alone.
func (d Dir) Cover(c Coverage, is func() (map[string]Needs, []byte), now time.Time) error {
	if d == "" || c.name == "" {
		return nil // a panic came before they were known: never write to the agent's directory
	}
	before := string(d.Read(coverageDir, c.name))
	if is == nil {
		return d.Remove(coverageDir, c.name)
	}
	if strings.HasPrefix(before, c.head()) && strings.HasSuffix(before, end) {
		return nil // the same files cover the same events
	}
	if strings.Contains(c.versions, "\t?\n") || now.Sub(c.newest) < settled {
		return d.Remove(coverageDir, c.name)
	}
	text := c.head()
	events, rules := is()
	for _, name := range slices.Sorted(maps.Keys(events)) {
		text += name + " " + strconv.Itoa(int(events[name])) + "\n"
	}
	return d.Write([]byte(text+"\n"+string(rules)+end), coverageDir, c.name)
}

// Uncover removes all of it, because what the user trusts has changed.
func (d Dir) Uncover() error { return os.RemoveAll(d.Path(coverageDir)) }
