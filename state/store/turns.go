package store

import (
	"bytes"
	"errors"
	"io/fs"
	"os"
	"strconv"

	"beckon/event/redact"
	"beckon/state"
)

// Turn is one turn with the number of its journal line.
type Turn struct {
	Seq int64
	state.Turn
}

// ID names the turn among those of every session.
func (t Turn) ID(k Key) string { return string(k) + "." + strconv.FormatInt(t.Seq, 10) }

// CommandID names the task that the turn belongs to, empty when it belongs to
// none that is known.
func (t Turn) CommandID(k Key) string {
	if t.Command == 0 {
		return ""
	}
	return string(k) + "." + strconv.FormatInt(t.Command, 10)
}

// Turns calls each for every turn of a session, whether it is live, archived
// or only its journal is left, in the order of its journal. What each gets stays
// valid.
func (st *Store) Turns(k Key, after int64, each func(Turn)) error {
	return st.scanJournals(k, after, isTurn, func(l Line) {
		if l.Change.Turn != nil {
			each(Turn{l.Change.Seq, *l.Change.Turn})
		}
	})
}

// isTurn reports whether a line is a turn's, at a glance: what it lets through
// is parsed.
func isTurn(line []byte) bool {
	return bytes.Contains(line[:min(len(line), 80)], []byte(`"kind":"turn"`))
}

// Said folds what the transcript tells that was said (progress, final words),
// oldest first, as part of the task under way. What is not newer than what was folded before is left out, so
// that readers may come at the same time. Texts are redacted and cut as the
// store is told to.
func (st *Store) Said(k Key, turns []state.Turn) error {
	h := held{st: st, key: k}
	if err := h.take(noWait); err != nil {
		return err
	}
	defer h.release()
	if h.s.Seq == 0 {
		return fs.ErrNotExist
	}
	upTo := h.s.Progress
	for _, t := range turns {
		if t.At <= upTo {
			continue
		}
		if h.s.Task.ID != 0 && t.At >= h.s.Task.Started {
			t.Command = h.s.Task.ID
		}
		t.Text = st.Texts.cut(redact.Text(t.Text), state.MaxTurn)
		if err := h.apply(&Update{Change: state.Change{At: t.At, Turn: &t}}, ""); err != nil {
			return errors.Join(err, h.commit())
		}
	}
	return h.commit()
}

// scanJournals calls each for the lines of a session's journal after the
// sequence number after that want lets through, the rotated segments first. A
// line that is read twice, because the journal was rotated meanwhile, is passed
// on once.
func (st *Store) scanJournals(k Key, after int64, want func([]byte) bool, each func(Line)) error {
	// The live journal is opened before the segments are listed. One that is
	// rotated meanwhile is then read twice; the other way round it would be
	// missed.
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
