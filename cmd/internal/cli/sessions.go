package cli

import (
	"errors"
	"fmt"
	"path/filepath"
	"runtime/debug"
	"strings"
	"time"

	"beckon/event"
	"beckon/event/redact"
	"beckon/event/transcript"
	"beckon/render"
	"beckon/state"
	"beckon/state/evidence"
	"beckon/state/live"
	"beckon/state/store"
)

// Reader returns what looks at the sessions of this machine.
func (a *App) Reader() *live.Reader {
	return live.NewReader(a.Store, filepath.Join(a.ClaudeDir(), "sessions"))
}

// Now is the time to resolve and act at: a recording has its own.
func (a *App) Now() event.Millis { return a.Reader().Now() }

// uncollected puts garbage collection off until the heap has 128 MiB, and
// returns what undoes that. Nearly all that a look at the sessions allocates
// it keeps: collecting in the middle of it finds nothing, and costs a third of
// the time. A process that is about to end leaves its garbage as it is: undone, a
// collection would begin at once.
func (a *App) uncollected() (undo func()) {
	old := debug.SetGCPercent(3200)
	if a.Brief {
		return func() {}
	}
	return func() { debug.SetGCPercent(old) }
}

// Look reads all sessions with their evidence and verdicts.
func (a *App) Look(all bool) ([]state.Seen, event.Millis, error) {
	defer a.uncollected()()
	snap, err := a.Reader().Look(all)
	a.note(snap.Problems)
	a.complain(snap.Problems)
	return snap.Seen, snap.Now, err
}

// Rows reads the live sessions' rows without what only a list shows. Problems
// go to the log alone: they do not belong into a prompt.
func (a *App) Rows() ([]render.Row, []state.Seen, time.Time, error) {
	defer a.uncollected()()
	r := a.Reader()
	r.SkipMeters = true
	snap, err := r.Look(false)
	a.note(snap.Problems)
	return render.Rows(snap.Seen, false), snap.Seen, snap.Now.Time(), err
}

// maxSaid is over any final message.
const maxSaid = 256 << 10

// Said returns the session's final message: whole from its transcript, without what
// looks like a secret, else as much of it as is kept.
func (a *App) Said(s *state.Session) string {
	kept := s.Stop.Message
	if a.Configured().Texts == "off" {
		return kept
	}
	text, at := evidence.LastWords(&s.Origin, s.Transcript, maxSaid)
	if text == "" || at+staleWords < s.Stop.At {
		return kept
	}
	return redact.Text(text)
}

// Plan returns the plan that a session wants approved, whole from its transcript, if
// the transcript's begins with head; else nothing.
func (a *App) Plan(s *state.Session, head string) string {
	if head == "" || a.Configured().Texts == "off" || !evidence.Local(&s.Origin) {
		return ""
	}
	plan, _ := transcript.Plan(s.Transcript) // one that cannot be read has none
	plan = redact.Text(plan)
	const enough = 80
	begin := func(s string) string { return event.Cut(strings.Join(strings.Fields(render.Clean(s)), " "), enough) }
	if begin(plan) != begin(head) {
		return ""
	}
	return plan
}

// staleWords is how much older, in milliseconds, words may be than the end of the turn
// that they are of: a transcript is written before the hook runs, or some time after.
const staleWords = 60_000

// note writes what a reader could not read to the log that hooks write to.
func (a *App) note(problems []store.Problem) {
	for _, p := range problems {
		a.Store.Log(fmt.Errorf("reading session %q: %w", string(p.Key), p.Err))
	}
}

// complain lists on stderr the sessions that could not be read.
func (a *App) complain(problems []store.Problem) {
	a.Unread = problems
	newer := false
	for _, p := range problems {
		fmt.Fprintf(a.Stderr, "beckon: reading session %q: %v\n", string(p.Key), p.Err)
		newer = newer || errors.Is(p.Err, state.ErrNewerSchema)
	}
	if newer {
		fmt.Fprintf(a.Stderr, "  hint: %s\n", UpdateAdvice)
	}
}

// unreadable returns the error of the session that arg names and that is there, but
// could not be read; or nil.
func (a *App) unreadable(arg string) error {
	for _, p := range a.Unread {
		if arg != "" && strings.HasPrefix(string(p.Key), string(store.KeyOf(arg))) {
			return fmt.Errorf("session %q cannot be read", arg)
		}
	}
	return nil
}

// Act folds what the user did to a session. A session that only the client's
// registry knows has no journal to note it in.
func (a *App) Act(v state.Seen, action state.Action) error {
	if v.Session.Seq == 0 {
		return Hint("it is heard of as soon as one of its hooks runs", "session %q: no hook of it has run yet", v.Session.ID)
	}
	_, err := a.Store.Fold(store.KeyOf(v.Session.Record()), store.Update{Change: state.Change{At: a.Now(), Action: &action}})
	return err
}

// MarkSeen notes that the user looked at a session, unless that was known.
func (a *App) MarkSeen(v state.Seen) error {
	if Looked(&v.Session, v.Status) {
		return nil
	}
	return a.Visit(v)
}

// Looked reports whether the user has looked at a session since it came to
// where it stands.
func Looked(s *state.Session, st state.Status) bool { return !st.Unseen && s.Seen >= st.Since }

// Visit notes that the user looked at a session just now. Of one whose hooks
// have not run yet nothing can be noted.
func (a *App) Visit(v state.Seen) error {
	if v.Session.Seq == 0 {
		return nil
	}
	return a.Act(v, state.Action{Kind: state.ActSeen})
}
