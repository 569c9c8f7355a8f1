// Package store keeps sessions in files.
//
// It guarantees: a reader always sees a whole session file; an event that
// Fold acknowledged is in the journal and survives a kill at any point; the
// session file equals the fold of its journal; two processes never fold one
// session at once. It does not sync to disk: after a power cut the newest
// events may be gone, and the next event heals the session.
package store

import (
	"errors"
	"os"
	"path/filepath"
	"runtime"
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
	claimsDir     = "told"
	quarantineDir = "quarantine"
	cacheDir      = "cache"
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

// CacheFile is where views keep what they read of other directories' files.
func (st *Store) CacheFile(name string) string { return st.path(cacheDir, name) }

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

// Keys lists every session that has a file, live or archived, or a journal.
func (st *Store) Keys() ([]Key, error) { return st.allKeys() }
