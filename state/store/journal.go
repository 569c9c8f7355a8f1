package store

import (
	"bytes"
	"errors"
	"io"
	"os"
	"strconv"
	"strings"

	"beckon/event"
	"beckon/event/jsonenc"
	"beckon/state"

	"github.com/tidwall/gjson"
)

// segment is the size at which a journal is rotated. A tool event is about
// 400 bytes, so a segment holds some ten thousand events.
const segment = 4 << 20

// maxSegments is how many rotated segments of a session are kept.
const maxSegments = 8

// maxLine bounds one journal line when reading: a snapshot of a session at its
// limit of 64 KiB, and room.
const maxLine = 256 << 10

// Line is one journal line.
type Line struct {
	Change   state.Change
	Us       int64          // what the hook took until the line was written, in microseconds
	Snapshot *state.Session // set on the first line of a rotated journal
}

// Kind returns the line's kind: event, observation, action or snapshot.
func (l Line) Kind() string {
	switch {
	case l.Snapshot != nil:
		return "snapshot"
	case l.Change.Event != nil:
		return "event"
	case l.Change.Observation != nil:
		return "observation"
	}
	return "action"
}

// appendLine appends l as a line, with its newline.
func appendLine(dst []byte, l Line) []byte {
	c := l.Change
	kind := l.Kind()
	dst = append(dst, `{"seq":`...)
	dst = strconv.AppendInt(dst, c.Seq, 10)
	dst = jsonenc.Int(dst, "at", int64(c.At))
	dst = jsonenc.Str(dst, "kind", kind)
	dst = jsonenc.Int(dst, "us", l.Us)
	dst = jsonenc.Key(dst, kind)
	switch kind {
	case "snapshot":
		dst = state.AppendJSON(dst, l.Snapshot)
	case "event":
		dst = event.AppendJSON(dst, c.Event)
	case "observation":
		dst = jsonenc.Append(dst, c.Observation)
	case "action":
		dst = jsonenc.Append(dst, c.Action)
	}
	return append(dst, '}', '\n')
}

// errLine is returned for a line that is not a journal line.
var errLine = errors.New("not a journal line")

// parseLine reads one line, without its newline. A line of a kind that a
// newer version added gives a Change that changes nothing.
func parseLine(b []byte) (Line, error) {
	if !gjson.ValidBytes(b) {
		return Line{}, errLine
	}
	var l Line
	var kind string
	var body gjson.Result
	gjson.ParseBytes(b).ForEach(func(k, v gjson.Result) bool {
		switch k.Str {
		case "seq":
			l.Change.Seq = v.Int()
		case "at":
			l.Change.At = event.Millis(v.Int())
		case "us":
			l.Us = v.Int()
		case "kind":
			kind = v.Str
		case kind:
			body = v
		}
		return true
	})
	if l.Change.Seq <= 0 {
		return Line{}, errLine
	}
	return l, l.body(kind, body)
}

func (l *Line) body(kind string, v gjson.Result) error {
	switch kind {
	case "snapshot":
		s, err := state.DecodeJSON([]byte(v.Raw))
		l.Snapshot = &s
		return err
	case "event":
		e, err := event.DecodeJSON(v)
		l.Change.Event = &e
		return err
	case "observation":
		l.Change.Observation = new(state.Observed)
		jsonenc.Decode(v, l.Change.Observation)
	case "action":
		l.Change.Action = new(state.Action)
		jsonenc.Decode(v, l.Change.Action)
	}
	return nil
}

// foldLine folds one journal line, which ends at offset end.
func foldLine(s state.Session, l Line, end int64) state.Session {
	if l.Snapshot != nil {
		s = *l.Snapshot
	} else {
		s = state.Apply(s, l.Change)
	}
	s.Offset = end
	return s
}

// scan calls each for every whole line of r from offset on and returns where
// the last whole line ends. Lines that do not parse are counted and passed
// over; a torn tail is not a line.
func scan(r io.ReaderAt, offset int64, each func(l Line, end int64)) (end int64, bad int, err error) {
	buf := make([]byte, 0, 64<<10)
	end = offset
	for {
		if len(buf) == cap(buf) {
			if cap(buf) >= maxLine { // no line of ours: what follows it is read on
				bad++
				end += int64(len(buf))
				buf = buf[:0]
			} else {
				buf = append(make([]byte, 0, 2*cap(buf)), buf...)
			}
		}
		n, err := r.ReadAt(buf[len(buf):cap(buf)], end+int64(len(buf)))
		buf = buf[:len(buf)+n]
		used := 0
		for {
			i := bytes.IndexByte(buf[used:], '\n')
			if i < 0 {
				break
			}
			line := buf[used : used+i]
			used += i + 1
			end += int64(i) + 1
			l, lineErr := parseLine(bytes.Clone(line)) // what is decoded shares its memory
			if lineErr != nil {
				bad++
				continue
			}
			each(l, end)
		}
		buf = append(buf[:0], buf[used:]...)
		if err == io.EOF {
			return end, bad, nil
		}
		if err != nil {
			return end, bad, err
		}
	}
}

// catchUp brings h.s to the end of the journal: it cuts off a torn tail and
// folds the lines past the file's offset, so a kill between append and rename
// costs nothing.
func (h *held) catchUp() error {
	info, err := h.j.Stat()
	if err != nil {
		return err
	}
	h.size = info.Size()
	if h.size == h.s.Offset {
		return nil
	}
	h.dirty = true
	if h.size > h.s.Offset && h.s.Seq > 0 {
		if ok, err := h.foldRest(); ok || err != nil {
			return err
		}
	}
	return h.refold()
}

// foldRest folds the lines past h.s.Offset. It reports false, and changes
// nothing, if what stands there does not follow h.s.
func (h *held) foldRest() (bool, error) {
	s, follows, first := h.s, true, true
	end, _, err := scan(h.j, h.s.Offset, func(l Line, end int64) {
		if first && (l.Change.Seq != s.Seq+1 || l.Snapshot != nil) {
			follows = false
		}
		first = false
		s = foldLine(s, l, end)
	})
	if err != nil || !follows {
		return false, err
	}
	s.Offset = end
	h.s = s
	return true, h.truncate(end)
}

// refold folds the journal from its start: after a rotation that a crash
// followed, after the session file was lost, or after the journal was. The
// newer of the two is the truth.
func (h *held) refold() error {
	var s state.Session
	end, _, err := scan(h.j, 0, func(l Line, end int64) { s = foldLine(s, l, end) })
	if err != nil {
		return err
	}
	if err := h.truncate(end); err != nil {
		return err
	}
	if s.Seq >= h.s.Seq {
		s.Offset = end
		h.s = s
		return nil
	}
	return h.writeSnapshot(h.j) // the journal lost lines: go on from the session
}

// truncate cuts a torn tail off the journal.
func (h *held) truncate(end int64) error {
	if end == h.size {
		return nil
	}
	if err := h.j.Truncate(end); err != nil {
		return err
	}
	h.size = end
	return nil
}

// writeLine appends b to the journal. A write that did not go through whole
// is taken back, so that the journal never holds half a line.
func (h *held) writeLine(b []byte) error {
	n, err := h.j.WriteAt(b, h.size)
	if err != nil {
		if n > 0 {
			_ = h.j.Truncate(h.size)
		}
		return err
	}
	h.size += int64(n)
	return nil
}

// writeSnapshot starts the journal f, or goes on in it, from h.s.
func (h *held) writeSnapshot(f *os.File) error {
	h.s.Offset = 0
	b := appendLine(nil, Line{Change: state.Change{Seq: max(h.s.Seq, 1), At: h.s.Updated}, Snapshot: &h.s})
	if f != h.j {
		n, err := f.Write(b)
		h.s.Offset = int64(n)
		return err
	}
	err := h.writeLine(b)
	h.s.Offset = h.size
	return err
}

// rotate begins a new journal with a snapshot. The old one keeps its lines
// under a name with the last sequence number in it. Both names lead to it
// until the rename, so a kill leaves at worst a second name.
func (h *held) rotate() error {
	live, tmp := h.st.journal(h.key), h.st.path(tmpDir, string(h.key)+".jsonl")
	old := h.st.path(journalDir, string(h.key)+"."+strconv.FormatInt(h.s.Seq, 10)+".jsonl")
	f, err := os.OpenFile(tmp, os.O_RDWR|os.O_CREATE|os.O_TRUNC, fileMode)
	if err != nil {
		return err
	}
	before := h.s
	if err = h.writeSnapshot(f); err == nil {
		if err = os.Link(live, old); errors.Is(err, os.ErrExist) {
			err = nil
		}
	}
	if err == nil {
		err = rename(tmp, live)
	}
	if err != nil {
		h.s = before
		_ = f.Close()
		_ = os.Remove(tmp)
		return err
	}
	_ = h.j.Close()
	h.j, h.size = f, h.s.Offset
	h.dropSegments()
	return nil
}

// dropSegments removes the oldest rotated segments beyond the limit.
func (h *held) dropSegments() {
	segs, err := h.st.segments(h.key)
	if err != nil {
		return
	}
	for len(segs) > maxSegments {
		_ = os.Remove(h.st.path(journalDir, segs[0]))
		segs = segs[1:]
	}
}

// segments lists the file names of a session's rotated journals, oldest first.
func (st *Store) segments(k Key) ([]string, error) {
	names, err := readNames(st.path(journalDir, ""))
	if err != nil {
		return nil, err
	}
	var segs []string
	for _, n := range names {
		if seq(n, k) > 0 {
			segs = append(segs, n)
		}
	}
	sortBy(segs, func(n string) int64 { return seq(n, k) })
	return segs, nil
}

// seq returns the sequence number in a rotated segment's name, 0 for any
// other file.
func seq(name string, k Key) int64 {
	rest, ok := strings.CutPrefix(name, string(k)+".")
	if !ok {
		return 0
	}
	num, ok := strings.CutSuffix(rest, ".jsonl")
	if !ok {
		return 0
	}
	n, err := strconv.ParseInt(num, 10, 64)
	if err != nil {
		return 0
	}
	return n
}

// Lines calls each for every line of a session's journal after the sequence
// number after, the rotated segments first. It takes no lock: a half-written
// last line is left for the next call.
func (st *Store) Lines(k Key, after int64, each func(Line)) error {
	segs, err := st.segments(k)
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return err
	}
	last := after
	pass := func(l Line, _ int64) {
		if l.Change.Seq > last && l.Snapshot == nil {
			last = l.Change.Seq
			each(l)
		}
	}
	for _, name := range append(segs, string(k)+".jsonl") {
		if n := seq(name, k); n > 0 && n <= after {
			continue
		}
		f, err := os.Open(st.path(journalDir, name))
		if errors.Is(err, os.ErrNotExist) {
			continue
		}
		if err != nil {
			return err
		}
		_, _, err = scan(f, 0, pass)
		_ = f.Close()
		if err != nil {
			return err
		}
	}
	return nil
}
