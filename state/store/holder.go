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

// holder holds a session's lock, and the session as it is under it.
type holder struct {
	st    *Store
	key   Key
	lock  *lockFile
	s     state.Session
	dir   string        // where the session's file was found, readable or not; empty if nowhere
	old   bool          // archive/ has a file of it
	past  bool          // it was over by then, and ever since
	dirty bool          // s is newer than its file
	j     *os.File      // the journal, nil until there is one
	size  int64         // its length
	buf   []byte        // for what is about to be written
	aside *state.Action // to be folded behind the event that begins the session
}

// buffer returns the buffer, empty.
func (h *holder) buffer() []byte {
	if h.buf == nil {
		h.buf = make([]byte, 0, 4096)
	}
	return h.buf[:0]
}

// acquire locks the session, reads it and folds what the journal has and the file
// lacks. After an error nothing is held.
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

// read loads the session file from sessions/, else from archive/. One that
// does not parse is moved to quarantine and made again from the journal, where
// it was; one of a newer version is left alone.
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

// notOurs reports whether err means that what is at path is not a session file.
func notOurs(path string, err error) bool {
	return errors.Is(err, state.ErrNotSession) || errors.Is(err, errTooLarge) || irregular(path)
}

// openJournal opens the journal if there is one. What is there and is not a file
// is moved to quarantine.
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

// catchUp brings h.s to the end of the journal and deals with a tail that is no
// line, so a kill between append and rename costs nothing.
func (h *holder) catchUp() error {
	for h.size != h.s.Offset || !h.endsInNewline() {
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

// endsInNewline reports whether the next line would be on a line of its own. A
// power cut may leave zeros where the end of a file was.
func (h *holder) endsInNewline() bool {
	if h.j == nil || h.size == 0 {
		return true
	}
	var last [1]byte
	_, err := h.j.ReadAt(last[:], h.size-1)
	return err == nil && last[0] == '\n'
}

// adopt makes the session what its journal holds.
func (h *holder) adopt(t replayed) error {
	h.s, h.dirty = t.s, true
	if t.short {
		return h.writeSnapshot() // the journal lost lines: go on from the session
	}
	return nil
}

// mendTail deals with what follows the last whole line, which ends at end. A
// line that lacks only its newline gets it (an editor took it away), and whole
// is true. Half a line of ours is what a killed writer leaves, never
// acknowledged: it is cut off. Anything else is kept in quarantine first.
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

// torn reports whether tail is the beginning of a line of ours. Those hold no
// control characters.
func torn(tail []byte) bool {
	n := min(len(tail), len(lineStart))
	return string(tail[:n]) == lineStart[:n] && len(tail) < maxLine &&
		!bytes.ContainsFunc(tail, func(r rune) bool { return r < ' ' })
}

// copyFrom copies the journal from offset on into a new file.
func (h *holder) copyFrom(offset int64, to string) error {
	f, err := open(to, os.O_WRONLY|os.O_CREATE|os.O_EXCL)
	if err != nil {
		return err
	}
	_, err = io.Copy(f, io.NewSectionReader(h.j, offset, h.size-offset))
	return errors.Join(err, f.Close())
}

// apply writes the journal line of u and folds it. spool names the spool file
// that it comes from, if it does.
func (h *holder) apply(u *Update, spool string) error {
	if h.size > segment {
		// A journal that cannot be rotated now just goes on.
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
	// The session is what its journal says. Text that is not UTF-8 is written
	// with U+FFFD in it, so what was written is folded, not what was given.
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

// appendTurns appends the lines of what was said by the change that led to s,
// and folds them. They are written together with the change's own line: a turn
// is there if its event is.
func appendTurns(b []byte, s state.Session, turns []state.Turn) ([]byte, state.Session) {
	for i := range turns {
		c := state.Change{Seq: s.Seq + 1, At: turns[i].At, Turn: &turns[i]}
		b = appendLine(b, Line{Change: c})
		s = state.Apply(s, c)
	}
	return b, s
}

// writeLine appends b to the journal, which is made when it is not there. A
// write that did not go through whole is taken back, so that the journal never
// holds half a line.
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

// home is where the session's file belongs. One that was over already, and was
// not in sessions/, stays out of the live views: an event that comes late does
// not bring it back, a resume does.
func (h *holder) home() string {
	if h.dir != sessionsDir && h.past {
		return archiveDir
	}
	return sessionsDir
}

// commit writes the session file. One that has come back to life moves from
// archive/ to sessions/; a kill between the two leaves both, and sessions/ is
// the newer.
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

// over reports whether a session is ended, lost or removed.
func over(s *state.Session) bool {
	return s.End.At != 0 || s.Lost.At != 0 || s.Removed != 0
}
