// Package store keeps sessions in files. A session's file is the truth; nothing is ever rebuilt
// from anything else.
//
// Guaranteed: a reader sees a whole file, the old or the new one. An event that Fold accepted
// survives a kill at any point, and is in the session once. Two processes never fold one session
// at once. A damaged file is found by its checksum, moved to aside/ and reported once; a file of
// a newer version is left alone. Not guaranteed: nothing is synced, so a power cut may take the
// newest events; a kill may take a line of history; where a file system has no locks, two hooks
// of one session at the same moment may lose one event (see LockProblem); where no file can be
// made (no space, no inode), an event is lost, the session stays as it was, and the log says so.
//
//	sessions/  live sessions, one file each      archive/  the same for sessions that are over
//	late/      events that could not get in yet  aside/    files that could not be read
//	history/   what happened, one file a day     locks/    a lock for each session
//	meter/     what status lines reported        told/     what the user was notified of
//	tmp/       files being written               log/      errors, and why the user was notified
//
// An event's path:
//
//	1 lock locks/S   -- not free in time --> late/S/, done
//	2 read sessions/S.json (damaged: aside/, and begin anew)
//	3 apply what waits in late/S/, in order
//	4 apply the event
//	5 write tmp/S.json, rename it to sessions/S.json
//	6 append to history/DAY.jsonl, remove what waited, unlock
package store

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"path/filepath"
	"runtime"
	"strings"

	"beckon/event/home"
	"beckon/state"
)

// File modes: what agents say is private to the user.
const (
	dirMode  = 0o700
	fileMode = 0o600
)

// Store is the state directory, for any number of processes.
type Store struct {
	Dir string
	// NoTexts is the setting "texts": "off": no text of the user or the agent is kept. Directories, branches
	// and counts are.
	NoTexts bool
}

// Dir returns the state directory: $BECKON_STATE_DIR, $XDG_STATE_HOME/beckon, or ~/.local/state/beckon (on
// Windows %LocalAppData%\beckon). It ignores relative values of the first two.
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
	if d := home.Dir(getenv); filepath.IsAbs(d) {
		return filepath.Join(d, ".local", "state", "beckon"), nil
	}
	return "", errors.New("finding the state directory: HOME is not set")
}

// Open returns the store in dir. It creates nothing; that happens when something is written.
func Open(dir string) *Store { return &Store{Dir: dir} }

// The directories of the store.
const (
	sessionsDir = "sessions"
	archiveDir  = "archive"
	lateDir     = "late"
	asideDir    = "aside"
	historyDir  = "history"
	meterDir    = "meter"
	locksDir    = "locks"
	tmpDir      = "tmp"
	logDir      = "log"
	claimsDir   = "told"
	hostsDir    = "hosts"
)

func (st *Store) path(dir string, name string) string {
	return st.Dir + string(filepath.Separator) + dir + string(filepath.Separator) + name
}

func (st *Store) session(k Key) string  { return st.path(sessionsDir, string(k)+".json") }
func (st *Store) archived(k Key) string { return st.path(archiveDir, string(k)+".json") }
func (st *Store) lockFile(k Key) string { return st.path(locksDir, string(k)+".lock") }

// SessionsDir returns the directory to watch for changes. A file that is replaced may show as one that
// appears and one that goes, in either order.
func (st *Store) SessionsDir() string { return filepath.Join(st.Dir, sessionsDir) }

// LogFile returns the file to which hooks log errors.
func (st *Store) LogFile() string { return st.path(logDir, "beckon.log") }

// Key is the name of a session's files.
type Key string

// KeyOf returns the key of a record (state.Session.Record). A session id that is a plain name of at most
// 128 characters is its own key. Any other is replaced by its SHA-256, so that none leads out of the
// directory. A part is appended.
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

// cutPart splits a record or key into id and part.
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
	const letters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-"
	return id != "" && len(id) <= 128 && strings.Trim(id, letters) == ""
}

// device reports whether a plain id, with any extension, is a device on Windows.
func device(id string) bool {
	name := strings.ToLower(id)
	port := strings.TrimRight(name, "0123456789")
	return strings.Contains(" con prn aux nul ", " "+name+" ") || len(name) == 4 && (port == "com" || port == "lpt")
}
