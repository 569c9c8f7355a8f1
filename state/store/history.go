package store

import (
	"bufio"
	"bytes"
	"cmp"
	"errors"
	"io"
	"io/fs"
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

// History is for history, stats and the timeline: a line for each change, with what sums need. There is
// one file for each day (UTC, by the lines' own times), for all sessions.

// maxLine is the size limit of an event that waits, of three times our longest line.
const maxLine = 1 << 20

// Line is one line of history. What is long comes last. A journal of an earlier release has snapshots, too.
type Line struct {
	Key         Key             `json:"key"`
	Seq         int64           `json:"seq"`
	At          event.Millis    `json:"at"`
	Kind        string          `json:"kind"` // event, observation, action or turn; others are a newer version's
	Us          int64           `json:"us"`   // time that the hook took until it wrote, in microseconds
	Count       stats.Count     `json:"count"`
	Event       *event.Event    `json:"event"`
	Observation *state.Observed `json:"observation"`
	Action      *state.Action   `json:"action"`
	Turn        *state.Turn     `json:"turn"`
	Snapshot    *state.Session  `json:"snapshot"`
}

func newLine(k Key, c state.Change) Line {
	l := Line{Key: k, Seq: c.Seq, At: c.At, Event: c.Event, Observation: c.Observation, Action: c.Action, Turn: c.Turn}
	switch {
	case c.Event != nil:
		l.Kind = "event"
	case c.Observation != nil:
		l.Kind = "observation"
	case c.Action != nil:
		l.Kind = "action"
	case c.Turn != nil:
		l.Kind = "turn"
	}
	return l
}

// Change returns what the line says. One whose kind only a newer version knows changes nothing.
func (l *Line) Change() state.Change {
	return state.Change{Seq: l.Seq, At: l.At, Event: l.Event, Observation: l.Observation, Action: l.Action, Turn: l.Turn}
}

// lineStart is the beginning of every line of history.
const lineStart = `{"key":"`

// appendLine appends l as a line, with a newline.
func appendLine(dst []byte, l *Line) []byte { return append(jsonenc.Append(dst, l), '\n') }

// parseLine parses one line, and reports whether it is one.
func parseLine(b []byte) (l Line, ok bool) {
	ok = jsonenc.Decode(string(b), &l)
	return l, ok && l.Seq > 0 && (l.Kind != "event" || l.Event != nil)
}

// dayOf returns the name of the day of a moment, in years of four digits.
func dayOf(at event.Millis) string {
	const last = 253402300799999 // of the year 9999
	return min(max(at, 0), last).Time().UTC().Format(time.DateOnly)
}

// appendHistory appends lines by day, those of one day in one write, so that lines of two processes do not
// mix.
func (st *Store) appendHistory(days map[string][]byte) {
	for day, b := range days {
		path := st.path(historyDir, day+".jsonl")
		err := inDir(st.path(historyDir, ""), func() error { return appendTo(path, b) })
		if err != nil && irregular(path) && st.setAside(path) == nil {
			err = appendTo(path, b)
		}
		if err != nil {
			st.Log(err)
		}
	}
}

func appendTo(path string, b []byte) error {
	f, err := open(path, os.O_WRONLY|os.O_APPEND|os.O_CREATE)
	if err != nil {
		return err
	}
	unlock := lockEnd(f)
	_, err = f.Write(b)
	unlock()
	return errors.Join(err, f.Close())
}

// Select selects lines of history. Zero values select all.
type Select struct {
	Key   Key          // of this session
	Kind  string       // of this kind
	Since event.Millis // of the days from this moment on
	After int64        // with a higher number (of one session)
}

// Lines calls each for every line selected, by days, in the order in which they were written. It takes no
// lock, and ignores a half-written last line. each may keep its argument.
func (st *Store) Lines(sel Select, each func(*Line)) error {
	return st.rawLines(sel, func(b []byte) {
		l, ok := parseLine(b)
		if ok && (sel.Kind == "" || l.Kind == sel.Kind) && l.Seq > sel.After {
			each(&l)
		}
	})
}

// Counts calls each with what every line selected adds to the sums. It reads no more of a line.
func (st *Store) Counts(sel Select, each func(k Key, at event.Millis, n *stats.Count)) error {
	return st.rawLines(sel, func(b []byte) {
		var t struct {
			Key   Key          `json:"key"`
			At    event.Millis `json:"at"`
			Count stats.Count  `json:"count"`
		}
		if jsonenc.Decode(string(b), &t) {
			each(t.Key, t.At, &t.Count)
		}
	})
}

// rawLines calls each for the lines that sel may mean.
func (st *Store) rawLines(sel Select, each func([]byte)) error {
	if err := st.Convert(); err != nil {
		return err
	}
	names, err := st.days()
	if err == nil && len(names) == 0 {
		err = st.Writable()
	}
	if err != nil {
		return err
	}
	start := []byte(lineStart)
	if sel.Key != "" {
		start = append(start, string(sel.Key)+`"`...)
	}
	kind := []byte(`"kind":"` + sel.Kind)
	for _, n := range names {
		if n[:len(time.DateOnly)] < dayOf(sel.Since) {
			continue
		}
		_, err := readLines(st.path(historyDir, n), 0, func(b []byte) {
			if bytes.HasPrefix(b, start) && bytes.Contains(b[:min(len(b), 300)], kind) {
				each(b)
			}
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// days lists the files of history, oldest first.
func (st *Store) days() ([]string, error) {
	names, err := readNames(st.path(historyDir, ""))
	names = slices.DeleteFunc(names, func(n string) bool {
		return len(n) < len("2006-01-02.jsonl") || !strings.HasSuffix(n, ".jsonl")
	})
	slices.Sort(names)
	return names, err
}

// readLines calls each for every whole line of a file from offset on, and returns where the last one ends.
// A line that a killed writer left unfinished ends where the next one begins.
func readLines(path string, offset int64, each func([]byte)) (end int64, err error) {
	f, err := open(path, os.O_RDONLY)
	if errors.Is(err, fs.ErrNotExist) {
		return offset, nil // it has been pruned
	}
	if err != nil {
		return offset, err
	}
	defer f.Close()
	if _, err := f.Seek(offset, io.SeekStart); err != nil {
		return offset, err
	}
	for r := bufio.NewReaderSize(f, 256<<10); ; {
		line, err := r.ReadBytes('\n')
		if err == io.EOF {
			return offset, nil
		}
		if err != nil {
			return offset, err
		}
		offset += int64(len(line))
		each(afterTorn(line[:len(line)-1]))
	}
}

// afterTorn returns the last line in b, which may begin with a part of another.
func afterTorn(b []byte) []byte {
	start := []byte(lineStart)
	if len(b) == 0 || !bytes.Contains(b[1:], start) || jsonenc.Decode(string(b), &struct{}{}) {
		return b
	}
	return b[bytes.LastIndex(b, start):]
}

// Tail returns a function that calls each for the lines that were added since its last call.
func (st *Store) Tail() (read func(each func(*Line)) error) {
	at := map[string]int64{} // how far each file was read
	names, _ := st.days()
	for _, n := range names {
		at[n] = sizeAt(st.path(historyDir, n))
	}
	return func(each func(*Line)) error {
		names, err := st.days()
		for _, n := range names {
			path := st.path(historyDir, n)
			if sizeAt(path) <= at[n] || strings.Count(n, ".") > 1 { // those with two dots were converted
				continue
			}
			end, e := readLines(path, at[n], func(b []byte) {
				if l, ok := parseLine(b); ok {
					each(&l)
				}
			})
			at[n], err = end, errors.Join(err, e)
		}
		return err
	}
}

func sizeAt(path string) int64 {
	if info, err := os.Stat(path); err == nil {
		return info.Size()
	}
	return 0
}

// Turn is a turn with the number of its line.
type Turn struct {
	Seq int64
	state.Turn
}

// ID returns a name for the turn that is unique among all sessions.
func (t Turn) ID(k Key) string { return string(k) + "." + strconv.FormatInt(t.Seq, 10) }

// CommandID returns the unique name of the turn's task, or "" if its task is unknown.
func (t Turn) CommandID(k Key) string {
	if t.Command == 0 {
		return ""
	}
	return string(k) + "." + strconv.FormatInt(t.Command, 10)
}

// Earlier releases kept a journal for each session: journal/SESSION.jsonl, and SESSION.N.jsonl for the parts
// before it.

// Convert makes history of the journals of earlier releases, if there are any: it renames the directory,
// writes history/DAY.N.jsonl, and removes the directory. After a kill the next one writes the same files.
func (st *Store) Convert() error {
	names, err := readNames(st.Dir)
	names = slices.DeleteFunc(names, func(n string) bool { return n != "journal" && !strings.HasPrefix(n, "journal.") })
	if err != nil || len(names) == 0 {
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
		if err == nil {
			err = st.convertAll(n)
		}
		if err != nil && !errors.Is(err, fs.ErrNotExist) { // else it has been converted meanwhile
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
	days, sessions := map[string][]byte{}, map[Key]*state.Session{}
	for _, n := range names {
		k := keyIn(n)
		s := cmp.Or(sessions[k], &state.Session{})
		sessions[k] = s
		if _, err := readLines(st.path(dir, n), 0, func(b []byte) { convert(days, k, s, b) }); err != nil {
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
	var l Line
	if !jsonenc.Decode(string(b), &l) || l.Seq <= s.Seq {
		return // damaged, or there twice
	}
	if l.Snapshot != nil {
		if s.Seq == 0 && l.Snapshot.Check() == nil {
			*s = *l.Snapshot
			s.Counted = l.At
		}
		return
	}
	after := state.Apply(*s, l.Change())
	l.Key, l.Count = k, stats.Of(s, &after, l.Change())
	*s = after
	day := dayOf(l.At)
	days[day] = appendLine(days[day], &l)
}
