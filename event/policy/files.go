package policy

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/tidwall/gjson"
)

// File modes: a policy's own files are private to the user.
const (
	dirMode  = 0o700
	fileMode = 0o600
	maxFile  = 1 << 20 // a policy file; real ones are a few kilobytes
)

// Name is the policy file's name, in both places.
const Name = "policy.json"

// ProjectFile returns where a project has its policy.
func ProjectFile(dir string) string { return filepath.Join(dir, ".beckon", Name) }

// ProjectOf is the project whose policy file is at path.
func ProjectOf(path string) string { return filepath.Dir(filepath.Dir(path)) }

// Dir is the policy's own part of the state directory.
type Dir string

func (d Dir) path(elem ...string) string {
	return filepath.Join(append([]string{string(d)}, elem...)...)
}

// write replaces a file as a whole.
func (d Dir) write(data []byte, elem ...string) error {
	to := d.path(elem...)
	if err := os.MkdirAll(filepath.Dir(to), dirMode); err != nil {
		return err
	}
	f, err := os.CreateTemp(filepath.Dir(to), ".new-*") // 0600
	if err != nil {
		return err
	}
	_, err = f.Write(data)
	if err = errors.Join(err, f.Close()); err == nil {
		err = os.Rename(f.Name(), to)
	}
	if err != nil {
		_ = os.Remove(f.Name())
	}
	return err
}

// readFile reads a policy file. What is no regular file is refused before it
// is opened: a FIFO would hold the agent.
func readFile(path string) ([]byte, error) {
	info, err := os.Stat(path)
	switch {
	case err != nil:
		return nil, err
	case !info.Mode().IsRegular():
		return nil, errors.New("not a regular file")
	case info.Size() > maxFile:
		return nil, fmt.Errorf("larger than %d bytes", maxFile)
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return io.ReadAll(io.LimitReader(f, maxFile))
}

// copied is a policy file as it was when it was trusted, or last in order.
type copied struct {
	Path   string    `json:"path"`
	SHA256 string    `json:"sha256"`
	At     time.Time `json:"at"`
	Text   string    `json:"text"`
}

func sumOf(data []byte) string {
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:])
}

// Where copies are kept.
const (
	trustDir = "trust" // of project files: what the user trusts
	goodDir  = "good"  // of the global file: the last that could be read
)

func copyName(path string) string { return sumOf([]byte(path))[:16] + ".json" }

// copyOf reads the copy of the file at path; nil when there is none, or none
// that can be believed.
func (d Dir) copyOf(dir, path string) *copied {
	data, err := os.ReadFile(d.path(dir, copyName(path)))
	var c copied
	if err != nil || json.Unmarshal(data, &c) != nil || c.Path != path || sumOf([]byte(c.Text)) != c.SHA256 {
		return nil
	}
	return &c
}

// Trusts reports whether the user trusts the project's policy file at path, as
// it is or as it was.
func (d Dir) Trusts(path string) bool { return d.copyOf(trustDir, path) != nil }

// hasCopy reports whether the copy of the file at path is data. It is asked at
// every hook, so it reads no more of the copy than it needs.
func (d Dir) hasCopy(dir, path string, data []byte) bool {
	b, err := os.ReadFile(d.path(dir, copyName(path)))
	return err == nil && gjson.GetBytes(b, "sha256").Str == sumOf(data) && gjson.GetBytes(b, "text").Str == string(data)
}

func (d Dir) keepCopy(dir, path string, data []byte, now time.Time) error {
	b, err := json.Marshal(copied{path, sumOf(data), now.UTC(), string(data)})
	if err != nil {
		return err
	}
	return d.write(append(b, '\n'), dir, copyName(path))
}

// Speak keeps which events the policies speak of, for the program that looks
// there before it starts this one. The name is its own; an empty text is not
// kept, and takes back what is there.
func (d Dir) Speak(name, text string) error {
	if now, err := os.ReadFile(d.path(name)); err == nil && string(now) == text || err != nil && text == "" {
		return nil
	}
	if text != "" {
		return d.write([]byte(text), name)
	}
	if err := os.Remove(d.path(name)); !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

// unspeak takes all of that back: what the user trusts has changed.
func (d Dir) unspeak() error { return os.RemoveAll(d.path("speaks")) }

// disabledFile lists the hooks that the user switched off, by name.
const disabledFile = "disabled.json"

// Disabled returns the names of the hooks that are switched off.
func (d Dir) Disabled() (map[string]bool, error) {
	data, err := os.ReadFile(d.path(disabledFile))
	if errors.Is(err, fs.ErrNotExist) {
		return map[string]bool{}, nil
	}
	if err != nil {
		return nil, err
	}
	var list []string
	if err := json.Unmarshal(data, &list); err != nil {
		return nil, fmt.Errorf("reading %s: %w", d.path(disabledFile), err)
	}
	out := map[string]bool{}
	for _, name := range list {
		out[name] = true
	}
	return out, nil
}

// Switch turns the hook of that name off or on again.
func (d Dir) Switch(name string, on bool) error {
	off, err := d.Disabled()
	if err != nil {
		return err
	}
	if on {
		delete(off, name)
	} else {
		off[name] = true
	}
	b, err := json.Marshal(names(off))
	if err != nil {
		return err
	}
	return d.write(append(b, '\n'), disabledFile)
}
