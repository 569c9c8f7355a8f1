package trust

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"beckon/event/plainfile"
)

// The directories of copies.
const (
	Trusted = "trust" // of a project's file: the version that the user trusts
	Good    = "good"  // of the global file: the last valid, or accepted, version
)

// Copy is a policy file as it was when it was trusted, or last valid.
type Copy struct {
	Path   string `json:"path"`
	SHA256 string `json:"sha256"`
	Text   string `json:"text"`
	// Scripts are the files in the project that the policy's commands name, with their hashes.
	Scripts map[string]string `json:"scripts,omitempty"`
}

func copyName(path string) string { return Sum(path)[:16] + ".json" }

// Copy reads the copy of the file at path; nil if there is none that can be trusted.
func (d Dir) Copy(dir, path string) *Copy {
	var c Copy
	if json.Unmarshal(d.Read(dir, copyName(path)), &c) != nil || c.Path != path || Sum(c.Text) != c.SHA256 {
		return nil
	}
	return &c
}

// HasCopy reports whether there is a copy of the file at path, valid or not.
func (d Dir) HasCopy(dir, path string) bool { return path != "" && d.has(dir, copyName(path)) }

// Keep replaces the copy of the file at path.
func (d Dir) Keep(dir, path string, data []byte, scripts map[string]string) error {
	b, _ := json.Marshal(Copy{path, Sum(data), string(data), scripts}) // texts
	const sync = true                                                  // a policy must outlive a power cut
	return plainfile.Write(d.Path(dir, copyName(path)), append(b, '\n'), fileMode, sync)
}

// Drop removes the copy of the file at path.
func (d Dir) Drop(dir, path string) error { return d.Remove(dir, copyName(path)) }

// maxFile is the size limit of a policy file; real ones have a few kilobytes.
const maxFile = 4 << 20

// ErrEmpty is returned for an empty policy file: a policy without hooks is {}.
var ErrEmpty = errors.New("the file is empty; a policy that wants nothing is {}")

// ReadFile reads a policy file, which must be a regular one: a FIFO would block the agent. A file that is
// being written is read again, and refused if it goes on changing. An empty one is ErrEmpty.
func ReadFile(path string) ([]byte, error) { return readWith(path, plainfile.ReadFile) }

func readWith(path string, read func(string) ([]byte, error)) ([]byte, error) {
	const tries, pause = 4, 5 * time.Millisecond
	for try := range tries {
		before, _ := plainfile.VersionOf(path)
		if before.Size > maxFile {
			return nil, fmt.Errorf("it is larger than %d bytes", maxFile)
		}
		data, err := read(path)
		after, there := plainfile.VersionOf(path)
		switch {
		case there && (after != before || after.Young(pause) && try < tries-1):
			time.Sleep(pause)
			continue
		case err == nil && strings.TrimSpace(string(data)) == "":
			err = ErrEmpty
		}
		return data, err
	}
	return nil, errors.New("it changes while it is read")
}

// Scripts returns the hashes of the files in a project that texts name, by their paths as written.
func Scripts(project string, texts []string) map[string]string {
	found := map[string]string{}
	ends := func(r rune) bool { return strings.ContainsRune(" \t\n;|&()<>='\"`", r) }
	vars := strings.NewReplacer("${CLAUDE_PROJECT_DIR}", project, "$CLAUDE_PROJECT_DIR", project, "$PROJECT_DIR", project)
	for _, text := range texts {
		for _, name := range strings.FieldsFunc(text, ends) {
			in := vars.Replace(name)
			if !filepath.IsAbs(in) {
				in = filepath.Join(project, in)
			}
			if rel, err := filepath.Rel(project, in); err != nil || rel == "." || strings.HasPrefix(rel, "..") {
				continue
			}
			if f, err := plainfile.Open(in, os.O_RDONLY, 0); err == nil {
				if data, err := io.ReadAll(io.LimitReader(f, maxFile+1)); err == nil {
					found[name] = Sum(data)
				}
				_ = f.Close()
			}
		}
	}
	return found
}

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
	newest   int64 // when the newer one was written, in Unix ns
}

// CoverageOf reads the versions of the two files. place is what else rules depend on.
func CoverageOf(global, project, place string) Coverage {
	c := Coverage{name: Sum(global + "\x00" + project)[:16], versions: strconv.Quote(place) + "\n"}
	c.add(global)
	c.add(project)
	return c
}

// coverageVersion changes whenever something else would be written for the same files.
const coverageVersion = "8"

// add adds what distinguishes versions of a file; "?" if nothing does.
func (c *Coverage) add(path string) {
	version := "?"
	if s, there := plainfile.VersionOf(path); there {
		c.newest = max(c.newest, s.Time)
		version = fmt.Sprint(s)
	} else if _, err := os.Stat(path); os.IsNotExist(err) {
		version = "-"
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
	return min(Needs(line[0]-'0'), Starts), []byte(index)
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
	if strings.Contains(c.versions, "\t?\n") || now.Sub(time.Unix(0, c.newest)) < settled {
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
