package store

import (
	"bytes"
	"errors"
	"io/fs"
	"os"
	"strconv"
	"strings"

	"beckon/state"
	"beckon/state/cache"
)

// Lines calls each for every line of a session's journal after sequence number after, those of
// the rotated segments first. A snapshot is included only if the lines before it are gone,
// whose result it holds. Lines takes no lock: it ignores a half-written last line, which the
// next call returns. each may keep its argument.
func (st *Store) Lines(k Key, after int64, each func(Line)) error {
	return st.scanJournals(k, after, nil, each)
}

// scanFile scans a segment. One that does not exist has been dropped.
func scanFile(path string, want func([]byte) bool, each func(l Line, start, end int64)) error {
	f, err := open(path, os.O_RDONLY)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	defer f.Close()
	_, _, err = scanFor(f, 0, want, each)
	return err
}

// Turn is a turn with the number of its journal line.
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

// Turns calls each for every turn of a session after sequence number after, in journal order.
// The session may be live or archived, or have only its journal left. each may keep its
// argument.
func (st *Store) Turns(k Key, after int64, each func(Turn)) error {
	return st.scanJournals(k, after, isTurn, func(l Line) {
		if l.Change.Turn != nil {
			each(Turn{l.Change.Seq, *l.Change.Turn})
		}
	})
}

// isTurn reports whether a line may be a turn's, without parsing it.
func isTurn(line []byte) bool {
	return bytes.Contains(line[:min(len(line), 80)], []byte(`"kind":"turn"`))
}

// scanJournals calls each for the lines of a session's journal after sequence number after
// that want accepts, those of the rotated segments first. If the journal is rotated meanwhile
// and a line is read twice, each gets it once.
func (st *Store) scanJournals(k Key, after int64, want func([]byte) bool, each func(Line)) error {
	// The live journal is opened before the segments are listed. If it is rotated in between,
	// it is read twice; in the opposite order it would be missed.
	live, err := open(st.journal(k), os.O_RDONLY)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if err == nil {
		defer live.Close()
	}
	segs, err := st.segments(k)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	last := after
	pass := func(l Line, _, _ int64) {
		if l.Change.Seq > last {
			last = l.Change.Seq
			each(l)
		}
	}
	for _, name := range segs {
		if lastSeq(name, k) <= after {
			continue
		}
		if err := scanFile(st.path(journalDir, name), want, pass); err != nil {
			return err
		}
	}
	if live == nil {
		return nil
	}
	_, _, err = scanFor(live, 0, want, pass)
	return err
}

// Place is a position in a journal: after line Seq, which ends at byte Offset. The zero value
// is the beginning; the position of a session is Place{s.Seq, s.Offset}.
type Place struct {
	Seq    int64
	Offset int64
}

// Follow calls each for every line of a session's journal after p and returns the new
// position. It reads only what was added, unless the journal was rotated or replaced
// meanwhile: then it works like Lines. Follow takes no lock either, and ignores a half-written
// last line, which the next call returns.
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

// added reads the lines after p.Offset. follows is false if they do not continue p.
func (st *Store) added(k Key, p Place) (lines []Line, next Place, follows bool, err error) {
	f, err := open(st.journal(k), os.O_RDONLY)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, p, p.Seq == 0, nil
	}
	if err != nil {
		return nil, p, false, err
	}
	defer f.Close()
	size, err := sizeOf(f)
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
func beginsLine(f *os.File, offset int64) bool {
	if offset == 0 {
		return true
	}
	var before [1]byte
	_, err := f.ReadAt(before[:], offset-1)
	return err == nil && before[0] == '\n'
}

// followAnew reads the whole journal. Unless it finds its last line in the live journal, the
// new position has no offset, and the next call reads the whole journal again.
func (st *Store) followAnew(k Key, p Place, each func(Line)) (Place, error) {
	err := st.Lines(k, p.Seq, func(l Line) {
		p.Seq = l.Change.Seq
		each(l)
	})
	p.Offset = st.endOf(k, p.Seq)
	return p, err
}

// endOf returns the offset at which line seq ends in the live journal, or 0 if it is not
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

// KeyOfFile returns the key of a file in SessionsDir, and whether name is a session's file.
func KeyOfFile(name string) (Key, bool) {
	k, ok := strings.CutSuffix(name, ".json")
	return Key(k), ok && isKey(k)
}

// Newest calls each for the events in the last size bytes of a session's journal, the oldest
// first. It does not read rotated journals, and takes no lock.
func (st *Store) Newest(k Key, size int64, each func(Line)) error {
	f, err := open(st.journal(k), os.O_RDONLY)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	defer f.Close()
	end, err := sizeOf(f)
	if err != nil {
		return err
	}
	// The first piece may begin inside a line. It then does not parse, and is skipped.
	_, _, err = scanFor(f, max(0, end-size), isEvent, func(l Line, _, _ int64) {
		if l.Change.Event != nil {
			each(l)
		}
	})
	return err
}

// isEvent reports whether a line may be an event's, without parsing it.
func isEvent(line []byte) bool {
	return bytes.Contains(line[:min(len(line), 80)], []byte(`"kind":"event"`))
}

// JournalFile returns the path of a session's journal, to watch it for new lines.
func (st *Store) JournalFile(k Key) string { return st.journal(k) }

// JournalSize returns the length of a session's journal, 0 if there is none.
func (st *Store) JournalSize(k Key) int64 {
	journal, _ := cache.StampOf(st.journal(k))
	return journal.Size
}
