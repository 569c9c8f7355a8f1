package request

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"time"

	"beckon/event"
	"beckon/state"
	"beckon/state/evidence"
	"beckon/state/live"
	"beckon/state/store"
)

// Why a call is over without an answer. Empty means that it is not over.
const (
	WhyCall     = "its call is over"
	WhyAnswered = "it was answered at the session"
	WhyTurn     = "its turn is over"
	WhyWork     = "the session is at work again"
	WhySession  = "the session has ended"
	WhyClient   = "its client is gone"
	WhyExpired  = "nobody answered in time"
	WhyStopped  = "the client gave up the call"
	WhyGone     = "the request was taken away"
	WhyKilled   = "the process that waited for the answer was killed"
)

const (
	// recheck is how often everything but the request's files is checked.
	recheck = time.Second
	// beat is how often the request's file is touched, for readers that cannot see this process.
	beat = 30 * time.Second
	// settle is how long the client's registry says that no dialog is open between two dialogs.
	settle = time.Second
	// unfolded is how long an event may wait in the spool of a busy session.
	unfolded = 10 * time.Second
	// sibling is how far, in milliseconds, the hook that folds the end of the turn may be behind
	// the one that holds it: both start at the same event.
	sibling = 3000
)

// Over says why the facts of its session end a request; seen is whether its call was in them before.
func (r *Request) Over(s *state.Session, seen bool, now event.Millis) (why string, there bool) {
	switch main := s.Main(); {
	case s.End.At >= r.Made:
		return WhySession, seen
	case r.Kind != Reply:
	case main.Active > r.Made && main.Active > main.Ended, s.Prompt.At > r.Made:
		return WhyWork, true
	case s.Stop.At > r.Made+sibling, s.Failure.At > r.Made+sibling:
		return WhyTurn, true // a newer end has a hook of its own that waits
	default:
		return "", true
	}
	for a, c := range s.Calls() {
		switch {
		case a.ID != r.Actor || !r.Of(c):
		case c.Answered > r.Made:
			return WhyAnswered, true
		default:
			return "", true
		}
	}
	if seen || now > r.Made+event.Millis(unfolded.Milliseconds()) {
		return WhyCall, seen
	}
	return "", false
}

// Of reports whether c is the call that is held.
func (r *Request) Of(c *state.Call) bool {
	if r.UseID != "" && c.UseID != "" {
		return c.UseID == r.UseID
	}
	return c.Hash == r.Hash && c.Name == r.Tool
}

// waiter waits at a request.
type waiter struct {
	Request
	st       *store.Store
	dir      Dir
	registry string // the client's record of its session, empty if unknown
	parent   int    // the process that started this one, which may be a shell of the client's
	seen     bool
	dialog   bool      // the registry has said that a dialog is open
	free     time.Time // since when it no longer says so
	beaten   time.Time // when the request's file was last touched
}

// Wait waits at the request id, whose digest was digest when it was made, and returns it with the user's
// answer; without one why says why. It calls notify, once, when the user is to be notified of it.
func Wait(st *store.Store, id, digest string, getenv func(string) string, notify func()) (
	r Request, a Answer, why string,
) {
	w, err := begin(st, id, getenv)
	if err != nil {
		return r, a, WhyGone
	}
	answered := false
	ctx, over := context.WithCancel(context.Background())
	defer over()
	live.Watch(ctx, recheck, func() {
		if answered, why = w.look(time.Now()); answered || why != "" {
			over()
		} else if notify != nil && w.dir.has(id, notifyFile) {
			notify()
			notify = nil
		}
	}, w.dir.open(id))
	if !answered {
		return r, a, why
	}
	if r, a, err = w.dir.given(id, digest); err != nil {
		st.Log(fmt.Errorf("refusing an answer: %w", err))
		why = "the answer was refused: " + err.Error()
	}
	return r, a, why
}

func begin(st *store.Store, id string, getenv func(string) string) (*waiter, error) {
	dir := In(st.Dir)
	r, err := read(dir.open(id))
	r.Payload = nil // it may be large, and the wait long
	w := &waiter{Request: r, st: st, dir: dir, parent: os.Getppid(), beaten: time.Now()}
	if at := evidence.RegistryDir(getenv); at != "" && r.Client.Pid > 0 {
		w.registry = filepath.Join(at, strconv.Itoa(r.Client.Pid)+".json")
	}
	return w, err
}

// look checks everything. An answer to a call that is over does not count: no client receives it.
func (w *waiter) look(now time.Time) (answered bool, why string) {
	answered = w.dir.has(w.ID, answerFile)
	at := event.MillisOf(now)
	switch {
	case !w.dir.has(w.ID, ""):
		return false, WhyGone
	case at >= w.Expires && !answered: // an answer that was given came in time
		return false, WhyExpired
	case os.Getppid() != w.parent, evidence.Presence(w.Client, w.Made) == state.Gone:
		return false, WhyClient
	}
	if now.Sub(w.beaten) >= beat {
		w.beaten = now
		_ = os.Chtimes(w.dir.open(w.ID, callFile), now, now) // it only tells others that this process lives
	}
	s, err := w.st.Load(store.KeyOf(w.Record))
	switch {
	case err == nil:
		why, w.seen = w.Over(&s, w.seen, at)
	case w.seen && errors.Is(err, fs.ErrNotExist): // otherwise it cannot be read now
		why = WhySession
	}
	if why == "" && w.undone(now) {
		why = WhyAnswered
	}
	return answered && why == "", why
}

// undone asks the client's registry whether the dialog is gone: no hook reports that.
func (w *waiter) undone(now time.Time) bool {
	if w.registry == "" || w.Kind == Reply || w.Actor != "" { // a subagent's dialog may not be on the screen
		return false
	}
	r, err := evidence.ReadRegistryFile(w.registry)
	if err != nil || !r.Usable() {
		return false
	}
	switch {
	case r.Status == "waiting":
		w.dialog, w.free = true, time.Time{}
	case w.dialog && w.free.IsZero():
		w.free = now
	case w.dialog && now.Sub(w.free) >= settle:
		return true
	}
	return false
}
