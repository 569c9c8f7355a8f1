package store

import (
	"bytes"
	"errors"
	"io/fs"
	"os"
	"strings"
	"time"

	"beckon/state"
	"beckon/state/stats"
)

// holder holds a session's lock, and the session's data while it is locked.
type holder struct {
	st    *Store
	key   Key
	lock  *lockFile
	s     state.Session
	last  int64         // the last number in history of a session that begins anew
	dir   string        // directory of the session's file; empty if there is none
	past  bool          // it was over when it was read, and still is
	dirty bool          // s is newer than its file
	late  []string      // files in late/ whose events s contains
	lines []dayLine     // history to append once the session's file is written
	aside *state.Action // to be applied after the event that begins the session
}

// acquire locks the session and reads it. After an error the lock is released.
func (h *holder) acquire(wait time.Duration) (err error) {
	if h.lock, err = h.st.lock(h.key, wait); err != nil {
		return err
	}
	if err = h.read(); err != nil {
		h.release()
	}
	h.past = over(&h.s)
	return err
}

func (h *holder) release() { h.lock.Close() }

// read reads the session's file from sessions/, or else from archive/. A file that cannot be
// read is set aside: the session begins anew. A file of a newer version is left alone.
func (h *holder) read() error {
	for _, dir := range [...]string{sessionsDir, archiveDir} {
		path := h.st.path(dir, string(h.key)+".json")
		late, err := readSession(path, &h.s)
		if err == nil {
			h.dir, h.late = dir, late
			return nil
		}
		h.s = state.Session{}
		switch {
		case errors.Is(err, fs.ErrNotExist):
		case damaged(path, err):
			if err = h.st.setAside(path); err != nil {
				return err
			}
		default:
			return err
		}
	}
	h.last = h.st.lastNumber(h.key)
	return nil
}

// errDamaged is returned for a session file that is not as it was written.
var errDamaged = errors.New("session file is damaged")

// damaged reports whether err means that path is not a session file, or one no longer.
func damaged(path string, err error) bool {
	return errors.Is(err, state.ErrNotSession) || errors.Is(err, errDamaged) || errors.Is(err, errTooLarge) ||
		errors.Is(err, errEmpty) || irregular(path)
}

// lateStart begins the member with the names of the files in late/ whose events the session
// contains.
const lateStart = `,"late":"`

// readSession reads one session file into s. After an error the contents of s are undefined.
func readSession(path string, s *state.Session) (late []string, err error) {
	buf := readBuffers.Get().(*[]byte)
	defer readBuffers.Put(buf)
	data, err := readInto(*buf, path, maxFile)
	if err != nil {
		return nil, err
	}
	*buf = data[:cap(data)]
	if err = s.DecodeJSON(data); err != nil { // copies what it keeps
		return nil, err
	}
	if !intact(data) {
		return nil, errDamaged
	}
	if i := bytes.LastIndex(data, []byte(lateStart)); i >= 0 {
		names, _, _ := strings.Cut(string(data[i+len(lateStart):]), `"`)
		late = strings.Fields(names)
	}
	return late, nil
}

// apply applies u to the session, in memory.
func (h *holder) apply(u *Update) error {
	l := Line{Key: h.key, Change: u.Change}
	l.Change.Seq = max(h.s.Seq, h.last) + 1
	if u.Elapsed != nil {
		l.Us = u.Elapsed()
	}
	after, turns := h.fold(&l)
	b := appendLine(nil, &l)
	if bytes.Contains(b, []byte("\ufffd")) {
		// Invalid UTF-8 is written as U+FFFD. What is written is applied: a copy of the event,
		// which a second install sends, is compared with what was read from the file.
		written, err := parseLine(b)
		if err != nil {
			return err
		}
		l = written
		after, turns = h.fold(&l)
	}
	if err := h.say(&l, b); err != nil {
		return err
	}
	for i := range turns {
		l := Line{Key: h.key, Change: state.Change{Seq: after.Seq + 1, At: turns[i].At, Turn: &turns[i]}}
		after = state.Apply(after, l.Change)
		if err := h.say(&l, appendLine(nil, &l)); err != nil {
			return err
		}
	}
	h.s, h.dirty = after, true
	h.past = h.past && over(&h.s)
	if a := h.aside; a != nil {
		h.aside = nil
		return h.apply(&Update{Change: state.Change{At: u.Change.At, Action: a}})
	}
	return nil
}

// fold returns the session after l, and completes l with what it counts.
func (h *holder) fold(l *Line) (state.Session, []state.Turn) {
	after, turns := state.ApplyTurns(h.s, l.Change)
	l.Count = stats.Of(&h.s, &after, l.Change)
	return after, turns
}

// home returns the directory for the session's file. A session that was over, and not in
// sessions/, stays out of the live views: a late event does not bring it back, a resume does.
func (h *holder) home() string {
	if h.dir != sessionsDir && h.past {
		return archiveDir
	}
	return sessionsDir
}

// commit writes the session's file, then its history, and removes what waited. A session that is
// live again moves from archive/ to sessions/. A kill in between leaves both files; the one in
// sessions/ is the newer.
func (h *holder) commit() error {
	if !h.dirty || h.s.Seq == 0 {
		return nil
	}
	dir := h.home()
	b := state.AppendJSON(make([]byte, 0, 4096), &h.s)
	if len(h.late) > 0 {
		b = append(b[:len(b)-1], lateStart+strings.Join(h.late, " ")+`"}`...)
	}
	if err := h.st.write(string(h.key)+".json", dir, string(h.key)+".json", seal(b)); err != nil {
		return err
	}
	if h.dir == archiveDir && dir == sessionsDir {
		_ = os.Remove(h.st.archived(h.key))
	}
	h.dir, h.dirty = dir, false
	h.st.appendHistory(h.lines)
	h.lines = nil
	h.dropLate()
	return nil
}

// over reports whether a session has ended, is lost or was removed.
func over(s *state.Session) bool {
	return s.End.At != 0 || s.Lost.At != 0 || s.Removed != 0
}
