package store

import (
	"io"

	"beckon/state"
)

// replayed is a session as its journal gives it.
type replayed struct {
	s     state.Session
	end   int64 // where its last whole line ends; part of another may follow
	bad   int   // lines in it that beckon did not write
	short bool  // it lacks lines that the session's file has: s is the file's
}

// replay brings s to the end of its journal r of length size. The result is the
// same as of replaying the whole journal, but when its newest lines follow s only
// those are read. Otherwise (after a rotation, or when a file was lost or damaged)
// all is replayed, and the newer of s and the journal is the truth.
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

// replayNew folds the lines past s.Offset. It reports false if what stands
// there does not follow s.
func replayNew(s state.Session, r io.ReaderAt) (t replayed, follows bool, err error) {
	var before [1]byte
	if _, err := r.ReadAt(before[:], s.Offset-1); err != nil && err != io.EOF {
		return t, false, err
	}
	if before[0] != '\n' {
		return t, false, nil
	}
	follows = true
	t.end, t.bad, err = scan(r, s.Offset, func(l Line, _, end int64) {
		if l.Snapshot != nil || l.Change.Seq != s.Seq+1 {
			follows = false
		}
		foldLine(&s, &l, end)
	})
	t.s = s
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
