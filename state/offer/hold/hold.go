// Package hold is the process that holds an agent's call until its offer (package offer) is
// answered: it waits, and costs next to nothing meanwhile.
//
// It ends when there is an answer, and silently when the call is over: when the call, its
// turn, its session or its client ended, the dialog was answered at the session itself, or the
// offer expired. No event reports that to the waiting hook; it reads it from what the
// session's other hooks fold, and from the client's own registry.
//
// The hook binary links this package, so it gets by without encoding/json, other processes and
// goroutines.
package hold

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"beckon/event"
	"beckon/event/atomicfile"
	"beckon/event/jsonenc"
	"beckon/event/plainfile"
	"beckon/state"
	"beckon/state/evidence"
	"beckon/state/store"
)

// The files of an offer, in a directory of its own.
const (
	OfferFile   = "offer.json"
	PayloadFile = "payload.json" // what the client sent, byte for byte
	AnswerFile  = "answer.json"
	OutcomeFile = "outcome.json"
	// notifyFile lists the channels, one per line, that are to show the offer to the user with
	// buttons: the waiting process starts them (Notify).
	notifyFile = "notify"
	heardFile  = "notified" // it has seen to it
)

// OpenDir returns the directory of the offers that wait, by id.
func OpenDir(stateDir string) string { return filepath.Join(stateDir, "offers", "open") }

// DoneDir returns the directory where they are kept afterwards, for an hour.
func DoneDir(stateDir string) string { return filepath.Join(stateDir, "offers", "done") }

// Close closes an offer: it takes no answer any more. Its question is removed; outcome, JSON
// text, says what became of it. It returns false if the offer was closed before.
func Close(stateDir, id string, outcome []byte) bool {
	from, to := filepath.Join(OpenDir(stateDir), id), filepath.Join(DoneDir(stateDir), id)
	if os.Rename(from, to) != nil {
		if os.MkdirAll(DoneDir(stateDir), 0o700) != nil || os.Rename(from, to) != nil {
			return false
		}
	}
	_ = os.Remove(filepath.Join(to, PayloadFile))
	_ = atomicfile.Write(filepath.Join(to, OutcomeFile), outcome, 0o600, false)
	return true
}

// Withdraw closes an offer that was not answered.
func Withdraw(stateDir, id, why string, now time.Time) bool {
	b := jsonenc.Str([]byte{'{'}, "why", why)
	return Close(stateDir, id, append(jsonenc.Int(b, "at", now.UnixMilli()), '}'))
}

// Notify has the process that waits at an offer start the one that shows it to the user: a
// notification's button counts only from a child of the process that holds the call. It works
// once; a second call returns an error.
func Notify(stateDir, id string, channels []string) error {
	path := filepath.Join(OpenDir(stateDir), id, notifyFile)
	return atomicfile.Create(path, []byte(strings.Join(channels, "\n")))
}

// Heard waits, at most that long, until the waiting process has acted on Notify, and reports
// whether it has: a process of an older beckon never will, nor will a server. What was not
// heard is withdrawn.
func Heard(stateDir, id string, wait time.Duration) bool {
	dir := filepath.Join(OpenDir(stateDir), id)
	for end := time.Now().Add(wait); ; time.Sleep(10 * time.Millisecond) {
		if _, err := os.Stat(filepath.Join(dir, heardFile)); err == nil {
			return true
		}
		if time.Now().After(end) {
			_ = os.Remove(filepath.Join(dir, notifyFile))
			return false
		}
	}
}

// Channels returns the channels of Notify; none if it was not called.
func Channels(stateDir, id string) []string {
	b, _ := plainfile.ReadFile(filepath.Join(OpenDir(stateDir), id, notifyFile)) // none: not told
	return strings.Fields(string(b))
}

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
	WhyGone     = "the offer was taken away"
)

const (
	// slow is how often everything is checked, whatever the files say.
	slow = 5 * time.Second
	// beat is how often the offer's file is touched. It tells a reader that cannot see this
	// process that it lives.
	beat = 30 * time.Second
	// settle is how long the client's registry must say that no dialog is open: it says so for
	// a moment between two dialogs.
	settle = time.Second
	// unfolded is how long an event may wait in the spool of a busy session.
	unfolded = 10 * time.Second
)

// Held is the part of an offer that tells when it is over.
type Held struct {
	Kind    string        `json:"kind"`
	Record  string        `json:"record"`
	Actor   string        `json:"agent_id"`
	UseID   string        `json:"tool_use_id"`
	Tool    string        `json:"tool"`
	Hash    string        `json:"hash"`
	Made    event.Millis  `json:"made_at"`
	Expires event.Millis  `json:"expires_at"`
	Client  event.Process `json:"client"`
}

// reply reports whether the end of a turn is held, not a call.
func (h Held) reply() bool { return h.Kind == "reply" }

// read parses that part of an offer's file.
func read(b []byte) (h Held, err error) {
	if !jsonenc.Decode(string(b), &h) {
		return h, errors.New("the offer is no JSON")
	}
	if h.Record == "" || h.Made == 0 {
		return h, errors.New("the offer lacks its session")
	}
	return h, nil
}

// Over says why the held call is over, as far as the facts of its session show; seen is
// whether the call was in them before.
func (h Held) Over(s *state.Session, seen bool, now event.Millis) (why string, there bool) {
	switch {
	case s.End.At >= h.Made:
		return WhySession, seen
	case h.reply():
		return h.working(s), true
	}
	c := h.call(s)
	switch {
	case c == nil && (seen || now > h.Made+event.Millis(unfolded.Milliseconds())):
		return WhyCall, seen
	case c == nil:
		return "", false
	case c.Answered > h.Made:
		return WhyAnswered, true
	}
	return "", true
}

// call returns the open call that is held.
func (h Held) call(s *state.Session) *state.Call {
	for i := range s.Actors {
		if s.Actors[i].ID != h.Actor {
			continue
		}
		for j := range s.Actors[i].Calls {
			c := &s.Actors[i].Calls[j]
			if h.UseID != "" && c.UseID != "" {
				if c.UseID == h.UseID {
					return c
				}
			} else if c.Hash == h.Hash && c.Name == h.Tool {
				return c
			}
		}
	}
	return nil
}

// sibling is how far, in milliseconds, the hook that folds the end of the turn may be behind
// the one that holds it: both start at the same event.
const sibling = 3000

// working says whether the session works again after the turn that is held.
func (h Held) working(s *state.Session) string {
	main := s.Main()
	switch {
	case main.Active > h.Made && main.Active > main.Ended, s.Prompt.At > h.Made:
		return WhyWork
	case s.Stop.At > h.Made+sibling, s.Failure.At > h.Made+sibling:
		return WhyTurn // a newer end has a hook of its own that waits
	}
	return ""
}

// clientGone reports whether the client has ended, even if another process has its pid.
func (h Held) clientGone() bool {
	return evidence.Presence(h.Client, h.Made) == state.Gone
}

type waiter struct {
	Held
	st       *store.Store
	dir      string
	notify   func() // starts what shows the offer to the user; nil once it has
	registry string // the client's record of its session, empty if unknown
	seen     bool
	dialog   bool            // the registry has said that a dialog is open
	free     time.Time       // since when it no longer says so
	beaten   time.Time       // when the offer's file was last touched
	file     plainfile.Stamp // of the session at the last look
	looked   event.Millis    // when the session was last looked at
	watches  []int           // the system's numbers of what is watched
}

// Wait waits at the offer id until it is answered, and then returns true; otherwise it returns
// why the offer is over. It calls notify, once, when the user is to be notified of the offer.
func Wait(st *store.Store, id string, getenv func(string) string, notify func()) (answered bool, why string) {
	w, err := begin(st, id, getenv)
	if err != nil {
		return false, WhyGone
	}
	w.notify = notify
	return w.wait()
}

func begin(st *store.Store, id string, getenv func(string) string) (*waiter, error) {
	dir := filepath.Join(OpenDir(st.Dir), id)
	b, err := plainfile.ReadFile(filepath.Join(dir, OfferFile))
	if err != nil {
		return nil, err
	}
	h, err := read(b)
	if err != nil {
		return nil, err
	}
	w := &waiter{Held: h, st: st, dir: dir, beaten: time.Now()}
	if at := evidence.RegistryDir(getenv); at != "" && h.Client.Pid > 0 {
		w.registry = filepath.Join(at, strconv.Itoa(h.Client.Pid)+".json")
	}
	return w, nil
}

// look checks everything. next is how long to wait before the next look, unless a file
// changes. An answer to a call that is over does not count: no client receives it.
func (w *waiter) look(now time.Time) (answered bool, why string, next time.Duration) {
	answered = w.answered()
	if _, err := os.Stat(w.dir); errors.Is(err, fs.ErrNotExist) {
		return false, WhyGone, 0
	}
	at := event.MillisOf(now)
	if at >= w.Expires && !answered { // an answer that was given came in time
		return false, WhyExpired, 0
	}
	if now.Sub(w.beaten) >= beat {
		w.beaten = now
		_ = os.Chtimes(filepath.Join(w.dir, OfferFile), now, now) // it only tells others that this process lives
	}
	if why := w.facts(at); why != "" {
		return false, why, 0
	}
	w.start()
	if w.undone(now) {
		return false, WhyAnswered, 0
	}
	if answered {
		return true, "", 0
	}
	next = min(slow, time.Duration(w.Expires-at)*time.Millisecond)
	if !w.free.IsZero() {
		next = min(next, max(0, w.free.Add(settle).Sub(now))+time.Millisecond)
	}
	return false, "", next
}

func (w *waiter) answered() bool {
	_, err := os.Stat(filepath.Join(w.dir, AnswerFile))
	return err == nil
}

// start starts what shows the offer to the user, if a process asked for it.
func (w *waiter) start() {
	if w.notify == nil {
		return
	}
	if _, err := os.Stat(filepath.Join(w.dir, notifyFile)); err == nil {
		w.notify()
		w.notify = nil
		_ = os.WriteFile(filepath.Join(w.dir, heardFile), nil, 0o600) // the process that asked goes on after a while
	}
}

func (w *waiter) key() store.Key { return store.KeyOf(w.Record) }

// facts checks the session's facts, if they have changed.
func (w *waiter) facts(now event.Millis) (why string) {
	k := w.key()
	file := w.st.Stamp(k)
	if file == w.file && !file.Young() && now-w.looked < event.Millis(unfolded.Milliseconds()) && w.seen {
		return ""
	}
	s, err := w.st.Load(k)
	if err != nil {
		if w.seen && errors.Is(err, fs.ErrNotExist) {
			return WhySession
		}
		return "" // it cannot be read now
	}
	w.file, w.looked = file, now
	why, w.seen = w.Over(&s, w.seen, now)
	return why
}

// undone asks the client's registry whether the dialog was answered or cancelled at the
// session: no hook reports either.
func (w *waiter) undone(now time.Time) bool {
	if w.registry == "" || w.reply() || w.Actor != "" { // a subagent's dialog may not be on the screen
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

// StopDir returns the directory that has a file for each session that is to stop at its next
// call.
func StopDir(stateDir string) string { return filepath.Join(stateDir, "offers", "stop") }

// Stop is the user's request that a session stop.
type Stop struct {
	At   event.Millis `json:"at"`
	By   string       `json:"by"`   // who said it
	From string       `json:"from"` // and where
}

// StopOf returns the user's request that session k stop, if there is one newer than since, the
// time at which the actor that asks last began. It stays in force until then, for the session
// and for each of its subagents.
func StopOf(stateDir string, k store.Key, since event.Millis) (s Stop, ok bool) {
	b, err := plainfile.ReadFile(filepath.Join(StopDir(stateDir), string(k)+".json"))
	if err != nil || !jsonenc.Decode(string(b), &s) {
		return Stop{}, false
	}
	return s, s.At > since
}

// Watch watches the named files and directories. changed receives when one of them has
// changed, until stop is called.
type Watch func(paths ...string) (changed <-chan struct{}, stop func())

// Await is Wait for a program that holds many calls: it also ends when done is closed.
func Await(done <-chan struct{}, st *store.Store, id string, getenv func(string) string, watch Watch) (answered bool, why string) {
	w, err := begin(st, id, getenv)
	if err != nil {
		return false, WhyGone
	}
	paths := []string{w.dir, st.SessionFile(w.key())}
	if w.registry != "" {
		paths = append(paths, w.registry)
	}
	changed, stop := watch(paths...)
	defer stop()
	for {
		answered, why, next := w.look(time.Now())
		switch {
		case answered || why != "":
			return answered, why
		case w.clientGone():
			return false, WhyClient
		}
		again := time.NewTimer(next)
		select {
		case <-done:
			again.Stop()
			return false, WhyStopped
		case <-changed:
			again.Stop()
		case <-again.C:
		}
	}
}
