package store

import (
	"errors"
	"io/fs"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"beckon/event"
	"beckon/state"
)

// An event that could not get in, redacted, is a file late/SESSION/TIME-NUMBER-WORD.json. There
// is a directory only while there are files in it, so a hook needs one failed open to see that
// nothing waits.
//
// A kill between the session's rename and the removal of such a file leaves a file whose event is
// in the session already. So the session file names the files whose events it contains, until
// they are gone.

// postponeFile keeps an event for the session's next holder.
func (st *Store) postponeFile(k Key, c state.Change) error {
	c.Seq = 1 // a line without a number does not parse; the holder sets the real one
	name := strconv.FormatInt(int64(c.At), 10) + "-" + strconv.FormatInt(time.Now().UnixNano(), 10) + "-" + unique() + ".json"
	b := appendLine(nil, &Line{Change: c})
	if len(b) > maxLine {
		return errLine
	}
	return st.write(string(k)+"."+name, lateDir+string(os.PathSeparator)+string(k), name, b)
}

// lateNames lists the files that wait for a session, in the order of their events; nil if there is
// no directory for them.
func (st *Store) lateNames(k Key) []string {
	names, err := readNames(st.path(lateDir, string(k)))
	if err != nil {
		return nil // nearly always
	}
	if names == nil {
		names = []string{}
	}
	sortBy(names, func(name string) int64 {
		at, _, _ := strings.Cut(name, "-")
		n, _ := strconv.ParseInt(at, 10, 64)
		return n
	})
	return names
}

// takeLate applies the events that wait. One that cannot be applied is set aside.
func (h *holder) takeLate(alive func(event.Process, event.Millis) state.Presence) {
	names, done := h.st.lateNames(h.key), h.late
	h.late = nil
	for _, n := range names {
		path := h.st.latePath(h.key, n)
		if !slices.Contains(done, n) {
			c, err := h.st.readLate(path)
			if errors.Is(err, fs.ErrNotExist) || errors.Is(err, errOther) {
				continue
			}
			if err == nil {
				u := Update{Change: c, Alive: alive}
				h.place(&u)
				err = h.apply(&u)
			}
			if err != nil {
				_ = h.st.setAside(path)
				continue
			}
		}
		h.late = append(h.late, n)
	}
	if names != nil && len(h.late) == 0 { // a writer that was killed may leave it empty
		_ = os.Remove(h.st.path(lateDir, string(h.key))) // fails unless it is empty
	}
}

func (st *Store) latePath(k Key, name string) string {
	return st.path(lateDir, string(k)+string(os.PathSeparator)+name)
}

// errOther is returned for what may be fine, but not for this version or at this time.
var errOther = errors.New("cannot be read now")

// readLate reads an event that waits.
func (st *Store) readLate(path string) (c state.Change, err error) {
	data, err := readFile(path, maxLine)
	if err != nil {
		if !errors.Is(err, fs.ErrNotExist) && !errors.Is(err, errEmpty) && !errors.Is(err, errTooLarge) && !irregular(path) {
			err = errOther
		}
		return c, err
	}
	l, err := parseLine(data)
	if err == nil && l.Change.Event == nil {
		err = errOther // a newer version may know it
	}
	return l.Change, err
}

// dropLate removes the files whose events are in the session's file now.
func (h *holder) dropLate() {
	for _, n := range h.late {
		_ = os.Remove(h.st.latePath(h.key, n))
	}
	if len(h.late) > 0 {
		_ = os.Remove(h.st.path(lateDir, string(h.key))) // fails unless it is empty
	}
}

// waiting lists the sessions that events wait for. Those of an earlier release wait in spool/.
func (st *Store) waiting() []Key {
	old, _ := readNames(st.path("spool", ""))
	for _, n := range old {
		k, name, _ := strings.Cut(n, ".")
		to := lateDir + string(os.PathSeparator) + k
		_ = inDir(st.path(to, ""), func() error { return rename(st.path("spool", n), st.path(to, name)) })
	}
	if len(old) > 0 {
		_ = os.Remove(st.path("spool", ""))
	}
	names, _ := readNames(st.path(lateDir, ""))
	keys := make([]Key, 0, len(names))
	for _, n := range names {
		if isKey(n) && len(st.lateNames(Key(n))) > 0 {
			keys = append(keys, Key(n))
		}
	}
	return keys
}

// TakeLate applies the events that wait, for readers. Those of sessions that a writer holds are
// left to the next holder.
func (st *Store) TakeLate() (err error) {
	for _, k := range st.waiting() {
		if e := st.settle(k); !errors.Is(e, ErrBusy) {
			err = errors.Join(err, e)
		}
	}
	return err
}

// settle applies the events that wait for a session, if nobody holds it.
func (st *Store) settle(k Key) error {
	h := holder{st: st, key: k}
	if err := h.acquire(noWait); err != nil {
		return err
	}
	defer h.release()
	h.takeLate(nil)
	return h.commit()
}

// withLate applies to s, in memory, the events that wait: a view shows them even while the
// session's holder is stopped, and where it cannot write.
func (st *Store) withLate(k Key, s *state.Session, err error, done []string) error {
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	seq := s.Seq
	if seq == 0 {
		_, s.Part, _ = cutPart(string(k))
	}
	for _, n := range st.lateNames(k) {
		if slices.Contains(done, n) {
			continue
		}
		if c, e := st.readLate(st.latePath(k, n)); e == nil {
			c.Seq = s.Seq + 1
			*s, err = state.Apply(*s, c), nil
		}
	}
	s.Seq = seq
	return err
}
