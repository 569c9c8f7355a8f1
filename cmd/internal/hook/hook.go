// Package hook is what a hook process does: read one payload, fold it into its session, evaluate
// the policy if there is one, give the client the answer, and fold the decision, because the
// client sends no event for a call that a hook denied. With answers installed it waits for the
// user's answer to what the client asks.
//
// It guarantees: nothing on stdout but the answer and a terminal sequence that the user has
// chosen; exit code 0 unless the event can only be refused, or the model woken, by exit code; an
// end within a deadline, unless it waits for the user; on an internal failure silence, unless a
// rule could have applied: then the event is refused. It links no more than it needs; a test
// enforces that.
package hook

import (
	"cmp"
	"errors"
	"hash/fnv"
	"io"
	"os"
	"runtime"
	"strconv"
	"sync/atomic"
	"time"

	"beckon/event"
	"beckon/event/home"
	"beckon/event/policy/wire"
	"beckon/state"
	"beckon/state/alert"
	"beckon/state/evidence"
	"beckon/state/request"
	"beckon/state/store"
)

// Deadline is the longest a hook lives, whatever stdin, the lock or the disk do.
const Deadline = 2 * time.Second

// lateTime is how long a late hook may take to log that it is late.
const lateTime = 100 * time.Millisecond

// Args are the words after the program's name.
type Args struct {
	Event string // the event's name, used when the payload has none
	Agent string // --agent: the agent that sends it; empty means claude-code
	Via   string // which entry started this hook: --via "plugin", else what it is called by
	// Answers, --answers, is set in the entries of an install with answers: the hook waits for
	// the user's answer, and the user may end the turn at a call.
	Answers bool
	// Reply, --reply, marks the entry that only waits for a reply at the end of a turn.
	Reply bool
}

// ParseArgs parses a hook's arguments. It ignores unknown ones, which a newer entry may have.
func ParseArgs(args []string) (a Args) {
	var value *string // that the next one is
	for _, arg := range args {
		switch {
		case value != nil:
			*value, value = arg, nil
		case arg == "--agent":
			value = &a.Agent
		case arg == "--via":
			value = &a.Via
		case arg == "--answers":
			a.Answers = true
		case arg == "--reply":
			a.Reply = true
		case arg != "" && arg[0] != '-' && a.Event == "":
			a.Event = arg
		}
	}
	if a.Via == "" {
		a.Via = entryOf(args)
	}
	return a
}

// entryOf identifies the entry that started this hook by its program and arguments: the client
// starts equal entries of several settings files once.
func entryOf(args []string) string {
	h := fnv.New32a()
	for _, arg := range append([]string{os.Args[0]}, args...) {
		_, _ = h.Write(append([]byte(arg), 0xff)) // a separator that no argument has
	}
	return strconv.FormatUint(uint64(h.Sum32()), 36)
}

// within runs do with the store and logs its error. After Deadline it logs lost, with little time, and
// ends the process with code 0. It sleeps in the system call: for a process's first timer the runtime
// opens an epoll and an event descriptor, and if the system has none left, it ends the process with
// code 2, which the client takes for "block this call".
func within(getenv func(string) string, lost string, do func(*store.Store) error) {
	dir, err := store.Dir(getenv)
	if err != nil {
		return // there is no place to write to, not even for the error
	}
	st := store.Open(dir)
	var done atomic.Bool
	defer done.Store(true)
	go func() {
		sleep(Deadline)
		if done.Load() {
			return
		}
		go func() {
			st.Log(errors.New(lost + " within " + Deadline.String()))
			os.Exit(0)
		}()
		sleep(lateTime)
		os.Exit(0)
	}()
	defer func() { st.Log(err) }()
	defer Guard(&err)
	err = do(st)
}

// observe runs one hook without a policy and returns its exit code, which is always 0. It prints
// nothing but warning, an answer for the client, and a terminal sequence that the user asked for.
func observe(a Args, stdin io.Reader, stdout io.Writer, getenv func(string) string, warning []byte) int {
	start := time.Now()
	const lost = " may be lost: its payload was not whole, or the disk did not answer,"
	within(getenv, "event "+a.Event+lost, func(st *store.Store) error {
		out := warning
		defer func() {
			if len(out) > 0 {
				_, _ = stdout.Write(out)
			}
		}()
		e, err := event.ParseReader(a.Agent, a.Event, stdin)
		if err != nil {
			return err
		}
		res, err := Fold(st, a, &e, getenv, start)
		if err == nil {
			out = follow(st, a, out, &res, &e, getenv, start)
		}
		return err
	})
	return 0
}

// follow does what follows from a change that was folded: it notifies the user, and adds the terminal
// sequence to the client's answer, or ends the turn if the user asked for it.
func follow(st *store.Store, a Args, answer []byte, res *store.Result, e *event.Event, getenv func(string) string,
	now time.Time,
) []byte {
	if a.Answers && !a.Foreign() {
		if halt := Halt(st, res, e); halt != nil {
			answer = halt // the client accepts one object
		}
	}
	n := notifier{st: st, getenv: getenv, now: now, start: func(args []string) error { return StartBeckon(st.Dir, args) }}
	sequence := n.notify(*res, e)
	if a.Foreign() {
		return answer // another agent would take a sequence for an answer or an error
	}
	return WithSequence(answer, sequence)
}

// Guard, deferred, turns a panic into an error without text of the payload. Go would exit with code
// 2, which the client takes for "block this call".
func Guard(err *error) {
	switch fault := recover().(type) {
	case nil:
	case runtime.Error:
		*err = errors.New("event is lost, by a fault in beckon: " + fault.Error())
	default:
		*err = errors.New("event is lost, by a fault in beckon")
	}
}

// Fold folds the event that a hook read into its session, with the time, the origin and a missing
// session id. After store.ErrBusy, which means that it was spooled, there is no result.
func Fold(st *store.Store, a Args, e *event.Event, getenv func(string) string, start time.Time) (
	res store.Result, err error,
) {
	defer Guard(&err)
	e.At, e.Via = event.MillisOf(start), a.Via
	if e.SessionID == "" && !a.Foreign() {
		e.SessionID = getenv("CLAUDE_CODE_SESSION_ID")
	}
	if e.SessionID == "" {
		return res, errors.New("reading payload: no session_id")
	}
	st.NoTexts = NoTexts(getenv)
	defer func() { request.In(st.Dir).Sweep(start) }() // an event is when a killed waiter shows
	return st.Fold(store.KeyOf(e.SessionID), store.Update{
		Change:  state.Change{At: e.At, Event: e},
		Elapsed: func() int64 { return time.Since(start).Microseconds() },
		Origin:  func(event.Origin) event.Origin { return *evidence.Origin(e, getenv) },
		Alive:   evidence.Presence,
		Words:   evidence.Words,
		Other:   func(owner event.Process) event.Process { return evidence.Other(e.Agent, owner, getenv) },
	})
}

// NoTexts reports whether no texts may be stored, as while the configuration cannot be read, since it might
// say so.
func NoTexts(getenv func(string) string) bool {
	path := alert.ConfigPath(getenv)
	if path == "" {
		return false
	}
	values, err := home.Values(path, "texts")
	return err != nil || values[0].Exists() && values[0].Str != "full"
}

// Halt folds the user's request to stop the session, and each of its subagents, at their next call,
// and returns the answer for the client; nil if there is no request.
func Halt(st *store.Store, res *store.Result, e *event.Event) []byte {
	if e.Kind != event.PreToolUse && e.Kind != event.PostToolUse {
		return nil
	}
	by, ok := request.In(st.Dir).StopOf(store.KeyOf(res.After.Record()), res.After.Began(e.AgentID))
	if !ok {
		return nil
	}
	d := decisionAbout(e, e.At)
	d.Word, d.By, d.From = state.WordHalted, by.By, by.From
	now, err := FoldDecided(st, res.After.Record(), d, 0)
	if st.Log(err); err == nil {
		res.After = now.After
	}
	reason := "stopped by " + cmp.Or(by.By, "the user") + ", through beckon"
	v := wire.Verdict{Halt: true, HaltReason: reason}
	if e.Kind == event.PreToolUse {
		v.Decision, v.Reason = wire.Deny, reason
	}
	client, _ := wire.DialectOf(event.ClaudeCode)
	return client.Translate(e.Kind, v, false, nil).Stdout
}

// decisionAbout returns a decision about the call of an event of that time, without its word.
func decisionAbout(e *event.Event, at event.Millis) *state.Decided {
	t := &e.Tool
	return &state.Decided{Event: e.Kind, Of: at, AgentID: e.AgentID, Tool: t.Name, UseID: t.UseID, Hash: t.Hash}
}

// FoldDecided folds a decision about a call into the record of its session. wait is as in store.Update.
func FoldDecided(st *store.Store, record string, d *state.Decided, wait time.Duration) (store.Result, error) {
	action := &state.Action{Kind: state.ActDecided, Decided: d}
	change := state.Change{At: event.MillisOf(time.Now()), Action: action}
	return st.Fold(store.KeyOf(record), store.Update{Change: change, Wait: wait})
}
