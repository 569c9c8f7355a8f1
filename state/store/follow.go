package store

import (
	"errors"
	"io/fs"
	"os"
	"strings"

	"beckon/state"
)

// Place is how far a journal was followed: to the line Seq, which ended at
// byte Offset. The zero value is before its beginning; where a session stands
// is Place{s.Seq, s.Offset}.
type Place struct {
	Seq    int64
	Offset int64
}

// Follow calls each for every line of a session's journal after p and returns
// where it got to. It reads only what was added, unless the journal was rotated
// or made again meanwhile: then it is Lines. Like it, Follow takes no lock, and a
// half-written last line is left for the next call.
func (st *Store) Follow(k Key, p Place, each func(Line)) (Place, error) {
	lines, next, follows, err := st.added(k, p)
	if err != nil {
		return p, err
	}
	if !follows {
		return st.followAnew(k, p, each)
	}
	for _, l := range lines {
		each(l)
	}
	return next, nil
}

// added reads the lines past p.Offset. It reports false if what stands there
// does not follow p.
func (st *Store) added(k Key, p Place) (lines []Line, next Place, follows bool, err error) {
	f, err := open(st.journal(k), os.O_RDONLY)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, p, p.Seq == 0, nil
	}
	if err != nil {
		return nil, p, false, err
	}
	defer f.Close()
	size, _, err := f.Size()
	if err != nil || size < p.Offset || !beginsLine(f, p.Offset) {
		return nil, p, false, err
	}
	next, follows = p, true
	end, _, err := scan(f, p.Offset, func(l Line, _, _ int64) {
		follows = follows && l.Change.Seq == next.Seq+1 && l.Snapshot == nil
		next.Seq = l.Change.Seq
		lines = append(lines, l)
	})
	next.Offset = end
	return lines, next, follows, err
}

// beginsLine reports whether a line begins at offset.
func beginsLine(f *file, offset int64) bool {
	if offset == 0 {
		return true
	}
	var before [1]byte
	_, err := f.ReadAt(before[:], offset-1)
	return err == nil && before[0] == '\n'
}

// followAnew goes through the whole journal. Its place has no offset that could
// be trusted, so the next call goes through it again, unless the live journal
// says where its last line is.
func (st *Store) followAnew(k Key, p Place, each func(Line)) (Place, error) {
	err := st.Lines(k, p.Seq, func(l Line) {
		p.Seq = l.Change.Seq
		each(l)
	})
	p.Offset = st.endOf(k, p.Seq)
	return p, err
}

// endOf returns where the line seq ends in the live journal, 0 if it is not
// there.
func (st *Store) endOf(k Key, seq int64) (at int64) {
	f, err := open(st.journal(k), os.O_RDONLY)
	if err != nil {
		return 0
	}
	defer f.Close()
	_, _, _ = scan(f, 0, func(l Line, _, end int64) {
		if l.Change.Seq == seq {
			at = end
		}
	})
	return at
}

// Stale reports whether more has happened to a session than s holds, by the
// length of its journal and what waits for its lock: a stat, and an open that
// fails.
func (st *Store) Stale(k Key, s *state.Session) bool {
	return st.behind(k, s) || len(st.pending(k)) > 0
}

// KeyOfFile returns the key of a session's file in SessionsDir, and whether
// name is one.
func KeyOfFile(name string) (Key, bool) {
	k, ok := strings.CutSuffix(name, ".json")
	return Key(k), ok && isKey(k)
}

// JournalFile is the journal of a session: to be watched for what is appended.
func (st *Store) JournalFile(k Key) string { return st.journal(k) }

// JournalSize is the length of a session's journal, 0 when there is none.
func (st *Store) JournalSize(k Key) int64 {
	info, err := os.Stat(st.journal(k))
	if err != nil {
		return 0
	}
	return info.Size()
}
