package store

import (
	"bufio"
	"cmp"
	"errors"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"beckon/event"
	"beckon/event/jsonenc"
	"beckon/state"
	"beckon/state/stats"
)

// Earlier releases kept a journal for each session: journal/SESSION.jsonl, and SESSION.N.jsonl
// for the parts before it. Convert makes history of them, once.
//
// It takes the whole directory away by a rename, converts it into files of its own
// (history/DAY.N.jsonl) and then removes it. Whoever comes after a kill begins again with the
// same directory and writes the same files. Journals that an old hook writes meanwhile are
// converted the next time.

// oldLine is a line of a journal.
type oldLine struct {
	Seq         int64           `json:"seq"`
	At          event.Millis    `json:"at"`
	Us          int64           `json:"us"`
	Snapshot    *state.Session  `json:"snapshot"`
	Event       *event.Event    `json:"event"`
	Observation *state.Observed `json:"observation"`
	Action      *state.Action   `json:"action"`
	Turn        *state.Turn     `json:"turn"`
}

// Convert makes history of the journals of earlier releases, if there are any. progress, if not
// nil, is called with the number of journals done and their total.
func (st *Store) Convert(progress func(done, total int64)) error {
	names, err := readNames(st.Dir)
	if err != nil || !slices.ContainsFunc(names, isJournal) {
		return nil // nearly always
	}
	l, err := st.openLock(st.path(locksDir, "journals"))
	if err != nil {
		return err
	}
	if err := l.acquire(time.Now().Add(time.Minute)); err != nil {
		return err // another process converts
	}
	defer l.Close()
	if slices.Contains(names, "journal") {
		name := "journal." + strconv.FormatInt(time.Now().UnixNano(), 10)
		if err := rename(st.path("journal", ""), st.path(name, "")); err == nil {
			names = append(names, name)
		}
	}
	for _, n := range names {
		if !strings.HasPrefix(n, "journal.") || !exists(st.path(n, "")) {
			continue
		}
		if err := st.convertAll(n, progress); err != nil {
			return err
		}
	}
	return nil
}

func isJournal(name string) bool { return name == "journal" || strings.HasPrefix(name, "journal.") }

// convertAll converts a directory of journals, and removes it.
func (st *Store) convertAll(dir string, progress func(done, total int64)) error {
	names, err := readNames(st.path(dir, ""))
	if err != nil {
		return err
	}
	// The parts of a session's journal are in the order of their numbers, the journal last.
	part := func(name string) int64 {
		_, number, _ := strings.Cut(strings.TrimSuffix(name, ".jsonl"), ".")
		n, err := strconv.ParseInt(number, 10, 64)
		if err != nil {
			return 1 << 62
		}
		return n
	}
	slices.SortFunc(names, func(a, b string) int {
		return cmp.Or(cmp.Compare(keyIn(a), keyIn(b)), cmp.Compare(part(a), part(b)))
	})
	out := &converted{st: st, suffix: strings.TrimPrefix(dir, "journal"), files: map[string]*bufio.Writer{}}
	var s state.Session
	for i, n := range names {
		if progress != nil {
			progress(int64(i), int64(len(names)))
		}
		k := keyIn(n)
		if i == 0 || k != keyIn(names[i-1]) {
			s = state.Session{}
		}
		_, err := readLines(st.path(dir, n), 0, func(b []byte) { out.convert(k, &s, b) })
		if out.err = errors.Join(out.err, err); out.err != nil {
			break
		}
	}
	if err := out.close(); err != nil {
		return err
	}
	// Once it has another name nothing of it is converted again.
	done := st.path(tmpDir, dir)
	if err := inDir(st.path(tmpDir, ""), func() error { return rename(st.path(dir, ""), done) }); err != nil {
		return err
	}
	return os.RemoveAll(done)
}

// converted is the history that is made of journals.
type converted struct {
	st     *Store
	suffix string
	files  map[string]*bufio.Writer // by day
	open   []*os.File
	err    error
}

// convert makes a line of history of a line of k's journal, and applies it to s.
func (c *converted) convert(k Key, s *state.Session, b []byte) {
	var t oldLine
	if !jsonenc.Decode(string(b), &t) || t.Seq <= s.Seq {
		return // damaged, or there twice
	}
	if t.Snapshot != nil {
		if s.Seq == 0 && t.Snapshot.Check() == nil {
			*s = *t.Snapshot
			s.Counted = t.At
		}
		return
	}
	ch := state.Change{Seq: t.Seq, At: t.At, Event: t.Event, Observation: t.Observation, Action: t.Action, Turn: t.Turn}
	after := state.Apply(*s, ch)
	l := Line{Key: k, Change: ch, Us: t.Us, Count: stats.Of(s, &after, ch)}
	*s = after
	if l.Kind() != "unknown" {
		c.write(dayOf(t.At), appendLine(nil, &l))
	}
}

func (c *converted) write(day string, b []byte) {
	w := c.files[day]
	if w == nil {
		f, err := c.create(day)
		if err != nil {
			c.err = errors.Join(c.err, err)
			return
		}
		c.open = append(c.open, f)
		w = bufio.NewWriter(f)
		c.files[day] = w
	}
	if _, err := w.Write(b); err != nil {
		c.err = errors.Join(c.err, err)
	}
}

func (c *converted) create(day string) (f *os.File, err error) {
	err = inDir(c.st.path(historyDir, ""), func() error {
		f, err = open(c.st.path(historyDir, day+c.suffix+".jsonl"), os.O_WRONLY|os.O_CREATE|os.O_TRUNC)
		return err
	})
	return f, err
}

func (c *converted) close() error {
	for _, w := range c.files {
		c.err = errors.Join(c.err, w.Flush())
	}
	for _, f := range c.open {
		c.err = errors.Join(c.err, f.Close())
	}
	return c.err
}
