package store

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"beckon/event"
	"beckon/state"
)

// spool keeps an event for the session's next holder. spool/ exists only while it has files in
// it, so a hook needs only one failed open to see that it is empty.
func (st *Store) spool(k Key, c state.Change) error {
	c.Seq = 1 // a line without a number does not parse; the holder sets the real one
	name := string(k) + "." + strconv.FormatInt(int64(c.At), 10) + "-" + strconv.FormatInt(time.Now().UnixNano(), 10) + "-" + unique() + ".json"
	return st.write(name, spoolDir, name, appendLine(nil, Line{Change: c}))
}

// drain folds the spooled events of the session in the order of their times. An event that
// cannot be folded now stays for the next holder.
//
// A spool file is removed as soon as its event is in the journal. A kill in between leaves a
// file whose event is already folded. Its journal line has the file's name, so no event is
// folded twice.
func (h *holder) drain(alive func(event.Process, event.Millis) state.Presence) {
	names, err := readNames(h.st.path(spoolDir, ""))
	if err != nil {
		return
	}
	names = slices.DeleteFunc(names, func(n string) bool { return spoolKey(n) != h.key })
	if len(names) == 0 {
		return
	}
	done, err := h.spooled()
	if err != nil {
		return
	}
	sortBy(names, spoolAt)
	for _, n := range names {
		if !done[n] && !h.drainOne(n, alive) {
			continue
		}
		h.unspool(n)
	}
	_ = os.Remove(h.st.path(spoolDir, "")) // fails unless it is empty
}

// drainOne folds one spool file and reports whether its event is in the journal.
func (h *holder) drainOne(name string, alive func(event.Process, event.Millis) state.Presence) bool {
	path := h.st.path(spoolDir, name)
	data, err := readFile(path, maxLine)
	if err != nil {
		if errors.Is(err, errTooLarge) || irregular(path) {
			_ = h.st.quarantine(path)
		}
		return false
	}
	l, err := parseLine(data)
	if err != nil {
		_ = h.st.quarantine(path)
		return false
	}
	if l.Change.Event == nil {
		return false // a newer version may know it
	}
	u := Update{Change: l.Change, Alive: alive}
	h.place(&u)
	err = h.apply(&u, name)
	if errors.Is(err, errLine) {
		_ = h.st.quarantine(path)
	}
	return err == nil
}

// unspool removes a spool file. If that fails it empties the file, which has the same effect.
func (h *holder) unspool(name string) {
	path := h.st.path(spoolDir, name)
	if os.Remove(path) != nil {
		_ = os.Truncate(path, 0)
	}
}

// spooled returns the names of the spool files whose events are in the session's journal. It
// also reads the segment before the journal, since a drain may rotate.
func (h *holder) spooled() (map[string]bool, error) {
	done := map[string]bool{}
	note := func(l Line, _, _ int64) {
		if l.Spool != "" {
			done[l.Spool] = true
		}
	}
	segs, err := h.st.segments(h.key)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	if n := len(segs); n > 0 {
		if err := scanFile(h.st.path(journalDir, segs[n-1]), nil, note); err != nil {
			return nil, err
		}
	}
	if h.j != nil {
		_, _, err = scan(io.NewSectionReader(h.j, 0, h.size), 0, note)
	}
	return done, err
}

// DrainSpool folds every spooled event, for readers. Events of sessions that a writer holds
// are left to the next holder.
func (st *Store) DrainSpool() error {
	names, err := readNames(st.path(spoolDir, ""))
	if errors.Is(err, fs.ErrNotExist) || err != nil && sharingViolation(err) {
		return nil // it is empty, or a writer is removing it
	}
	done := map[Key]bool{}
	for _, n := range names {
		k := spoolKey(n)
		if k == "" || done[k] {
			continue
		}
		done[k] = true
		if e := st.heal(k, noWait); !errors.Is(e, ErrBusy) {
			err = errors.Join(err, e)
		}
	}
	return err
}

// spooledNames maps sessions to the names of their spool files, sorted by the events' times.
type spooledNames map[Key][]string

// waiting returns the names of all spool files.
func (st *Store) waiting() spooledNames {
	names, err := readNames(st.path(spoolDir, ""))
	if err != nil || len(names) == 0 {
		return nil // nearly always
	}
	sortBy(names, spoolAt)
	all := spooledNames{}
	for _, n := range names {
		if k := spoolKey(n); k != "" {
			all[k] = append(all[k], n)
		}
	}
	return all
}

// pending returns the names of the spool files of one session.
func (st *Store) pending(k Key) []string { return st.waiting()[k] }

// withSpooled folds, in memory, the spooled events of session s, which was read with err. Its
// place in the journal does not change. An event that the holder has folded meanwhile has lost
// its file, or changes nothing.
func (st *Store) withSpooled(s state.Session, err error, names []string) (state.Session, error) {
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return s, err
	}
	seq, offset := s.Seq, s.Offset
	if seq == 0 {
		_, s.Part, _ = cutPart(string(spoolKey(names[0])))
	}
	for _, n := range names {
		data, e := readFile(st.path(spoolDir, n), maxLine)
		if e != nil {
			continue
		}
		if l, e := parseLine(data); e == nil && l.Change.Event != nil {
			l.Change.Seq = s.Seq + 1
			s, err = state.Apply(s, l.Change), nil
		}
	}
	s.Seq, s.Offset = seq, offset
	return s, err
}

// spoolKey returns the key in a spool file's name, or "" for other files.
func spoolKey(name string) Key {
	if !strings.HasSuffix(name, ".json") {
		return ""
	}
	return keyIn(name)
}

// spoolAt returns the time of the event in a spool file's name.
func spoolAt(name string) int64 {
	_, rest, _ := strings.Cut(name, ".")
	at, _, _ := strings.Cut(rest, "-")
	n, _ := strconv.ParseInt(at, 10, 64)
	return n
}
