// Package hold is what the process does that holds an agent's call until
// somebody has answered its offer (package offer): it waits, and costs next to
// nothing meanwhile.
//
// It ends when there is an answer, and silently when the call is over: it ended,
// its turn, its session or its client did, the dialog was answered at the session
// itself, or the offer expired. No event tells the waiting hook so; it sees that
// from what the session's other hooks fold, and from the client's own registry.
//
// The hook binary links this package, so it reads with little: no encoding/json,
// no process, no goroutine.
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
	// notifyFile has the channels, one a line, that are to show the offer to the
	// user with buttons: the process that waits starts them (Notify).
	notifyFile = "notify"
	heardFile  = "notified" // it has seen to it
)

// OpenDir is where the offers are that wait, by their id.
func OpenDir(stateDir string) string { return filepath.Join(stateDir, "offers", "open") }

// DoneDir is where they are afterwards, for an hour.
func DoneDir(stateDir string) string { return filepath.Join(stateDir, "offers", "done") }

// Close closes an offer: it takes no answer any more. What it asked is removed;
// outcome, JSON text, says what became of it. False: somebody closed it before.
func Close(stateDir, id string, outcome []byte) bool {
	from, to := filepath.Join(OpenDir(stateDir), id), filepath.Join(DoneDir(stateDir), id)
	if os.Rename(from, to) != nil {
		if os.MkdirAll(DoneDir(stateDir), 0o700) != nil || os.Rename(from, to) != nil {
			return false
		}
	}
	_ = os.Remove(filepath.Join(to, PayloadFile))
	tmp := filepath.Join(to, ".outcome")
	if os.WriteFile(tmp, outcome, 0o600) == nil {
		_ = os.Rename(tmp, filepath.Join(to, OutcomeFile)) // whoever waits for it reads it whole
	}
	return true
}

// Withdraw closes an offer that was not answered.
func Withdraw(stateDir, id, why string, now time.Time) bool {
	b := jsonenc.Str([]byte{'{'}, "why", why)
	return Close(stateDir, id, append(jsonenc.Int(b, "at", now.UnixMilli()), '}'))
}

// Notify has the process that waits at an offer start the one that shows it to the
// user: a notification's button counts only from a child of the process that holds
// the call. It works once; a second call is an error.
func Notify(stateDir, id string, channels []string) error {
	path := filepath.Join(OpenDir(stateDir), id, notifyFile)
	return atomicfile.Create(path, []byte(strings.Join(channels, "\n")))
}

// Heard waits, at most that long, until the process that waits at an offer has
// seen to what Notify said, and reports whether it has: one of an older beckon
// never will, nor does a server. What was not heard is taken back.
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

// Channels returns the channels of Notify, none when it was not called.
func Channels(stateDir, id string) []string {
	b, _ := os.ReadFile(filepath.Join(OpenDir(stateDir), id, notifyFile)) // none: not told
	return strings.Fields(string(b))
}

// Why a call is over without an answer. Empty means that it is not.
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
	// slow is how often everything is looked at, whatever the files say.
	slow = 5 * time.Second
	// beat is how often the offer's file is touched: a reader that cannot see
	// this process knows by it that it lives.
	beat = 30 * time.Second
	// settle is how long the client's registry must say that no dialog is open:
	// between two dialogs it says so for a moment.
	settle = time.Second
	// unfolded is how long an event may be in the spool of a busy session.
	unfolded = 10 * time.Second
)

// Held is what of an offer says when it is over.
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

// reply reports whether it is the end of a turn that is held, not a call.
func (h Held) reply() bool { return h.Kind == "reply" }

// read reads what an offer's file says of that.
func read(b []byte) (h Held, err error) {
	if !jsonenc.Decode(string(b), &h) {
		return h, errors.New("the offer is no JSON")
	}
	if h.Record == "" || h.Made == 0 {
		return h, errors.New("the offer lacks its session")
	}
	return h, nil
}

// Over says why the held call is over, as far as the facts of its session tell;
// seen is whether the call was in them before.
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

// call is the open call that is held.
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

// sibling is how far the hook that folds the end of the turn may be behind the
// one that holds it: both begin at the same event.
const sibling = 3000

// working says whether the turn that is held did not stay over.
func (h Held) working(s *state.Session) string {
	main := s.Main()
	switch {
	case main.Active > h.Made && main.Active > main.Ended, s.Prompt.At > h.Made:
		return WhyWork
	case s.Stop.At > h.Made+sibling, s.Failure.At > h.Made+sibling:
		return WhyTurn // a newer end has its own hook that waits
	}
	return ""
}

// clientGone reports whether the client has ended, also when another has its pid.
func (h Held) clientGone() bool {
	return evidence.Presence(h.Client, h.Made) == state.Gone
}

type waiter struct {
	Held
	st       *store.Store
	dir      string
	notify   func() // starts what brings the offer to the user; nil once it has
	registry string // the client's record of its session, empty when not known
	seen     bool
	dialog   bool         // the registry said that a dialog is open
	free     time.Time    // since when it has not been saying so
	beaten   time.Time    // when the offer's file was touched
	size     int64        // of the journal at the last look
	looked   event.Millis // when the session was looked at
	watches  []int        // what is watched, by the system's numbers
}

// Wait waits at the offer id until it is answered, and then returns true; else
// why it is over. notify is called, once, when the user is to be told of the offer.
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
	b, err := os.ReadFile(filepath.Join(dir, OfferFile))
	if err != nil {
		return nil, err
	}
	h, err := read(b)
	if err != nil {
		return nil, err
	}
	w := &waiter{Held: h, st: st, dir: dir, size: -1, beaten: time.Now()}
	if at := evidence.RegistryDir(getenv); at != "" && h.Client.Pid > 0 {
		w.registry = filepath.Join(at, strconv.Itoa(h.Client.Pid)+".json")
	}
	return w, nil
}

// look looks at everything. next is how long to wait before the next look, unless a
// file changes. An answer to a call that is over does not count: nobody hears it.
func (w *waiter) look(now time.Time) (answered bool, why string, next time.Duration) {
	answered = w.answered()
	if _, err := os.Stat(w.dir); errors.Is(err, fs.ErrNotExist) {
		return false, WhyGone, 0
	}
	at := event.MillisOf(now)
	if at >= w.Expires && !answered { // one that was given is in time
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

// start starts what brings the offer to the user, when somebody asked for it.
func (w *waiter) start() {
	if w.notify == nil {
		return
	}
	if _, err := os.Stat(filepath.Join(w.dir, notifyFile)); err == nil {
		w.notify()
		w.notify = nil
		_ = os.WriteFile(filepath.Join(w.dir, heardFile), nil, 0o600) // who asked for it goes on after a while
	}
}

func (w *waiter) key() store.Key { return store.KeyOf(w.Record) }

// facts asks the session's facts, when there is something new in them.
func (w *waiter) facts(now event.Millis) (why string) {
	k := w.key()
	size := w.st.JournalSize(k)
	if size == w.size && now-w.looked < event.Millis(unfolded.Milliseconds()) && w.seen {
		return ""
	}
	s, err := w.st.Load(k)
	if err != nil {
		if w.seen && errors.Is(err, fs.ErrNotExist) {
			return WhySession
		}
		return "" // it cannot be read just now
	}
	w.size, w.looked = size, now
	why, w.seen = w.Over(&s, w.seen, now)
	return why
}

// undone asks the client's registry whether the dialog was answered, or given up,
// at the session: no hook reports either.
func (w *waiter) undone(now time.Time) bool {
	if w.registry == "" || w.reply() || w.Actor != "" { // what a subagent asks may not be on the screen
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

// StopDir has a file for each session that is to stop at its next call.
func StopDir(stateDir string) string { return filepath.Join(stateDir, "offers", "stop") }

// Stop is the user's word that a session is to stop.
type Stop struct {
	At   event.Millis `json:"at"`
	By   string       `json:"by"`   // who said it
	From string       `json:"from"` // and where
}

// StopOf is the user's word that session k is to stop, if there is one newer
// than since: when the actor that asks last began. It stands until then, for the
// session and for each of its subagents.
func StopOf(stateDir string, k store.Key, since event.Millis) (s Stop, ok bool) {
	b, err := os.ReadFile(filepath.Join(StopDir(stateDir), string(k)+".json"))
	if err != nil || !jsonenc.Decode(string(b), &s) {
		return Stop{}, false
	}
	return s, s.At > since
}

// Watch watches the files and directories of those names. changed tells that
// something of them has changed, until stop is called.
type Watch func(paths ...string) (changed <-chan struct{}, stop func())

// Await is Wait for a program that holds many: it also ends when done is closed.
func Await(done <-chan struct{}, st *store.Store, id string, getenv func(string) string, watch Watch) (answered bool, why string) {
	w, err := begin(st, id, getenv)
	if err != nil {
		return false, WhyGone
	}
	paths := []string{w.dir, st.JournalFile(w.key())}
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
