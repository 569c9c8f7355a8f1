package store

import (
	"io"

	"beckon/state"
)

// replayed is a session rebuilt from its journal.
type replayed struct {
	s     state.Session
	end   int64 // end of the last whole line; part of another may follow
	bad   int   // number of lines that beckon did not write
	short bool  // the journal lacks lines that the session's file has, and s is from the file
}

// replay folds journal r, of length size, into s. The result equals a replay of the whole
// journal, but if its newest lines continue s, only those are read. Otherwise (after a
// rotation, or when a file was lost or damaged) the whole journal is replayed, and the newer
// of s and the journal wins.
func replay(s state.Session, r io.ReaderAt, size int64) (replayed, error) {
	if s.Seq > 0 && 0 < s.Offset && s.Offset <= size {
		t, follows, err := replayNew(s, r)
		if follows || err != nil {
			return t, err
		}
	}
	t, err := replayAll(r)
	if err == nil && t.s.Seq < s.Seq {
		t.s, t.short = s, true
	}
	return t, err
}

// replayNew folds the lines after s.Offset. follows is false if they do not continue s.
func replayNew(s state.Session, r io.ReaderAt) (t replayed, follows bool, err error) {
	t.s = s
	t.end, t.bad, follows, err = scanAfter(r, Place{s.Seq, s.Offset}, func(l Line, _, end int64) { foldLine(&t.s, &l, end) })
	return t, follows && t.bad == 0, err
}

// replayAll folds a journal from its start.
func replayAll(r io.ReaderAt) (t replayed, err error) {
	t.end, t.bad, err = scan(r, 0, func(l Line, _, end int64) { foldLine(&t.s, &l, end) })
	if t.s.Seq > 0 {
		t.s.Offset = t.end // lines that beckon did not write count as read
	}
	return t, err
}
