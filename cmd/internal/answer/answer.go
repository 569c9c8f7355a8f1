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
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
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
	// foldWait is how long an answer waits for its event's fold, which may have
	// a terminal sequence to send along. A fold takes a few milliseconds; one
	// that takes longer waits for a lock.
	foldWait = 200 * time.Millisecond
	// tellAgain is how soon a session's user is told the same again.
	tellAgain = 10 * time.Minute
)

// Main is `beckon hook`.
func Main(args []string, stdin io.Reader, stdout, stderr io.Writer, getenv func(string) string) int {
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
	return f.answer(stdout, stderr)
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
	dir     string // where commands run, in place of where the agent works
	http    bool   // the answer goes out over HTTP
	hops    int    // policies that handed the question on
	asked   string // the name of a question that another policy asks; empty for a firing of this machine's own
	claimed string // the claim that this process holds, if it does
}

func (f *firing) read(stdin io.Reader) (err error) {
	if f.payload, err = io.ReadAll(stdin); err != nil {
		return fmt.Errorf("reading payload: %w", err)
	}
	f.e, err = event.Parse(f.args.Agent, f.args.Event, f.payload)
	return err
}

// answer folds, asks, answers, and folds what was decided. The first fold runs
// beside the policy, and only the terminal sequence that comes of it is waited
// for, and not for long.
func (f *firing) answer(stdout, stderr io.Writer) int {
	e := f.e // the fold's own: it redacts and completes it
	var sequence string
	folded := make(chan struct{})
	go func() {
		defer close(folded)
		var err error
		sequence, err = hook.Fold(f.st, f.args, &e, f.getenv, f.start)
		f.log(err)
	}()
	p, result := f.ask(context.Background())
	out := result.Answer.Stdout
	select {
	case <-folded:
		out = hook.WithSequence(out, sequence)
	case <-time.After(foldWait):
	}
	_, err := stdout.Write(out)
	_, errStderr := stderr.Write(result.Answer.Stderr)
	f.log(err)
	f.log(errStderr)
	<-folded
	f.after(p, result)
	return result.Answer.ExitCode
}

func (f *firing) log(err error) {
	if err != nil {
		f.st.Log(err)
	}
}

// ask puts the event to what is in force.
func (f *firing) ask(ctx context.Context) (policy.Event, policy.Result) {
	sources := Sources(f.getenv, f.st.Dir)
	ev := policy.Event{Kind: f.e.Kind, Payload: f.payload, At: f.start, ID: f.id(), Version: f.version(),
		ProjectDir: f.getenv("CLAUDE_PROJECT_DIR"), Dir: f.dir, HTTP: f.http, Hops: f.hops, StopBlocks: sources.State.StopBlocks(&f.e)}
	loaded := policy.Load(sources)
	switch {
	case f.getenv(policy.Marker) != "":
		ev.RulesOnly, ev.Why = true, "inside a handler"
	case f.asked == "" && runs(loaded.Hooks, f.e.Kind):
		f.claim(&ev, sources.State)
	}
	return ev, f.trigger(ctx, &ev, loaded, sources.State)
}

// trigger asks the hooks that are in force.
func (f *firing) trigger(ctx context.Context, ev *policy.Event, loaded policy.Loaded, dir policy.Dir) policy.Result {
	ev.Warn = func(warnings []string) []string {
		return dir.Due(f.e.SessionID, append(loaded.Notices(), warnings...), tellAgain, f.start)
	}
	policy.Prepare(loaded.Hooks, f.e.Kind, f.environ, dir.Answers())
	return policy.NewEngine(loaded.Hooks).Trigger(ctx, *ev)
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

// after keeps what was decided: the trace, the count of kept stops, the
// session's facts. The client has its answer by then. What another policy asked
// is in the trace alone: what becomes of it is for that one to decide.
func (f *firing) after(ev policy.Event, r policy.Result) {
	dir := Policy(f.st.Dir)
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
	a := f.decided(r)
	if a == nil || f.e.SessionID == "" {
		return
	}
	_, err := f.st.Fold(store.KeyOf(f.e.SessionID), store.Update{Change: state.Change{At: event.Millis(time.Now().UnixMilli()), Action: a}})
	f.log(err)
}
