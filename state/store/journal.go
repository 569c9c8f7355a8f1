package store

import (
	"bytes"
	"errors"
	"io"

	"beckon/event"
	"beckon/event/jsonenc"
	"beckon/state"
)

// maxLine is the size limit of a journal line. Our longest line, an event with a full snapshot
// of background tasks and every byte escaped, takes a third of it.
const maxLine = 1 << 20

// Line is one journal line.
type Line struct {
	Change   state.Change
	Us       int64          // time that the hook took until it wrote the line, in microseconds
	Spool    string         // name of the spool file that the event comes from, if any
	Snapshot *state.Session // set on the first line of a rotated journal
}

// Kind returns the line's kind: event, observation, action, turn, snapshot, or unknown for one
// written by a newer version.
func (l Line) Kind() string {
	switch {
	case l.Snapshot != nil:
		return "snapshot"
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

// lineStart is the beginning of every line that beckon writes.
const lineStart = `{"seq":`

// lineText is the JSON form of a line.
type lineText struct {
	Seq         int64           `json:"seq"`
	At          event.Millis    `json:"at"`
	Kind        string          `json:"kind"`
	Us          int64           `json:"us"`
	Spool       string          `json:"spool"`
	Snapshot    *state.Session  `json:"snapshot"`
	Event       *event.Event    `json:"event"`
	Observation *state.Observed `json:"observation"`
	Action      *state.Action   `json:"action"`
	Turn        *state.Turn     `json:"turn"`
}

// appendLine appends l as a line, with a newline.
func appendLine(dst []byte, l Line) []byte {
	c := l.Change
	t := lineText{c.Seq, c.At, l.Kind(), l.Us, l.Spool, l.Snapshot, c.Event, c.Observation, c.Action, c.Turn}
	return append(jsonenc.Append(dst, &t), '\n')
}

// errLine is returned for a line that is not a journal line.
var errLine = errors.New("not a journal line")

// parseLine parses one line, without its newline. A line whose kind only a newer version knows
// gives a Change that changes nothing. A snapshot of a newer schema gives
// state.ErrNewerSchema, since it cannot be skipped.
func parseLine(b []byte) (Line, error) {
	var t lineText
	if !jsonenc.Decode(string(b), &t) || t.Seq <= 0 || t.Kind == "event" && t.Event == nil {
		return Line{}, errLine
	}
	c := state.Change{Seq: t.Seq, At: t.At, Event: t.Event, Observation: t.Observation, Action: t.Action, Turn: t.Turn}
	l := Line{Change: c, Us: t.Us, Spool: t.Spool, Snapshot: t.Snapshot}
	switch {
	case l.Kind() != t.Kind:
		return Line{Change: state.Change{Seq: t.Seq, At: t.At}, Us: t.Us, Spool: t.Spool}, nil
	case l.Snapshot != nil:
		return l, l.Snapshot.Check()
	}
	return l, nil
}

// foldLine folds one journal line into s. The line ends at offset end.
func foldLine(s *state.Session, l *Line, end int64) {
	if l.Snapshot != nil {
		*s = *l.Snapshot
	} else {
		*s = state.Apply(*s, l.Change)
	}
	s.Offset = end
}

// scan calls each for every whole line of r from offset on, with the offsets of its start and
// of the end of its newline. It returns the end of the last whole line and the number of lines
// that did not parse, which it skips. A tail without a newline is not a line.
func scan(r io.ReaderAt, offset int64, each func(l Line, start, end int64)) (end int64, bad int, err error) {
	return scanFor(r, offset, nil, each)
}

// scanFor is scan for the lines that want accepts, or all if want is nil. The others are not
// parsed.
func scanFor(r io.ReaderAt, offset int64, want func([]byte) bool, each func(l Line, start, end int64)) (end int64, bad int, err error) {
	buf := make([]byte, 0, 64<<10)
	start := offset // offset of buf in r
	end = offset
	long := false // the current line is too long to be ours
	for {
		if len(buf) == cap(buf) && cap(buf) < maxLine {
			buf = append(make([]byte, 0, 2*cap(buf)), buf...)
		} else if len(buf) == cap(buf) {
			long, start, buf = true, start+int64(len(buf)), buf[:0]
		}
		n, readErr := r.ReadAt(buf[len(buf):cap(buf)], start+int64(len(buf)))
		buf = buf[:len(buf)+n]
		used := 0
		for {
			i := bytes.IndexByte(buf[used:], '\n')
			if i < 0 {
				break
			}
			line := buf[used : used+i]
			used += i + 1
			end = start + int64(used)
			if want != nil && !long && !want(line) {
				continue
			}
			l, err := wholeLine(r, line, end, long)
			long = false
			switch {
			case err == nil:
				each(l, end-int64(len(line))-1, end)
			case errors.Is(err, state.ErrNewerSchema):
				return end, bad, err
			default:
				bad++
			}
		}
		start += int64(used)
		buf = append(buf[:0], buf[used:]...)
		if readErr == io.EOF {
			return end, bad, nil
		}
		if readErr != nil {
			return end, bad, readErr
		}
	}
}

// wholeLine parses a line of r that ends, with its newline, at end. A line that does not parse
// is read once more: a reader without the lock may have read its halves before and after a
// writer replaced a torn tail.
func wholeLine(r io.ReaderAt, line []byte, end int64, long bool) (Line, error) {
	if long {
		return Line{}, errLine
	}
	l, err := parseLine(line)
	if err != errLine {
		return l, err
	}
	if _, err := r.ReadAt(line, end-1-int64(len(line))); err != nil {
		return Line{}, errLine
	}
	return parseLine(line)
}
