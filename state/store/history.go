package store

import (
	"bytes"
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

// History is for history, stats and the timeline: a line for each change, with what sums need.
// There is one file for each day (UTC, by the lines' own times), for all sessions, so that a
// question about seven days reads seven files.

// maxLine is the size limit of an event that waits. Our longest line, an event with all
// background tasks and every byte escaped, takes a third of it.
const maxLine = 1 << 20

// Line is one line of history.
type Line struct {
	Key    Key
	Change state.Change
	Us     int64 // time that the hook took until it wrote, in microseconds
	Count  stats.Count
}

// Kind returns the line's kind: event, observation, action, turn, or unknown for one written by
// a newer version.
func (l *Line) Kind() string {
	switch {
	case l.Change.Event != nil:
		return "event"
	case l.Change.Observation != nil:
		return "observation"
	case l.Change.Action != nil:
		return "action"
	case l.Change.Turn != nil:
		return "turn"
	}
	return "unknown"
}

// lineText is the JSON form of a line. What is long comes last. A journal of an earlier release
// has such lines, too, some with a snapshot.
type lineText struct {
	Key         Key             `json:"key"`
	Seq         int64           `json:"seq"`
	At          event.Millis    `json:"at"`
	Kind        string          `json:"kind"`
	Us          int64           `json:"us"`
	Count       stats.Count     `json:"count"`
	Event       *event.Event    `json:"event"`
	Observation *state.Observed `json:"observation"`
	Action      *state.Action   `json:"action"`
	Turn        *state.Turn     `json:"turn"`
	Snapshot    *state.Session  `json:"snapshot"`
}

// lineStart is the beginning of every line of history.
const lineStart = `{"key":"`

// appendLine appends l as a line, with a newline.
func appendLine(dst []byte, l *Line) []byte {
	c := l.Change
	t := lineText{l.Key, c.Seq, c.At, l.Kind(), l.Us, l.Count, c.Event, c.Observation, c.Action, c.Turn, nil}
	return append(jsonenc.Append(dst, &t), '\n')
}

// parseLine parses one line, and reports whether it is one. A line whose kind only a newer
// version knows gives a Change that changes nothing.
func parseLine(b []byte) (l Line, ok bool) {
	var t lineText
	if !jsonenc.Decode(string(b), &t) || t.Seq <= 0 || t.Kind == "event" && t.Event == nil {
		return l, false
	}
	return t.line(), true
}

func (t *lineText) line() Line {
	c := state.Change{Seq: t.Seq, At: t.At, Event: t.Event, Observation: t.Observation, Action: t.Action, Turn: t.Turn}
	return Line{t.Key, c, t.Us, t.Count}
}

// dayOf returns the name of the day of a moment, in years of four digits.
func dayOf(at event.Millis) string {
	const last = 253402300799999 // of the year 9999
	return min(max(at, 0), last).Time().UTC().Format(time.DateOnly)
}

// appendHistory appends lines by day, those of one day in one write, so that lines of two
// processes do not mix. An error costs lines of history alone.
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

// Lines calls each for every line selected, by days, in the order in which they were written. It
// takes no lock, and ignores a half-written last line. each may keep its argument. Lines that an
// earlier release wrote are converted first.
func (st *Store) Lines(sel Select, each func(*Line)) error {
	return st.rawLines(sel, func(b []byte) {
		l, ok := parseLine(b)
		if ok && (sel.Kind == "" || l.Kind() == sel.Kind) && l.Change.Seq > sel.After {
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

// readLines calls each for every whole line of a file from offset on, and returns where the last
// one ends. A line that a killed writer left unfinished ends where the next one begins.
func readLines(path string, offset int64, each func([]byte)) (end int64, err error) {
	f, err := open(path, os.O_RDONLY)
	if errors.Is(err, fs.ErrNotExist) {
		return offset, nil // it has been pruned
	}
	if err != nil {
		return offset, err
	}
	defer f.Close()
	buf, end := make([]byte, 0, 256<<10), offset
	for {
		if len(buf) == cap(buf) {
			buf = append(make([]byte, 0, 2*cap(buf)), buf...)
		}
		n, err := f.ReadAt(buf[len(buf):cap(buf)], end+int64(len(buf)))
		buf = buf[:len(buf)+n]
		used := 0
		for i := bytes.IndexByte(buf, '\n'); i >= 0; i = bytes.IndexByte(buf[used:], '\n') {
			line := buf[used : used+i]
			used += i + 1
			each(afterTorn(line))
		}
		end += int64(used)
		buf = append(buf[:0], buf[used:]...)
		if err == io.EOF {
			return end, nil
		}
		if err != nil {
			return end, err
		}
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

// Tail returns what is added to history from now on.
type Tail struct {
	st *Store
	at map[string]int64 // by file: how far it was read
}

// Tail returns a Tail that begins with the next line.
func (st *Store) Tail() *Tail {
	t := &Tail{st, map[string]int64{}}
	names, _ := st.days()
	for _, n := range names {
		t.at[n] = sizeAt(st.path(historyDir, n))
	}
	return t
}

func sizeAt(path string) int64 {
	if info, err := os.Stat(path); err == nil {
		return info.Size()
	}
	return 0
}

// Read calls each for the new lines.
func (t *Tail) Read(each func(*Line)) error {
	names, err := t.st.days()
	for _, n := range names {
		path := t.st.path(historyDir, n)
		if sizeAt(path) <= t.at[n] || strings.Count(n, ".") > 1 { // those with two dots were converted
			continue
		}
		end, e := readLines(path, t.at[n], func(b []byte) {
			if l, ok := parseLine(b); ok {
				each(&l)
			}
		})
		t.at[n], err = end, errors.Join(err, e)
	}
	return err
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
