package trust

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"time"

	"beckon/event/plainfile"
)

// Kind says what a copy of a policy file is for, and in which directory it is.
type Kind string

// The kinds of copies.
const (
	Trusted Kind = "trust" // of a project's file: the version that the user trusts
	Good    Kind = "good"  // of the global file: the last valid, or accepted, version
)

// Copy is a policy file as it was when it was trusted, or last valid.
type Copy struct {
	Path   string    `json:"path"`
	SHA256 string    `json:"sha256"`
	At     time.Time `json:"at"`
	Text   string    `json:"text"`
	// Scripts are the files in the project that the policy's commands name, with their hashes.
	Scripts map[string]string `json:"scripts,omitempty"`
}

func copyName(path string) string { return Sum(path)[:16] + ".json" }

// Copy reads the copy of the file at path; nil if there is none that can be trusted.
func (d Dir) Copy(k Kind, path string) *Copy {
	var c Copy
	if json.Unmarshal(d.Read(string(k), copyName(path)), &c) != nil || c.Path != path || Sum(c.Text) != c.SHA256 {
		return nil
	}
	return &c
}

// HasCopy reports, by one system call, whether there is a copy of the file at path, valid or not.
func (d Dir) HasCopy(k Kind, path string) bool {
	_, err := os.Lstat(d.Path(string(k), copyName(path)))
	return err == nil && path != ""
}

// Keep replaces the copy of the file at path.
func (d Dir) Keep(k Kind, path string, data []byte, scripts map[string]string, now time.Time) error {
	b, err := json.Marshal(Copy{path, Sum(data), now.UTC(), string(data), scripts})
	if err != nil {
		return err
	}
	const sync = true // a policy must outlive a power cut
	return plainfile.Write(d.Path(string(k), copyName(path)), append(b, '\n'), fileMode, sync)
}

// Drop removes the copy of the file at path.
func (d Dir) Drop(k Kind, path string) error { return d.Remove(string(k), copyName(path)) }

// Copies returns all copies of a kind.
func (d Dir) Copies(k Kind) (list []Copy) {
	files, _ := os.ReadDir(d.Path(string(k))) // an unreadable directory counts as empty
	for _, f := range files {
		var c Copy
		if json.Unmarshal(d.Read(string(k), f.Name()), &c) == nil {
			list = append(list, c)
		}
	}
	return list
}

// maxFile is the size limit of a policy file; real ones have a few kilobytes.
const maxFile = 4 << 20

// ErrEmpty is returned for an empty policy file: a policy without hooks is {}.
var ErrEmpty = errors.New("the file is empty; a policy that wants nothing is {}")

// ReadFile reads a policy file, which must be a regular one: a FIFO would block the agent. A file that is
// being written is read again, and refused if it goes on changing.
//
// Errors: fs.ErrNotExist, ErrEmpty, and those of the file system.
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
			if f, err := plainfile.OpenReader(in, 0); err == nil {
				if data, err := io.ReadAll(io.LimitReader(f, maxFile+1)); err == nil {
					found[name] = Sum(data)
				}
				_ = f.Close()
			}
		}
	}
	return found
}
