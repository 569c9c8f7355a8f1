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

	"github.com/tidwall/gjson"
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

// HasCopy reports whether there is a copy of the file at path, valid or not. It costs one stat
// call.
func (d Dir) HasCopy(k Kind, path string) bool {
	if path == "" {
		return false
	}
	_, err := os.Lstat(d.Path(string(k), copyName(path)))
	return err == nil
}

// Holds reports whether the copy of the file at path equals data. Every hook calls it, so it
// reads no more of the copy than it needs.
func (d Dir) Holds(k Kind, path string, data []byte) bool {
	b := d.Read(string(k), copyName(path))
	return gjson.GetBytes(b, "sha256").Str == Sum(data) && gjson.GetBytes(b, "text").Str == string(data)
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

// ReadFile reads a policy file. Anything but a regular file is refused before it is opened: a
// FIFO would block the agent.
//
// Errors: fs.ErrNotExist, ErrEmpty, and those of the file system.
func ReadFile(path string) ([]byte, error) {
	info, err := os.Stat(path)
	switch {
	case err != nil:
		return nil, err
	case !info.Mode().IsRegular():
		return nil, errors.New("it is not a regular file")
	}
	data, err := readAll(path)
	switch {
	case err != nil:
		return nil, err
	case len(data) > maxFile:
		return nil, fmt.Errorf("it is larger than %d bytes", maxFile)
	case strings.TrimSpace(string(data)) == "":
		return nil, ErrEmpty
	}
	return data, nil
}

func readAll(path string) ([]byte, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return io.ReadAll(io.LimitReader(f, maxFile+1))
}

// Changing reports whether the file at path, or what is there instead, was written a moment
// ago, so that the writer may not be done.
func Changing(path string, now time.Time) bool {
	const moment = 2 * time.Second
	info, err := os.Stat(path)
	if err != nil {
		info, err = os.Stat(filepath.Dir(path))
	}
	return err == nil && now.Sub(info.ModTime()).Abs() < moment
}

// Scripts returns the hashes of the files in a project that a command's texts name, by their
// paths as written.
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
			if info, err := os.Stat(in); err == nil && info.Mode().IsRegular() {
				if data, err := readAll(in); err == nil {
					found[name] = Sum(data)
				}
			}
		}
	}
	return found
}
