package store

import (
	"bytes"
	"errors"
	"io"

	"beckon/event"
	"beckon/event/jsonenc"
	"beckon/state"
)

// maxLine bounds one journal line. The longest of ours is an event with a full
// snapshot of background tasks, every byte of it escaped: a third of this.
const maxLine = 1 << 20

// Line is one journal line.
type Line struct {
	Change   state.Change
	Us       int64          // what the hook took until the line was written, in microseconds
	Spool    string         // the spool file that the event waited in, if it did
	Snapshot *state.Session // set on the first line of a rotated journal
}

// Kind returns the line's kind: event, observation, action, turn, snapshot, or
// unknown for one that a newer version wrote.
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

// lineStart is how every line of ours begins.
const lineStart = `{"seq":`

// lineText is a line as it stands in the file.
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

// appendLine appends l as a line, with its newline.
func appendLine(dst []byte, l Line) []byte {
	c := l.Change
	t := lineText{c.Seq, c.At, l.Kind(), l.Us, l.Spool, l.Snapshot, c.Event, c.Observation, c.Action, c.Turn}
	return append(jsonenc.Append(dst, &t), '\n')
}

// errLine is returned for a line that is not a journal line.
var errLine = errors.New("not a journal line")

// parseLine reads one line, without its newline. A line of a kind that a
// newer version added gives a Change that changes nothing. A snapshot of a
// newer schema is state.ErrNewerSchema: it cannot be passed over.
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

// foldLine folds one journal line, which ends at offset end, into s.
func foldLine(s *state.Session, l *Line, end int64) {
	if l.Snapshot != nil {
		*s = *l.Snapshot
	} else {
		*s = state.Apply(*s, l.Change)
	}
	s.Offset = end
}

// scan calls each for every whole line of r from offset on, with where the line
// starts and where its newline ends, and returns where the last whole line
// ends. Lines that do not parse are counted and passed over; a tail without a
// newline is not a line.
func scan(r io.ReaderAt, offset int64, each func(l Line, start, end int64)) (end int64, bad int, err error) {
	return scanFor(r, offset, nil, each)
}

// scanFor is scan for the lines that want lets through, all when it is nil; the
// others are not parsed.
func scanFor(r io.ReaderAt, offset int64, want func([]byte) bool, each func(l Line, start, end int64)) (end int64, bad int, err error) {
	buf := make([]byte, 0, 64<<10)
	start := offset // where buf begins in r
	end = offset
	long := false // the line under way is too long to be ours
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

// wholeLine parses a line of r that ends, with its newline, at end. A reader
// that has no lock may have read its two halves before and after a writer cut
// off a torn tail and wrote there: it is read once more.
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
