package store

import (
	"errors"
	"io/fs"
	"os"
	"strconv"
	"strings"

	"beckon/state"
)

// segment is the size at which a journal is rotated. A tool event is about
// 400 bytes, so a segment holds some ten thousand events. A variable for tests.
var segment int64 = 4 << 20

// maxSegments is how many rotated segments of a session are kept.
const maxSegments = 8

// rotate sets the journal aside, under a name with the last sequence number in
// it; the next line begins a new one, with a snapshot.
//
// The session's file is written first. Whatever a kill leaves then, no
// journal, an empty one or one with half a snapshot, the file is the newer of
// the two and the next holder goes on from it.
func (h *holder) rotate() error {
	if err := h.commit(); err != nil {
		return err
	}
	live := h.st.journal(h.key)
	old := h.st.path(journalDir, string(h.key)+"."+strconv.FormatInt(h.s.Seq, 10)+".jsonl")
	if exists(old) { // of a journal that was deleted by hand, and began at 1 again
		if err := h.st.quarantine(old); err != nil {
			return err
		}
	}
	h.closeJournal() // Windows renames no open file
	if err := rename(live, old); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return errors.Join(err, h.openJournal())
	}
	h.size = 0
	h.dropSegments()
	return nil
}

// writeSnapshot puts h.s at the end of the journal, to go on from.
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

// lastSeq returns the sequence number in a rotated segment's name, 0 for any
// other file.
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
