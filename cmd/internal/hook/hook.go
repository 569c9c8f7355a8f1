// Package hook is what a hook process does: read one payload, fold it, exit.
//
// Its promise: exit code 0 on every path, nothing on stderr, nothing on stdout
// but a terminal sequence that the user has chosen, never longer than Deadline,
// never an answer to the agent's question. It links no more than it needs; a
// test polices that.
package hook

import (
	"errors"
	"io"
	"runtime"
	"strconv"
	"time"

	"beckon/event"
	"beckon/event/jsonc"
	"beckon/state"
	"beckon/state/alert"
	"beckon/state/evidence"
	"beckon/state/store"
)

// Deadline is the longest a hook lives, whatever stdin, the lock or the disk do.
const Deadline = 2 * time.Second

// lateTime is what a late hook may take to say so in the log: the disk may be slow.
const lateTime = 100 * time.Millisecond

// Args are the words after the program's name: the event's name, and flags
// that the installed entry or a user gives.
type Args struct {
	Event string // the event's name, used when the payload has none
	Agent string // --agent: which agent sends it; empty means claude-code
	Via   string // --via: "plugin" marks the plugin's entry (CASE 24)
	// Answers, --answers, is in the entries of an install with answers: what asks
	// the user is held, and the user may end the turn at a call.
	Answers bool
	// Reply, --reply, marks the entry that only holds the end of a turn, for a reply.
	Reply bool
	Given int // --given: the descriptor of what was read of stdin already; 0 for none
}

// ParseArgs reads a hook's arguments. Unknown ones are passed over: an older
// binary under a newer entry must not break the agent.
func ParseArgs(args []string) (a Args) {
	for i := 0; i < len(args); i++ {
		value := func() string {
			if i+1 < len(args) {
				i++
				return args[i]
			}
			return ""
		}
		switch arg := args[i]; {
		case arg == "--agent":
			a.Agent = value()
		case arg == "--via":
			a.Via = value()
		case arg == "--answers":
			a.Answers = true
		case arg == "--reply":
			a.Reply = true
		case arg == "--given":
			a.Given, _ = strconv.Atoi(value())
		case arg != "" && arg[0] != '-' && a.Event == "":
			a.Event = arg
		}
	}
	return a
}

// Main runs one hook and returns its exit code, which is always 0. It prints
// nothing but a terminal sequence that the user has asked for.
func Main(args []string, stdin io.Reader, stdout io.Writer, getenv func(string) string) int {
	return say(nil, args, stdin, stdout, getenv)
}

// say is Main with something to tell the client, which takes one object.
func say(what []byte, args []string, stdin io.Reader, stdout io.Writer, getenv func(string) string) int {
	a := ParseArgs(args)
	defer watch(Deadline, func() {
		if dir, err := store.Dir(getenv); err == nil {
			store.Open(dir).Log(errors.New("event " + a.Event + " may be lost: its payload was not whole, or the disk did not answer, within " + Deadline.String()))
		}
	})()
	sequence, halt := fold(a, stdin, getenv, time.Now())
	if halt != nil {
		what = halt
	}
	if a.foreign() {
		return 0 // it would take a sequence for an answer, or for a fault
	}
	if out := WithSequence(what, sequence); len(out) > 0 {
		_, _ = stdout.Write(out)
	}
	return 0
}

// fold folds the event and returns the terminal sequence that comes of it, and
// what ends the turn at it, if the user said so.
func fold(a Args, stdin io.Reader, getenv func(string) string, start time.Time) (sequence string, halt []byte) {
	dir, err := store.Dir(getenv)
	if err != nil {
		return "", nil // there is nowhere to write, not even the error
	}
	st := store.Open(dir)
	defer func() {
		if err != nil && !errors.Is(err, store.ErrBusy) { // busy: it is spooled
			st.Log(err)
		}
	}()
	defer Guard(&err)
	e, err := event.ParseReader(a.Agent, a.Event, stdin)
	if err != nil {
		return "", nil
	}
	res, err := Fold(st, a, &e, getenv, start)
	if err != nil {
		return "", nil
	}
	if a.Answers {
		halt = Halt(st, &res, &e)
	}
	CompleteInstall(st, &e, getenv)
	return Notify(st, res, &e, getenv, start), halt
}

var errNoSession = errors.New("reading payload: no session_id")

// Guard, deferred, makes an error of a fault in this program. Go would end the
// process with code 2, which the client takes for "block this call". The error
// has what the runtime says, and no text of the payload.
func Guard(err *error) {
	switch fault := recover().(type) {
	case nil:
	case runtime.Error:
		*err = errors.New("event is lost, by a fault in beckon: " + fault.Error())
	default:
		*err = errors.New("event is lost, by a fault in beckon")
	}
}

// Fold folds the event that a hook read into its session. The event gets what
// the payload lacks: its time, its way here, a missing session id.
//
// Errors: store.ErrBusy when the event was spooled, without a result; any other
// error belongs into the log.
func Fold(st *store.Store, a Args, e *event.Event, getenv func(string) string, start time.Time) (res store.Result, err error) {
	defer Guard(&err)
	e.At, e.Via = event.MillisOf(start), a.Via
	if e.SessionID == "" && !a.foreign() {
		e.SessionID = getenv("CLAUDE_CODE_SESSION_ID")
	}
	if e.SessionID == "" {
		return store.Result{}, errNoSession
	}
	st.Texts = Texts(getenv)
	return st.Fold(store.KeyOf(e.SessionID), store.Update{
		Change:  state.Change{At: e.At, Event: e},
		Elapsed: func() int64 { return time.Since(start).Microseconds() },
		Origin: func() *event.Origin {
			o := evidence.Origin(e.Agent, getenv, e.Cwd)
			o.ProjectID = evidence.ProjectID(o.Git, o.Project)
			return o
		},
		Alive: evidence.Presence,
		Words: evidence.Words,
		Other: func(owner event.Process) event.Process { return evidence.Other(e.Agent, owner, getenv) },
	})
}

// Texts returns how much is to be kept of what is said. A configuration that
// cannot be read might say "none", so none is kept until it can be; `beckon
// config` names the place. Without a configuration all is kept.
func Texts(getenv func(string) string) store.Texts {
	path := alert.ConfigPath(getenv)
	if path == "" {
		return store.TextsFull
	}
	values, err := jsonc.Get(path, "texts")
	if err != nil {
		return store.TextsOff
	}
	switch t := store.Texts(values[0].Str); {
	case !values[0].Exists(), t == store.TextsFull:
		return store.TextsFull
	case t == store.TextsShort:
		return t
	}
	return store.TextsOff
}

// Notify notifies the user of what e, and the answer to it, made of a session. It
// returns the terminal sequence that the client is to emit, if any.
func Notify(st *store.Store, res store.Result, e *event.Event, getenv func(string) string, now time.Time) (sequence string) {
	n := notifier{st: st, getenv: getenv, now: now, start: func(args []string) error { return StartBeckon(st.Dir, args) }}
	return n.notify(res, e)
}
