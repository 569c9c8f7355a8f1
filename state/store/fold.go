package store

import (
	"cmp"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"time"

	"beckon/event"
	"beckon/event/redact"
	"beckon/state"
)

// Update is one change to be folded into a session.
type Update struct {
	Change state.Change
	// Elapsed gives the microseconds that the caller has taken so far; it is
	// asked just before the line is written. Nil means not measured.
	Elapsed func() int64
	// Origin reads where the event came from. It is called under the lock, only
	// on SessionStart, at first sight, and when the directory or the process
	// changed: it costs system calls. Nil means that nothing is known of it.
	Origin func() *event.Origin
	// Complete is set instead of Origin for an event whose sender told where it
	// came from, as far as it knows. It is called at the same occasions, with
	// that and what was known before, and adds what this machine can tell.
	Complete func(event.Origin) event.Origin
	// Alive reports whether a process is there, given when its last hook came. It
	// tells whether the terminal's last occupant still sits in it. Nil means not
	// known.
	Alive func(event.Process, event.Millis) state.Presence
	// Words returns what a transcript tells that the agent said last, and when,
	// for a Stop that does not say it; nothing where o is another machine. It is
	// called under the lock. Nil means that nobody can tell.
	Words func(o *event.Origin, transcript string) (text string, at event.Millis)
	// Other returns the process that sent the event if that is not owner, which
	// sent those before; else the zero Process. Nil means not known.
	Other func(owner event.Process) event.Process
	// Wait is how long to wait for the lock; zero means LockWait.
	Wait time.Duration
}

// Result is what a fold did.
type Result struct {
	Before, After state.Session
	New           bool   // the session was not known before
	Method        string // how a new session found its seat; empty for a known one
}

// Fold folds u into the session k, or into the part of it that the event's
// process has. An event that cannot be folded, for want of the lock
// (ErrBusy) or because a file cannot be written, is spooled for the next
// holder: it is not lost, and the caller has nothing more to do. The
// exception is state.ErrNewerSchema: what a newer version wrote is left
// untouched. An error other than ErrBusy is worth a line in the log.
//
// An observation that the session has already is not written again.
func (st *Store) Fold(k Key, u Update) (res Result, err error) {
	wait := u.Wait
	if wait == 0 {
		wait = LockWait
	}
	if e := u.Change.Event; e != nil {
		e.Redact() // nothing reaches the disk before it
		st.Texts.event(e)
	}
	own, err := st.fold(k, &u, wait, &res)
	if own != k {
		_, err = st.fold(own, &u, wait, &res)
	}
	return res, err
}

// fold folds u into the record k, unless it belongs to another one: then it
// only says so.
func (st *Store) fold(k Key, u *Update, wait time.Duration, res *Result) (own Key, err error) {
	h := holder{st: st, key: k}
	if err := h.acquire(wait); err != nil {
		return k, st.postpone(k, u, err)
	}
	defer h.release()
	res.Before, res.New = h.s, h.s.Seq == 0
	h.drain(u.Alive)
	if own = st.owner(k, &h.s, u); own != k {
		return own, h.commit()
	}
	if e := u.Change.Event; e != nil && e.Kind == event.Stop && e.Meter == nil {
		e.Meter = st.Meter(k)
	}
	if !known(&h.s, u.Change.Observation) {
		res.Method = h.place(u)
		h.finalWords(u)
		if err := h.apply(u, ""); err != nil {
			return k, errors.Join(st.postpone(k, u, err), h.commit())
		}
	}
	res.After = h.s
	err = h.commit()
	if err == nil && needs(&res.Before) != needs(&res.After) {
		st.needsChanged()
	}
	return k, err
}

// needs is what the facts alone say that a session needs, and since when.
func needs(s *state.Session) (n struct {
	state state.State
	since event.Millis
}) {
	if st := s.ByHooks(s.Updated); st.NeedsYou {
		n.state, n.since = st.State, st.Since
	}
	return n
}

// NeedsFile is a file that is touched whenever a session comes to need the user, or
// no more: one look at it tells a view that watches nothing else.
func (st *Store) NeedsFile() string { return filepath.Join(st.Dir, "needs") }

func (st *Store) needsChanged() {
	path, now := st.NeedsFile(), time.Now()
	if os.Chtimes(path, now, now) != nil {
		_ = os.WriteFile(path, nil, fileMode) // without it views are some seconds late
	}
}

// finalWords has a Stop say what it does not. Words from before the turn are
// those of another.
func (h *holder) finalWords(u *Update) {
	e := u.Change.Event
	if e == nil || e.Kind != event.Stop || e.AgentID != "" || e.Message != "" || e.Meaning != nil || u.Words == nil {
		return
	}
	path, o := cmp.Or(e.TranscriptPath, h.s.Transcript), &h.s.Origin
	if e.Origin != nil {
		o = e.Origin
	}
	if path == "" {
		return
	}
	if text, at := u.Words(o, path); at > max(h.s.Prompt.At, h.s.Stop.At, h.s.Start.At) {
		e.Message = event.CutTail(redact.Text(text), event.MaxMessage)
		h.st.Texts.event(e)
	}
}

// postpone spools an event that could not be folded because of err, and returns
// err. When it cannot be spooled either it is lost, and that is never ErrBusy.
func (st *Store) postpone(k Key, u *Update, err error) error {
	e := u.Change.Event
	if e == nil || errors.Is(err, state.ErrNewerSchema) || errors.Is(err, errLine) {
		return err
	}
	if u.Other != nil {
		if s, err := st.peek(k); err == nil {
			k = st.owner(k, &s, u)
		}
	}
	switch {
	case u.Complete != nil: // the one that drains it cannot find out more
		s, _ := st.Load(k)
		u.fillOrigin(&s)
	case e.Origin == nil && u.Origin != nil:
		e.Origin = u.Origin()
	}
	if spoolErr := st.spool(k, u.Change); spoolErr != nil {
		return errors.New("event is lost: " + err.Error() + "; spooling it: " + spoolErr.Error())
	}
	return err
}

// known reports whether s has folded what o says: readers that look at the
// same time see the same thing.
func known(s *state.Session, o *state.Observed) bool {
	return o != nil && slices.ContainsFunc(s.Seeing, func(x state.Observed) bool {
		return x.Source == o.Source && x.What == o.What && x.At >= o.At
	})
}

// Said folds what the transcript says was said (progress, final words),
// oldest first, as part of the task under way. What is not newer than what was folded before is left out, so
// that readers may come at the same time. Texts are redacted and cut as the
// store is set to.
func (st *Store) Said(k Key, turns []state.Turn) error {
	h := holder{st: st, key: k}
	if err := h.acquire(noWait); err != nil {
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
