package store

import (
	"bytes"
	"errors"
	"io"
	"io/fs"
	"os"
	"time"

	"beckon/state"
)

// holder holds a session's lock, and the session's data while it is locked.
type holder struct {
	st    *Store
	key   Key
	lock  *lockFile
	s     state.Session
	dir   string        // directory in which the session's file was found, readable or not; empty if none
	old   bool          // the session has a file in archive/
	past  bool          // it was over when it was read, and still is
	dirty bool          // s is newer than its file
	j     *os.File      // the journal, nil if there is none yet
	size  int64         // length of the journal
	buf   []byte        // reused for writing
	aside *state.Action // to be folded after the event that begins the session
}

func (h *holder) buffer() []byte {
	if h.buf == nil {
		h.buf = make([]byte, 0, 4096)
	}
	return h.buf[:0]
}

// acquire locks the session, reads it and folds the journal lines that its file lacks. After
// an error the lock is released.
func (h *holder) acquire(wait time.Duration) (err error) {
	if h.lock, err = h.st.lock(h.key, wait); err != nil {
		return err
	}
	if err = h.open(); err != nil {
		h.release()
	}
	return err
}

func (h *holder) open() error {
	if err := h.read(); err != nil {
		return err
	}
	if err := h.openJournal(); err != nil {
		return err
	}
	err := h.catchUp()
	h.past = over(&h.s)
	return err
}

// read loads the session file from sessions/, or else from archive/. A file that does not
// parse is moved to quarantine, and the session is later rebuilt in the same directory from
// its journal; a file of a newer version is left alone.
func (h *holder) read() error {
	for _, dir := range [...]string{sessionsDir, archiveDir} {
		path := h.st.path(dir, string(h.key)+".json")
		err := readSession(path, &h.s)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if h.dir == "" {
			h.dir = dir
		}
		h.old = dir == archiveDir
		if err == nil {
			return nil
		}
		switch h.dirty = true; {
		case errors.Is(err, errEmpty):
			err = os.Remove(path)
		case notOurs(path, err):
			err = h.st.quarantine(path)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// notOurs reports whether err means that path is not a session file.
func notOurs(path string, err error) bool {
	return errors.Is(err, state.ErrNotSession) || errors.Is(err, errTooLarge) || irregular(path)
}

// openJournal opens the journal if there is one. Anything else in its place is moved to
// quarantine.
func (h *holder) openJournal() error {
	path := h.st.journal(h.key)
	f, err := open(path, os.O_RDWR)
	h.size = 0
	switch {
	case err == nil:
	case errors.Is(err, fs.ErrNotExist):
		return nil
	case irregular(path):
		return h.st.quarantine(path)
	default:
		return err
	}
	if h.size, err = sizeOf(f); err != nil {
		_ = f.Close()
		return err
	}
	h.j = f
	return nil
}

func (h *holder) closeJournal() {
	if h.j != nil {
		_ = h.j.Close()
		h.j = nil
	}
}

// catchUp folds the rest of the journal into h.s and mends an incomplete last line. So a kill
// between append and rename costs nothing.
func (h *holder) catchUp() error {
	for h.size != h.s.Offset || h.j != nil && !beginsLine(h.j, h.size) {
		var t replayed
		var err error
		if h.j != nil {
			t, err = replay(h.s, h.j, h.size)
		} else {
			t = replayed{s: h.s, short: h.s.Seq > 0}
		}
		if err != nil {
			return err
		}
		if t.end < h.size {
			if whole, err := h.mendTail(t.end); err != nil {
				return err
			} else if whole {
				continue
			}
		}
		return h.adopt(t)
	}
	return nil
}

// adopt replaces the session by the replayed one.
func (h *holder) adopt(t replayed) error {
	h.s, h.dirty = t.s, true
	if t.short {
		return h.writeSnapshot() // the journal lost lines: continue from the session file
	}
	return nil
}

// mendTail deals with what follows the last whole line, which ends at end. If only the newline
// is missing (an editor removed it), mendTail adds it, and whole is true. Half a line of ours
// was left by a killed writer and never acknowledged: it is cut off. Anything else is copied
// to quarantine first.
func (h *holder) mendTail(end int64) (whole bool, err error) {
	tail := make([]byte, min(h.size-end, maxLine))
	if _, err := h.j.ReadAt(tail, end); err != nil {
		return false, err
	}
	if _, err := parseLine(tail); err == nil && int64(len(tail)) == h.size-end {
		return true, h.writeLine([]byte{'\n'})
	}
	if !torn(tail) {
		err := h.st.setAside(h.st.journal(h.key), func(to string) error { return h.copyFrom(end, to) })
		if err != nil {
			return false, err
		}
	}
	if err := h.j.Truncate(end); err != nil {
		return false, err
	}
	h.size = end
	return false, nil
}

// torn reports whether tail is the beginning of one of our lines, which contain no control
// characters.
func torn(tail []byte) bool {
	n := min(len(tail), len(lineStart))
	return string(tail[:n]) == lineStart[:n] && len(tail) < maxLine &&
		!bytes.ContainsFunc(tail, func(r rune) bool { return r < ' ' })
}

// copyFrom copies the journal, from offset on, to a new file.
func (h *holder) copyFrom(offset int64, to string) error {
	f, err := open(to, os.O_WRONLY|os.O_CREATE|os.O_EXCL)
	if err != nil {
		return err
	}
	_, err = io.Copy(f, io.NewSectionReader(h.j, offset, h.size-offset))
	return errors.Join(err, f.Close())
}

// apply writes the journal line of u and folds it. spool is the name of the spool file that it
// comes from, if any.
func (h *holder) apply(u *Update, spool string) error {
	if h.size > segment {
		// If the journal cannot be rotated now, it grows on.
		if err := h.rotate(); err != nil && h.j == nil {
			return err
		}
	}
	if h.size == 0 && h.s.Seq > 0 {
		if err := h.writeSnapshot(); err != nil {
			return err
		}
	}
	l := Line{Change: u.Change, Spool: spool}
	l.Change.Seq = h.s.Seq + 1
	if u.Elapsed != nil {
		l.Us = u.Elapsed()
	}
	b := appendLine(h.buffer(), l)
	if len(b) > maxLine || l.Kind() == "unknown" {
		return errLine
	}
	// The session must equal its journal. Invalid UTF-8 is written as U+FFFD, so the written
	// line is folded, not the change as given.
	if bytes.Contains(b, []byte("\ufffd")) {
		var err error
		if l, err = parseLine(bytes.TrimSuffix(b, []byte{'\n'})); err != nil {
			return err
		}
	}
	after, turns := state.ApplyTurns(h.s, l.Change)
	b, after = appendTurns(b, after, turns)
	if err := h.writeLine(b); err != nil {
		return err
	}
	h.s = after
	h.s.Offset = h.size
	h.past = h.past && over(&h.s)
	h.dirty = true
	if a := h.aside; a != nil {
		h.aside = nil
		return h.apply(&Update{Change: state.Change{At: u.Change.At, Action: a}}, "")
	}
	return nil
}

// appendTurns appends the lines of the turns that a change made, and folds them into s, the
// result of that change. They are written together with the change's own line, so either all
// are there or none is.
func appendTurns(b []byte, s state.Session, turns []state.Turn) ([]byte, state.Session) {
	for i := range turns {
		c := state.Change{Seq: s.Seq + 1, At: turns[i].At, Turn: &turns[i]}
		b = appendLine(b, Line{Change: c})
		s = state.Apply(s, c)
	}
	return b, s
}

// writeLine appends b to the journal, which it creates if necessary. An incomplete write is
// undone, so that the journal never contains half a line.
func (h *holder) writeLine(b []byte) error {
	if h.j == nil {
		if err := h.makeJournal(); err != nil {
			return err
		}
	}
	n, err := h.j.WriteAt(b, h.size)
	if err != nil {
		_ = h.j.Truncate(h.size)
		return err
	}
	h.size += int64(n)
	return nil
}

func (h *holder) makeJournal() (err error) {
	path := h.st.journal(h.key)
	h.j, err = open(path, os.O_RDWR|os.O_CREATE)
	if errors.Is(err, fs.ErrNotExist) {
		if err = h.st.make(); err == nil {
			h.j, err = open(path, os.O_RDWR|os.O_CREATE)
		}
	}
	return err
}

// home returns the directory for the session's file. A session that was over, and not in
// sessions/, stays out of the live views: a late event does not bring it back, a resume does.
func (h *holder) home() string {
	if h.dir != sessionsDir && h.past {
		return archiveDir
	}
	return sessionsDir
}

// commit writes the session file. A session that is live again moves from archive/ to
// sessions/. A kill in between leaves both files; the one in sessions/ is the newer.
func (h *holder) commit() error {
	if !h.dirty || h.s.Seq == 0 {
		return nil
	}
	dir := h.home()
	data := append(state.AppendJSON(h.buffer(), &h.s), '\n')
	if err := h.st.write(string(h.key)+".json", dir, string(h.key)+".json", data); err != nil {
		return err
	}
	if h.old && dir == sessionsDir {
		_ = os.Remove(h.st.archived(h.key))
	}
	h.dir, h.old, h.dirty = dir, dir == archiveDir, false
	return nil
}

func (h *holder) release() {
	h.closeJournal()
	h.lock.Close()
}

// over reports whether a session has ended, is lost or was removed.
func over(s *state.Session) bool {
	return s.End.At != 0 || s.Lost.At != 0 || s.Removed != 0
}
