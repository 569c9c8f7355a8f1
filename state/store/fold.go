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

// Update is a change to fold into a session.
type Update struct {
	Change state.Change
	// Elapsed returns the microseconds that the caller has taken so far. It is called just
	// before the line is written. Nil means not measured.
	Elapsed func() int64
	// Origin finds out where the event came from. As it costs system calls, it is called only
	// on SessionStart, at the first event, and when the directory or the process has changed;
	// always under the lock. Nil means unknown.
	Origin func() *event.Origin
	// Complete is set instead of Origin if the event's sender reports its origin. It is called
	// at the same times with what is known so far, and adds what this machine can find out.
	Complete func(event.Origin) event.Origin
	// Alive reports whether a process is there, given the time of its last hook. It decides
	// whether the last session of a terminal still occupies it. Nil means unknown.
	Alive func(event.Process, event.Millis) state.Presence
	// Words returns the agent's last message in a transcript and its time, for a Stop that
	// comes without a message. It returns nothing if o is another machine. It is called under
	// the lock. Nil means that no transcript can be read.
	Words func(o *event.Origin, transcript string) (text string, at event.Millis)
	// Other returns the process that sent the event if it is not owner, the process of the
	// earlier ones; otherwise the zero Process. Nil means unknown.
	Other func(owner event.Process) event.Process
	// Wait is how long to wait for the lock; zero means LockWait.
	Wait time.Duration
}

// Result describes what a fold did.
type Result struct {
	Before, After state.Session
	New           bool   // k was unknown before
	Method        Method // how a new session found its seat; empty for a known one
}

// Fold folds u into session k, or into the part of it that belongs to the event's process. If
// the lock is not free in time (ErrBusy), a file cannot be written, or a newer version wrote the
// session (state.ErrNewerSchema; it stays untouched), the event waits in late/: it is not lost,
// and the caller need not do anything. Any error other than ErrBusy should be logged.
//
// An observation that the session already contains is not written again.
func (st *Store) Fold(k Key, u Update) (res Result, err error) {
	u.Wait = cmp.Or(u.Wait, LockWait)
	if e := u.Change.Event; e != nil {
		e.Redact() // before anything is written
		st.Texts.event(e)
	}
	if a := u.Change.Action; a != nil && a.Decided != nil {
		a.Decided.Text = st.Texts.prompt(redact.Text(a.Decided.Text))
	}
	own, err := st.fold(k, &u, &res)
	if own != k {
		_, err = st.fold(own, &u, &res)
	}
	return res, err
}

// fold folds u into session k. If u belongs to another part of it, fold only returns the key of
// that.
func (st *Store) fold(k Key, u *Update, res *Result) (own Key, err error) {
	h, err := st.acquire(k, u.Wait)
	if err != nil {
		return k, st.postpone(k, u, err)
	}
	defer h.release()
	res.Before, res.New = *h.s, h.s.Seq == 0
	h.takeLate(u.Alive)
	if own = st.owner(k, h.s, u); own != k {
		return own, h.commit()
	}
	if e := u.Change.Event; e != nil && e.Kind == event.Stop && e.Meter == nil {
		e.Meter = st.Meter(k)
	}
	if !known(h.s, u.Change.Observation) {
		res.Method = h.place(u)
		h.finalWords(u)
		h.apply(u)
	}
	res.After = *h.s
	if err := h.commit(); err != nil {
		return k, st.postpone(k, u, err)
	}
	if needs(&res.Before) != needs(&res.After) {
		st.needsChanged()
	}
	return k, nil
}

// needs returns the state in which the session needs the user, and since when, by its facts
// alone; zero values if it does not.
func needs(s *state.Session) (n struct {
	state state.State
	since event.Millis
}) {
	if st := s.ByHooks(s.Updated); st.NeedsYou {
		n.state, n.since = st.State, st.Since
	}
	return n
}

// NeedsFile is a file that is touched whenever a session starts or stops needing the user. A
// view can watch it alone.
func (st *Store) NeedsFile() string { return filepath.Join(st.Dir, "needs") }

func (st *Store) needsChanged() {
	path, now := st.NeedsFile(), time.Now()
	if os.Chtimes(path, now, now) != nil {
		_ = os.WriteFile(path, nil, fileMode) // without the file views notice it some seconds later
	}
}

// finalWords adds the message from the transcript to a Stop that came without one. A message
// from before the turn belongs to another turn and is ignored.
func (h *locked) finalWords(u *Update) {
	e := u.Change.Event
	if e == nil || e.Kind != event.Stop || e.AgentID != "" || e.Message != "" || e.Meaning != nil || u.Words == nil {
		return
	}
	path, o := cmp.Or(e.TranscriptPath, h.s.Transcript), cmp.Or(e.Origin, &h.s.Origin)
	if path == "" {
		return
	}
	if text, at := u.Words(o, path); at > max(h.s.Prompt.At, h.s.Stop.At, h.s.Start.At) {
		e.Message = event.CutTail(redact.Text(text), event.MaxMessage)
		h.st.Texts.event(e)
	}
}

// postpone keeps an event that could not be folded because of err, and returns err. If that fails
// too, the event is lost, and the error is never ErrBusy.
func (st *Store) postpone(k Key, u *Update, err error) error {
	e := u.Change.Event
	if e == nil {
		return err
	}
	s, readErr := st.Load(k)
	if readErr == nil {
		k = st.owner(k, &s, u)
	}
	switch {
	case u.Complete != nil: // the process that applies it cannot find out more
		u.fillOrigin(&s)
	case e.Origin == nil && u.Origin != nil:
		e.Origin = u.Origin()
	}
	if lateErr := st.postponeFile(k, u.Change); lateErr != nil {
		return errors.New("event is lost: " + err.Error() + "; keeping it for later: " + lateErr.Error())
	}
	return err
}

// known reports whether s already contains o: several readers may see the same thing.
func known(s *state.Session, o *state.Observed) bool {
	return o != nil && slices.ContainsFunc(s.Seeing, func(x state.Observed) bool {
		return x.Source == o.Source && x.What == o.What && x.At >= o.At
	})
}

// Said folds turns from the transcript (progress, final messages), oldest first, into the
// current task. It skips those that are not newer than the last one folded, so that several
// readers may call it. Texts are redacted and cut to st.Texts.
func (st *Store) Said(k Key, turns []state.Turn) error {
	h, err := st.acquire(k, noWait)
	if err != nil {
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
		h.apply(&Update{Change: state.Change{At: t.At, Turn: &t}})
	}
	return h.commit()
}
