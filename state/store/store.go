// Package store keeps sessions in files.
//
// It guarantees: a reader always sees a whole session file; an event that Fold acknowledged is
// in the journal and survives a kill at any point; the session file equals the fold of its
// journal; two processes never fold one session at once. It does not sync to disk: after a
// power cut the newest events may be lost, and the next event heals the session.
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
	// Texts is how much of new texts is kept; empty means all.
	Texts Texts
}

// Dir returns the state directory: $BECKON_STATE_DIR, $XDG_STATE_HOME/beckon, or
// ~/.local/state/beckon (on Windows %LocalAppData%\beckon). It ignores relative values of the
// first two.
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

// Open returns the store in dir. It creates nothing; that happens when something is written.
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

// SessionsDir returns the directory to watch for changes. A file that appears there or is
// moved away only means that something may have changed: a file that is replaced may show as
// both, in either order.
func (st *Store) SessionsDir() string { return filepath.Join(st.Dir, sessionsDir) }

// CacheFile returns the file in which views cache what they read from the files of another
// directory.
func (st *Store) CacheFile(name string) string { return st.path(cacheDir, name) }

// LogFile returns the file to which hooks log errors.
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
