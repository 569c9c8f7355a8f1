package store

import (
	"cmp"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"beckon/event/jsonenc"
	"beckon/state"
	"beckon/state/stats"
)

// Earlier releases kept a journal for each session: journal/SESSION.jsonl, and SESSION.N.jsonl
// for the parts before it. Convert makes history of them, once: it renames the directory, writes
// history/DAY.N.jsonl, and removes the directory. After a kill the next one writes the same files.

// Convert makes history of the journals of earlier releases, if there are any.
func (st *Store) Convert() error {
	isJournal := func(name string) bool { return name == "journal" || strings.HasPrefix(name, "journal.") }
	names, err := readNames(st.Dir)
	if err != nil || !slices.ContainsFunc(names, isJournal) {
		return nil // nearly always
	}
	l, err := st.lock("journals", time.Minute)
	if err != nil {
		return err // another process converts
	}
	defer l.Close()
	for _, n := range names {
		if n == "journal" {
			n += "." + strconv.FormatInt(time.Now().UnixNano(), 10)
			err = rename(st.path("journal", ""), st.path(n, ""))
		}
		if err == nil && isJournal(n) && exists(st.path(n, "")) {
			err = st.convertAll(n)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// convertAll converts a directory of journals, and removes it.
func (st *Store) convertAll(dir string) error {
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
	days := map[string][]byte{}
	var s state.Session
	for i, n := range names {
		k := keyIn(n)
		if i == 0 || k != keyIn(names[i-1]) {
			s = state.Session{}
		}
		if _, err := readLines(st.path(dir, n), 0, func(b []byte) { convert(days, k, &s, b) }); err != nil {
			return err
		}
	}
	for day, lines := range days {
		if err := st.write(historyDir, day+strings.TrimPrefix(dir, "journal")+".jsonl", lines); err != nil {
			return err
		}
	}
	// Once it has another name nothing of it is converted again.
	done := st.path(tmpDir, dir)
	if err := inDir(st.path(tmpDir, ""), func() error { return rename(st.path(dir, ""), done) }); err != nil {
		return err
	}
	return os.RemoveAll(done)
}

// convert makes a line of history of a line of k's journal, and applies it to s.
func convert(days map[string][]byte, k Key, s *state.Session, b []byte) {
	var t lineText
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
	l := t.line()
	l.Key = k
	after := state.Apply(*s, l.Change)
	l.Count = stats.Of(s, &after, l.Change)
	*s = after
	if l.Kind() != "unknown" {
		day := dayOf(t.At)
		days[day] = appendLine(days[day], &l)
	}
}
