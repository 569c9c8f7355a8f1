package installer

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"

	"beckon/event/plainfile"
)

// record remembers what a file was before an edit, so that it can be given back. It is kept with
// the old bytes in Target.Keep, and written before the file changes.
type record struct {
	Schema   int    `json:"schema"`
	Settings string `json:"settings"`           // the file it is about, for people
	Created  bool   `json:"created,omitempty"`  // we made the file
	MadeDir  string `json:"made_dir,omitempty"` // the outermost directory that we made for it
	Original string `json:"original,omitempty"` // SHA-256 of the old bytes
	Wrote    string `json:"wrote,omitempty"`    // SHA-256 of what we wrote; empty if somebody else edited in between
}

const recordSchema = 1

// kept are the paths that belong to one file in a Keep directory.
type kept struct{ record, backup string }

// keptFor derives the paths from the real file, so that all links to it share them.
func keptFor(keep, file string) kept {
	base := filepath.Join(keep, "settings-"+digest([]byte(file))[:12])
	return kept{base + ".record.json", base + ".backup.json"}
}

// load returns the record; a missing or unreadable one counts as none, and has at most the schema.
func (k kept) load() (r record, known bool) {
	data, err := os.ReadFile(k.record)
	if err == nil {
		err = json.Unmarshal(data, &r)
	}
	if err != nil || r.Schema != recordSchema {
		return record{Schema: r.Schema}, false
	}
	return r, true
}

// save writes the record and, unless they are nil, the old bytes.
func (k kept) save(r record, backup []byte) error {
	var err error
	if backup != nil {
		err = plainfile.Write(k.backup, backup, 0o600, true)
	}
	if err == nil {
		err = plainfile.Write(k.record, encode(r, "  "), 0o600, true)
	}
	if err != nil {
		return failed("writing", k.record, err, "")
	}
	return nil
}

// putBack makes the record what it was before a save whose file could not be written. If
// that fails as well, a record is left that fits no file.
func (k kept) putBack(before []byte) {
	if before == nil {
		_ = k.forget()
	} else {
		_ = plainfile.Write(k.record, before, 0o600, true)
	}
}

// forget removes record and old bytes.
func (k kept) forget() error {
	for _, path := range []string{k.backup, k.record} {
		if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return failed("removing", path, err, "")
		}
	}
	return nil
}

func digest(data []byte) string {
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:])
}

// Recorded returns the files with a record in keep that have hooks of ours for Claude Code.
func Recorded(keep string) (paths []string) {
	names, _ := fs.Glob(os.DirFS(keep), "settings-*.record.json")
	for _, name := range names {
		r, _ := kept{record: filepath.Join(keep, name)}.load()
		if len(readFile(r.Settings, "", nil).Entries) > 0 {
			paths = append(paths, r.Settings)
		}
	}
	return paths
}
