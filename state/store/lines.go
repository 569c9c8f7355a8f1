package store

import (
	"bytes"
	"errors"
	"io"
	"io/fs"
	"os"
	"strconv"
	"strings"

	"beckon/event/plainfile"
	"beckon/state"
)

// Lines calls each for every line of a session's journal after sequence number after, those of
// the rotated segments first. A snapshot is included only if the lines before it are gone,
// whose result it holds. Lines takes no lock: it ignores a half-written last line, which the
// next call returns. each may keep its argument.
func (st *Store) Lines(k Key, after int64, each func(Line)) error {
	_, err := st.scanJournals(k, after, nil, each)
	return err
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
	_, err := st.scanJournals(k, after, maybe("turn"), func(l Line) {
		if l.Change.Turn != nil {
			each(Turn{l.Change.Seq, *l.Change.Turn})
		}
	})
	return err
}

// maybe returns a function that reports whether a line may be of that kind, without parsing
// it.
func maybe(kind string) func(line []byte) bool {
	member := []byte(`"kind":"` + kind + `"`)
	return func(line []byte) bool { return bytes.Contains(line[:min(len(line), 80)], member) }
}

// scanJournals calls each for the lines of a session's journal after sequence number after
// that want accepts, those of the rotated segments first, and returns how far it read the live
// journal. If that is rotated meanwhile and a line is read twice, each gets it once.
func (st *Store) scanJournals(k Key, after int64, want func([]byte) bool, each func(Line)) (end int64, err error) {
	// The live journal is opened before the segments are listed. If it is rotated in between,
	// it is read twice; in the opposite order it would be missed.
	live, err := open(st.journal(k), os.O_RDONLY)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return 0, err
	}
	if err == nil {
		defer live.Close()
	}
	segs, err := st.segments(k)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return 0, err
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
			return 0, err
		}
	}
	if live == nil {
		return 0, nil
	}
	end, _, err = scanFor(live, 0, want, pass)
	return end, err
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

// added reads the lines after p. follows is false if they do not continue p.
func (st *Store) added(k Key, p Place) (lines []Line, next Place, follows bool, err error) {
	f, err := open(st.journal(k), os.O_RDONLY)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, p, p.Seq == 0, nil
	}
	if err != nil {
		return nil, p, false, err
	}
	defer f.Close()
	next = p
	next.Offset, _, follows, err = scanAfter(f, p, func(l Line, _, _ int64) {
		next.Seq = l.Change.Seq
		lines = append(lines, l)
	})
	return lines, next, follows, err
}

// scanAfter is scan from p on. follows is false if the lines there do not continue p: the
// journal was rotated or replaced.
func scanAfter(r io.ReaderAt, p Place, each func(l Line, start, end int64)) (end int64, bad int, follows bool, err error) {
	if !beginsLine(r, p.Offset) {
		return 0, 0, false, nil
	}
	follows = true
	end, bad, err = scan(r, p.Offset, func(l Line, start, end int64) {
		follows = follows && l.Change.Seq == p.Seq+1 && l.Snapshot == nil
		p.Seq = l.Change.Seq
		each(l, start, end)
	})
	return end, bad, follows, err
}

// beginsLine reports whether a line begins, or would begin, at offset. After a power cut a
// journal may end in zeros.
func beginsLine(r io.ReaderAt, offset int64) bool {
	if offset == 0 {
		return true
	}
	var before [1]byte
	_, err := r.ReadAt(before[:], offset-1)
	return err == nil && before[0] == '\n'
}

// followAnew reads the whole journal. If that is rotated meanwhile, no line continues the new
// position, and the next call reads the whole journal again.
func (st *Store) followAnew(k Key, p Place, each func(Line)) (Place, error) {
	end, err := st.scanJournals(k, p.Seq, nil, func(l Line) {
		p.Seq = l.Change.Seq
		each(l)
	})
	p.Offset = end
	return p, err
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
	_, _, err = scanFor(f, max(0, end-size), maybe("event"), func(l Line, _, _ int64) {
		if l.Change.Event != nil {
			each(l)
		}
	})
	return err
}

// JournalFile returns the path of a session's journal, to watch it for new lines.
func (st *Store) JournalFile(k Key) string { return st.journal(k) }

// JournalSize returns the length of a session's journal, 0 if there is none.
func (st *Store) JournalSize(k Key) int64 {
	journal, _ := plainfile.StampOf(st.journal(k))
	return journal.Size
}
