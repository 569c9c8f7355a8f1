package store

import (
	"cmp"
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

// postponeFile keeps an event for the next process that locks the session.
func (st *Store) postponeFile(k Key, c state.Change) error {
	c.Seq = 1 // a line without a number does not parse; the real one comes later
	name := strconv.FormatInt(
		int64(c.At),
		10,
	) + "-" + strconv.FormatInt(
		time.Now().UnixNano(),
		10,
	) + "-" + unique() + ".json"
	return st.write(lateDir+string(os.PathSeparator)+string(k), name, appendLine(nil, &Line{Change: c}))
}

// lateNames lists the files that wait for a session, in the order of their events; nil if there is
// no directory for them.
func (st *Store) lateNames(k Key) []string {
	names, err := readNames(st.path(lateDir, string(k)))
	if err != nil {
		return nil
	}
	slices.SortFunc(names, func(a, b string) int {
		return cmp.Or(cmp.Compare(numberIn(a), numberIn(b)), cmp.Compare(a, b))
	})
	return names
}

func (st *Store) latePath(k Key, name string) string {
	return st.path(lateDir, string(k)+string(os.PathSeparator)+name)
}

// takeLate applies the events that wait. Under the lock one that is damaged is set aside.
func (h *locked) takeLate(alive func(event.Process, event.Millis) state.Presence) {
	names, done := h.st.lateNames(h.key), h.late
	h.late = nil
	for _, n := range names {
		path := h.st.latePath(h.key, n)
		if !slices.Contains(done, n) {
			c, err := h.st.readLate(path)
			if errors.Is(err, errDamaged) && h.lock != nil {
				_ = h.st.setAside(path)
			}
			if err != nil {
				continue
			}
			u := Update{Change: c, Alive: alive}
			if h.lock != nil {
				h.place(&u)
			}
			h.apply(&u)
		}
		h.late = append(h.late, n)
	}
	if h.lock != nil && names != nil && len(h.late) == 0 { // a writer that was killed may leave it empty
		_ = os.Remove(h.st.path(lateDir, string(h.key))) // fails unless it is empty
	}
}

// readLate reads an event that waits: errDamaged if it is none. Any other error means that
// another time or version may read it.
func (st *Store) readLate(path string) (c state.Change, err error) {
	data, err := readFile(path, maxLine)
	if err != nil {
		if errors.Is(err, errEmpty) || errors.Is(err, errTooLarge) || irregular(path) {
			err = errDamaged
		}
		return c, err
	}
	l, ok := parseLine(data)
	switch {
	case !ok:
		err = errDamaged
	case l.Change.Event == nil:
		err = errors.New("an event of a newer version")
	}
	return l.Change, err
}

// waiting lists the sessions that events wait for. Those of an earlier release wait in spool/.
func (st *Store) waiting() []Key {
	old, _ := readNames(st.path("spool", ""))
	for _, n := range old {
		k, name, _ := strings.Cut(n, ".")
		to := st.latePath(Key(k), "")
		_ = inDir(to, func() error { return rename(st.path("spool", n), to+name) })
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

// TakeLate applies the events that wait, for readers. Those of sessions that another process has
// locked are left to it.
func (st *Store) TakeLate() (err error) {
	for _, k := range st.waiting() {
		if e := st.settle(k); !errors.Is(e, ErrBusy) {
			err = errors.Join(err, e)
		}
	}
	return err
}

// settle applies the events that wait for a session, unless another process has locked it.
func (st *Store) settle(k Key) error {
	h, err := st.acquire(k, noWait)
	if err != nil {
		return err
	}
	defer h.release()
	h.takeLate(nil)
	return h.commit()
}

// load reads a session into s. If late is set, events may wait: they are applied in memory where
// that is all a reader can do, because another process has the lock or nothing can be written.
func (st *Store) load(k Key, late bool, s *state.Session) error {
	h := locked{st: st, key: k, s: s}
	if late {
		_ = st.settle(k)
	}
	err := h.read()
	if errors.Is(err, errDamaged) && st.settle(k) == nil && h.read() == nil { // it has been set aside
		err = nil
	}
	if late && (err == nil || errors.Is(err, fs.ErrNotExist)) {
		seq := h.s.Seq
		if seq == 0 {
			_, h.s.Part, _ = cutPart(string(k))
		}
		if h.takeLate(nil); h.dirty {
			h.s.Seq, err = seq, nil
		}
	}
	return err
}
