package store

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"io/fs"
	"math"
	"os"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"time"

	"beckon/event"
	"beckon/event/jsonenc"
	"beckon/event/plainfile"
	"beckon/state"
	"beckon/state/stats"
)

// History is for history, stats and the timeline: a line for each change, with what sums need. There is
// one file for each day (UTC, by the lines' own times), for all sessions. Lines that are written together
// are in the file of the newest.

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

// appendHistory appends lines to a day's, in one write, so that lines of two processes do not mix. It begins
// with a newline, for a writer that was killed, or had no space left, may have left half a line.
func (st *Store) appendHistory(day string, lines []byte) {
	if runtime.GOOS == "windows" { // under wine an append is not one step
		if l, err := st.lock(historyDir+".", LockWait); err == nil {
			defer l.Close()
		}
	}
	path := st.path(historyDir, day+".jsonl")
	b := append([]byte("\n"), lines[:len(lines)-1]...)
	st.Log(st.put(path, func() error { return plainfile.AppendLine(path, b, math.MaxInt64) }))
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
	if err := st.convert(); err != nil {
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

// readLines calls each for every whole line of a file from offset on, and returns where the last one ends.
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
		each(line[:len(line)-1])
	}
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

// Turn is a turn with the session and the number of its line.
type Turn struct {
	Key Key
	Seq int64
	state.Turn
}

// ID returns a name for the turn that is unique among all sessions.
func (t Turn) ID() string { return string(t.Key) + "." + strconv.FormatInt(t.Seq, 10) }

// CommandID returns the unique name of the turn's task, or "" if its task is unknown.
func (t Turn) CommandID() string {
	if t.Command == 0 {
		return ""
	}
	return string(t.Key) + "." + strconv.FormatInt(t.Command, 10)
}

// convert makes history of the journals of earlier releases, journal/SESSION.jsonl, if there are any: of each
// history/DAY.SESSION.jsonl. Of several processes, or after a kill, each writes the same files.
func (st *Store) convert() error {
	names, _ := readNames(st.path("journal", "")) // nearly always there are none
	for _, n := range names {
		journal, k := st.path("journal", n), Key(strings.TrimSuffix(n, ".jsonl"))
		var s state.Session
		var day string
		var lines []byte
		_, err := readLines(journal, 0, func(b []byte) {
			var l Line
			if !jsonenc.Decode(string(b), &l) || l.Seq <= s.Seq {
				return // damaged, or there twice
			}
			if l.Snapshot != nil {
				if s.Seq == 0 && l.Snapshot.Check() == nil {
					s = *l.Snapshot
					s.Counted = l.At
				}
				return
			}
			after := state.Apply(s, l.Change())
			l.Key, l.Count = k, stats.Of(&s, &after, l.Change())
			s = after
			day, lines = max(day, dayOf(l.At)), appendLine(lines, &l)
		})
		if err == nil && lines != nil {
			err = st.write(historyDir, day+"."+string(k)+".jsonl", lines)
		}
		if err != nil {
			return &fs.PathError{Op: "converting the journal of an earlier release", Path: journal, Err: err}
		}
		_ = os.Remove(journal)
	}
	if len(names) > 0 {
		_ = os.Remove(st.path("journal", ""))
	}
	return nil
}
