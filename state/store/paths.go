// Package store keeps sessions in files.
//
// It guarantees: a reader always sees a whole session file; an event that
// Fold acknowledged is in the journal and survives a kill at any point; the
// session file equals the fold of its journal; two processes never fold one
// session at once. It does not sync to disk: after a power cut the newest
// events may be gone, and the next event heals the session.
package store

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"strings"

	"beckon/state"
)

// File modes: what agents say is private to the user.
const (
	dirMode  = 0o700
	fileMode = 0o600
)

// Store is the state directory. Its methods are safe for concurrent use by
// any number of processes.
type Store struct {
	Dir string
	// Texts is how much is kept of what is said from now on; empty means all.
	Texts Texts
}

// Dir returns the state directory: $BECKON_STATE_DIR, else
// $XDG_STATE_HOME/beckon, else ~/.local/state/beckon (Windows:
// %LocalAppData%\beckon). A relative value of the first two is not used.
func Dir(getenv func(string) string) (string, error) {
	if d := getenv("BECKON_STATE_DIR"); filepath.IsAbs(d) {
		return filepath.Clean(d), nil
	}
	if d := getenv("XDG_STATE_HOME"); filepath.IsAbs(d) {
		return filepath.Join(d, "beckon"), nil
	}
	if runtime.GOOS == "windows" {
		if d := getenv("LocalAppData"); d != "" {
			return filepath.Join(d, "beckon"), nil
		}
	}
	home := getenv("HOME")
	if home == "" && runtime.GOOS == "windows" {
		home = getenv("USERPROFILE")
	}
	if !filepath.IsAbs(home) {
		return "", errors.New("finding the state directory: HOME is not set")
	}
	return filepath.Join(home, ".local", "state", "beckon"), nil
}

// Open returns the store in dir. Nothing is created until something is
// written.
func Open(dir string) *Store { return &Store{Dir: dir} }

// Key names a session's files.
type Key string

// KeyOf returns the key of a record (state.Session.Record): a session id is
// itself when it is a plain name of at most 128 characters, else the hex of its
// SHA-256, so that no id leaves the directory; a part follows it.
func KeyOf(record string) Key {
	if plain(record) && !device(record) { // nearly always
		return Key(record)
	}
	if id, part, ok := cutPart(record); ok {
		return KeyOf(id).part(part)
	}
	sum := sha256.Sum256([]byte(record))
	return Key(hex.EncodeToString(sum[:]))
}

// partLen is the length of a part's name, in hex digits.
const partLen = 12

// part returns the key of a part of the session k.
func (k Key) part(part string) Key { return Key(state.Record(string(k), part)) }

// cutPart takes the part off a record or key.
func cutPart(record string) (id, part string, ok bool) {
	i := len(record) - partLen - 1
	if i < 1 || record[i] != '~' || !plain(record[i+1:]) {
		return record, "", false
	}
	return record[:i], record[i+1:], true
}

// isKey reports whether name may be a key.
func isKey(name string) bool {
	id, _, _ := cutPart(name)
	return plain(id)
}

func plain(id string) bool {
	if id == "" || len(id) > 128 {
		return false
	}
	for i := 0; i < len(id); i++ {
		c := id[i]
		ok := c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c == '_' || c == '-'
		if !ok {
			return false
		}
	}
	return true
}

// device reports whether Windows takes id, with any ending, for a device. The
// answer is the same everywhere, since a directory may be shared.
func device(id string) bool {
	if len(id) != 3 && len(id) != 4 {
		return false
	}
	switch name := strings.ToLower(id); name[:3] {
	case "con", "prn", "aux", "nul":
		return len(name) == 3
	case "com", "lpt":
		return len(name) == 4 && '0' <= name[3] && name[3] <= '9'
	}
	return false
}

// The directories of the store.
const (
	sessionsDir   = "sessions"
	journalDir    = "journal"
	meterDir      = "meter"
	archiveDir    = "archive"
	seatsDir      = "seats"
	locksDir      = "locks"
	spoolDir      = "spool"
	tmpDir        = "tmp"
	logDir        = "log"
	toldDir       = "told"
	quarantineDir = "quarantine"
)

func (st *Store) path(dir string, name string) string {
	return st.Dir + string(filepath.Separator) + dir + string(filepath.Separator) + name
}

func (st *Store) session(k Key) string  { return st.path(sessionsDir, string(k)+".json") }
func (st *Store) archived(k Key) string { return st.path(archiveDir, string(k)+".json") }
func (st *Store) journal(k Key) string  { return st.path(journalDir, string(k)+".jsonl") }
func (st *Store) lockFile(k Key) string { return st.path(locksDir, string(k)+".lock") }

// SessionsDir is the directory to watch for changes. That a file was made or
// moved away there only says that it is worth a look: one that is replaced may
// show as both, in either order.
func (st *Store) SessionsDir() string { return filepath.Join(st.Dir, sessionsDir) }

// LogFile is where errors of hooks go.
func (st *Store) LogFile() string { return st.path(logDir, "beckon.log") }

// make creates the directories that every fold writes to.
func (st *Store) make() error {
	for _, d := range [...]string{sessionsDir, journalDir, locksDir, tmpDir} {
		if err := os.MkdirAll(st.path(d, ""), dirMode); err != nil {
			return err
		}
	}
	return nil
}
