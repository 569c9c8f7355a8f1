package store

import (
	"errors"
	"io/fs"
	"os"
	"strconv"
	"strings"

	"beckon/state"
)

// segment is the size at which a journal is rotated. A tool event takes about 400 bytes, so a
// segment holds about ten thousand events. Tests change it.
var segment int64 = 4 << 20

// maxSegments is how many rotated segments of a session are kept.
const maxSegments = 8

// rotate renames the journal; its new name contains the last sequence number. The next line
// begins a new journal, after a snapshot.
//
// The session's file is written first. If a kill then leaves no journal, an empty one, or one
// with half a snapshot, the file is the newer of the two, and the next holder continues from
// it.
func (h *holder) rotate() error {
	if err := h.commit(); err != nil {
		return err
	}
	live := h.st.journal(h.key)
	old := h.st.path(journalDir, string(h.key)+"."+strconv.FormatInt(h.s.Seq, 10)+".jsonl")
	if exists(old) { // left by a journal that was deleted by hand and began at 1 again
		if err := h.st.quarantine(old); err != nil {
			return err
		}
	}
	h.closeJournal() // Windows cannot rename an open file
	if err := rename(live, old); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return errors.Join(err, h.openJournal())
	}
	h.size = 0
	h.dropSegments()
	return nil
}

// writeSnapshot appends h.s to the journal, so that it can be replayed from there.
func (h *holder) writeSnapshot() error {
	s := h.s
	s.Offset = 0
	c := state.Change{Seq: s.Seq, At: s.Updated}
	if err := h.writeLine(appendLine(nil, Line{Change: c, Snapshot: &s})); err != nil {
		return err
	}
	h.s.Offset = h.size
	h.dirty = true
	return nil
}

// dropSegments removes the oldest rotated segments beyond the limit.
func (h *holder) dropSegments() {
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
		if lastSeq(n, k) > 0 {
			segs = append(segs, n)
		}
	}
	sortBy(segs, func(n string) int64 { return lastSeq(n, k) })
	return segs, nil
}

// lastSeq returns the sequence number in the name of a rotated segment, or 0 for any other
// file.
func lastSeq(name string, k Key) int64 {
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
