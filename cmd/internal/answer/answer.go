// Package answer is what `beckon hook` does: it folds the event as beckon-hook
// does, and where there is a policy it puts the event to it, gives the client
// the answer, and folds what was decided: the client raises no event for a
// call that a hook denied.
//
// Its promise is the hook's own (DESIGN.md section 6) with another deadline:
// nothing on stdout but the answer, exit code 0 unless the event has no other
// way to be refused, and whatever goes wrong is silence, not an error.
package answer

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"strconv"
	"syscall"
	"time"

	"beckon/cmd/internal/hook"
	"beckon/event"
	"beckon/event/policy"
	"beckon/event/policy/handler"
	"beckon/state"
	"beckon/state/evidence"
	"beckon/state/store"
)

const (
	// stdinWait is how long the payload may take to come (row B10).
	stdinWait = 2 * time.Second
	// overtime is what folding may add to a policy's deadline before the
	// process ends itself. The installed entry gives it 60 s.
	overtime = 4 * time.Second
	// foldWait is how long an answer waits for its folds, which may have a
	// terminal sequence to send along. They take a few milliseconds; what takes
	// longer waits for a lock.
	foldWait = 200 * time.Millisecond
	// tellAgain is how soon a session's user is told the same again.
	tellAgain = 10 * time.Minute
)

// Main is `beckon hook`.
func Main(args []string, stdin io.Reader, stdout, stderr io.Writer, getenv func(string) string) (code int) {
	var fault error // there is no log yet, or it has it
	defer hook.Guard(&fault)
	hook.GrowStack()
	a := hook.ParseArgs(args)
	if a.Agent != "" && a.Agent != "claude-code" || !hook.Policied(getenv) {
		return hook.Main(args, stdin, stdout, getenv)
	}
	start := time.Now()
	watchdog := time.AfterFunc(stdinWait, func() { os.Exit(0) })
	defer watchdog.Stop()
	dir, err := store.Dir(getenv)
	if err != nil {
		return 0
	}
	f := firing{args: a, getenv: getenv, start: start, st: store.Open(dir), environ: os.Environ()}
	if err := f.read(stdin); err != nil {
		f.st.Log(err)
		return 0
	}
	watchdog.Reset(policy.DeadlineOf(f.e.Kind) + overtime)
	f.safely(f.load) // without its policy an event is folded still
	ctx := context.Background()
	if f.starts {
		// Who gives up waiting (a timeout, Esc) sends TERM and 1.5 s later KILL
		// (testdata/lab/POLICY.md); what the policy started must be gone by then.
		var stop context.CancelFunc
		ctx, stop = signal.NotifyContext(ctx, os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
		defer stop()
	}
	return f.answer(ctx, stdout, stderr)
}

// Policy returns the policy's part of a state directory.
func Policy(stateDir string) policy.Dir { return policy.Dir(filepath.Join(stateDir, "policy")) }

// Sources returns where the policies of this environment are.
func Sources(getenv func(string) string, stateDir string) policy.Sources {
	global, project := hook.PolicyFiles(getenv)
	home := getenv("HOME")
	if home == "" {
		home = getenv("USERPROFILE")
	}
	return policy.Sources{Global: global, Project: project, State: Policy(stateDir), Home: home, Now: time.Now()}
}

// firing is one hook under way.
type firing struct {
	args    hook.Args
	getenv  func(string) string
	environ []string // of what the policy starts
	start   time.Time
	st      *store.Store
	payload []byte
	e       event.Event
	sources policy.Sources
	loaded  policy.Loaded
	speaks  hook.Speaks
	starts  bool   // a process, a request: what takes its time
	dir     string // where commands run, in place of where the agent works
	http    bool   // the answer goes out over HTTP
	hops    int    // policies that handed the question on
	asked   string // the name of a question that another policy asks; empty for a firing of this machine's own
	claimed string // the claim that this process holds, if it does
}

func (f *firing) read(stdin io.Reader) (err error) {
	defer hook.Guard(&err)
	if f.payload, err = io.ReadAll(stdin); err != nil {
		return fmt.Errorf("reading payload: %w", err)
	}
	if f.e, err = event.Parse(f.args.Agent, f.args.Event, f.payload); f.e.SessionID == "" {
		f.e.SessionID = f.getenv("CLAUDE_CODE_SESSION_ID")
	}
	return err
}

// load reads what is in force.
func (f *firing) load() {
	f.sources = Sources(f.getenv, f.st.Dir)
	f.speaks = hook.SpeaksOf(f.getenv) // before they are read: what changes meanwhile is not written down
	f.loaded = policy.Load(f.sources)
	f.starts = runs(f.loaded.Hooks, f.e.Kind)
}

// answer asks, answers and folds: the event, and what was decided about it.
// Rules answer at once, and a goroutine beside them costs more than it saves.
// When ctx ends nobody listens any more: the event is folded, and no decision
// was one.
func (f *firing) answer(ctx context.Context, stdout, stderr io.Writer) int {
	asked, folded := make(chan policy.Result, 1), make(chan string, 1)
	fold := func() {
		sequence := ""
		f.safely(func() { sequence = f.fold(asked) })
		folded <- sequence
	}
	if f.starts {
		go func() {
			hook.GrowStack()
			fold()
		}()
	}
	ev, result := f.ask(ctx)
	if ctx.Err() != nil {
		result, f.claimed = unheard(result), ""
	}
	asked <- result
	if !f.starts {
		fold()
	}
	out, waiting := result.Answer.Stdout, true
	select {
	case sequence := <-folded:
		out, waiting = hook.WithSequence(out, sequence), false
	case <-time.After(foldWait):
	}
	_, err := stdout.Write(out)
	_, errStderr := stderr.Write(result.Answer.Stderr)
	f.log(err)
	f.log(errStderr)
	if waiting {
		<-folded
	}
	f.safely(func() { f.after(ev, result) })
	return result.Answer.ExitCode
}

// safely makes a line of the log of a fault in do.
func (f *firing) safely(do func()) {
	var fault error
	defer func() { f.log(fault) }()
	defer hook.Guard(&fault)
	do()
}

// unheard is a result for which the client did not wait: it has no answer.
func unheard(r policy.Result) policy.Result {
	return policy.Result{Allowed: true, Results: r.Results, Warnings: r.Warnings, Took: r.Took,
		Notes: append(r.Notes, "the client gave up waiting")}
}

// fold folds the event, then what was decided, and tells the user what came of
// both together: a dialog that the policy answers, or an end that it refuses,
// is none. It returns the terminal sequence to send along.
//
// The event is folded while the policy is asked: a dialog is on the screen
// meanwhile. The end of a turn is folded after it, because until then the
// client is at work (testdata/lab/POLICY.md).
func (f *firing) fold(asked <-chan policy.Result) (sequence string) {
	e := f.e // its own: folding redacts and completes it
	var r policy.Result
	ends := e.Kind == event.Stop || e.Kind == event.SubagentStop
	if ends {
		r = <-asked
	}
	res, err := hook.Fold(f.st, f.args, &e, f.getenv, f.start)
	if !ends {
		r = <-asked
	}
	known := f.folded(err)
	if now, decided, err := f.foldDecision(r); decided {
		res.After, known = now.After, f.folded(err) && known
	}
	if known {
		sequence = hook.Tell(f.st, res, &e, f.getenv, time.Now())
	}
	return sequence
}

// foldDecision folds what was decided, if it changes anything.
func (f *firing) foldDecision(r policy.Result) (res store.Result, decided bool, err error) {
	a := f.decided(r)
	if a == nil || f.e.SessionID == "" {
		return res, false, nil
	}
	res, err = f.st.Fold(store.KeyOf(f.e.SessionID), store.Update{Change: state.Change{At: event.Millis(time.Now().UnixMilli()), Action: a}})
	return res, true, err
}

// folded reports whether a fold has a result.
func (f *firing) folded(err error) bool {
	if err != nil && !errors.Is(err, store.ErrBusy) { // busy: it is spooled
		f.st.Log(err)
	}
	return err == nil
}

func (f *firing) log(err error) {
	if err != nil {
		f.st.Log(err)
	}
}

// ask puts the event to what is in force.
func (f *firing) ask(ctx context.Context) (ev policy.Event, r policy.Result) {
	var fault error
	defer func() {
		if fault != nil {
			f.log(fault)
			r = policy.Result{Allowed: true} // nothing was decided
		}
	}()
	defer hook.Guard(&fault)
	dir := f.sources.State
	ev = policy.Event{Kind: f.e.Kind, Payload: f.payload, At: f.start, ID: f.id(), Version: f.version(),
		ProjectDir: f.getenv("CLAUDE_PROJECT_DIR"), Dir: f.dir, HTTP: f.http, Hops: f.hops, StopBlocks: dir.StopBlocks(&f.e)}
	switch {
	case dir.IsInside(f.getenv(policy.Marker)):
		ev.RulesOnly, ev.Why = true, "inside a handler"
	case f.asked == "" && f.starts:
		f.claim(&ev, dir)
	}
	return ev, f.trigger(ctx, &ev)
}

// trigger asks the hooks that are in force.
func (f *firing) trigger(ctx context.Context, ev *policy.Event) policy.Result {
	dir := f.sources.State
	ev.Warn = func(warnings []string) []string {
		if ctx.Err() != nil {
			return nil // nobody would see them
		}
		return dir.Due(f.e.SessionID, append(f.loaded.Notices(), warnings...), tellAgain, f.start)
	}
	policy.Prepare(f.loaded.Hooks, f.e.Kind, f.environ, dir)
	return policy.NewEngine(f.loaded.Hooks).Trigger(ctx, *ev)
}

// claim makes sure that what a firing starts is started once.
func (f *firing) claim(ev *policy.Event, dir policy.Dir) {
	name, first := dir.Claim(&f.e, f.payload, f.args.Via, f.start)
	if first {
		f.claimed = name
		return
	}
	ev.RulesOnly, ev.Why = true, "another copy of this firing runs it"
	ev.Others = func(ctx context.Context) (handler.Outcome, error) { return dir.Await(ctx, name) }
}

// runs reports whether an event of that kind may start something.
func runs(hooks []*policy.Hook, k event.Kind) bool {
	for _, h := range hooks {
		if h.Event == k && h.Runs() && h.Enabled {
			return true
		}
	}
	return false
}

// id names the firing. Two firings never share one: pid and time are in it.
func (f *firing) id() string {
	if f.asked != "" {
		return f.asked
	}
	h := sha256.New()
	h.Write(f.payload)
	h.Write(strconv.AppendInt(strconv.AppendInt(nil, f.start.UnixNano(), 10), int64(os.Getpid()), 10))
	return "evt_" + hex.EncodeToString(h.Sum(nil))[:24]
}

// version is the client's own, from its registry: the record of the process
// that started this one.
func (f *firing) version() string {
	dir := evidence.RegistryDir(f.getenv)
	for _, pid := range []string{f.getenv("CLAUDE_PID"), strconv.Itoa(os.Getppid())} {
		if n, err := strconv.Atoi(pid); err != nil || n <= 0 || dir == "" {
			continue
		}
		if r, err := evidence.ReadRegistryFile(filepath.Join(dir, pid+".json")); err == nil && r.Version != "" {
			return r.Version
		}
	}
	return ""
}

// after keeps what was decided: for the other copies, in the trace, and in the
// count of kept stops. The client has its answer by then. What another policy
// asked is in the trace alone: what becomes of it is for that one to decide.
func (f *firing) after(ev policy.Event, r policy.Result) {
	dir := f.sources.State
	if f.claimed != "" {
		f.log(dir.Settle(f.claimed, r.Verdict))
	}
	if r.Traceable() {
		f.log(dir.Trace(policy.EntryOf(ev, r)))
	}
	if f.asked != "" {
		return
	}
	if (f.e.Kind == event.Stop || f.e.Kind == event.SubagentStop) && !r.Allowed {
		f.log(dir.StopBlocked(&f.e, ev.StopBlocks))
	}
	if len(f.loaded.Notices()) == 0 {
		f.log(dir.Speak(f.speaks.Name, f.speaks.Text(f.loaded.Events(), f.start)))
	}
}
