package hook

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"sync/atomic"
	"syscall"
	"time"

	"beckon/cmd/internal/noblock"
	"beckon/cmd/internal/stack"
	"beckon/event"
	"beckon/event/home"
	"beckon/event/policy"
	"beckon/event/policy/config"
	"beckon/event/policy/rule"
	"beckon/event/policy/trust"
	"beckon/event/policy/wire"
	"beckon/state"
	"beckon/state/evidence"
	"beckon/state/store"

	"github.com/tidwall/gjson"
)

const (
	// stdinWait is how long to wait for the payload.
	stdinWait = 10 * time.Second
	// overtime is how much longer than the policy's deadline folding may take before the
	// process ends itself. The installed entry has a timeout of 60 s.
	overtime = 4 * time.Second
	// remindAfter is how soon a session's user is told again that a handler failed,
	// onceASession the same for a problem with a file.
	remindAfter  = 10 * time.Minute
	onceASession = 24 * time.Hour
)

// Starter enables the hooks that start programs, as package run does.
type Starter interface {
	// Start returns what runs hooks; programs that they start get env.
	Start(env []string, state trust.Dir) config.Start
	// Inside reports whether this process was started by a policy.
	Inside(getenv func(string) string, state trust.Dir) bool
}

// Main implements `beckon hook`: it answers an event. In beckon-hook starter is nil: it answers when a
// policy has only rules, and links nothing that could start a command or ask a server.
func Main(
	args []string, stdin io.Reader, stdout, stderr io.Writer, getenv func(string) string, starter Starter,
) (code int) {
	var fault error // there is no log yet, or it has the error
	defer Guard(&fault)
	stack.Grow()
	a := ParseArgs(args)
	dir, err := store.Dir(getenv)
	switch {
	case err != nil:
		return 0
	case a.Reply:
		return waitForReply(store.Open(dir), a, stdin, getenv)
	case !a.Judged():
		return observe(a, stdin, stdout, getenv, nil)
	}
	if getenv = a.Env(getenv); !Policied(getenv) && !a.Waits() && !a.Refused() {
		return observe(a, stdin, stdout, getenv, nil)
	}
	f := invocation{args: a, getenv: getenv, ev: policy.Event{At: time.Now()}, st: store.Open(dir), starter: starter}
	f.ev.Dialect, _ = wire.DialectOf(a.Agent)
	f.safely(f.load) // without a policy the event is still folded
	if starter == nil && (a.Waits() || a.Refused()) && f.loaded.Starts(event.KindOf(a.Agent, a.Event)) {
		if code, ok := becomeHook(args); ok {
			return code
		}
	}
	f.watchdog = time.AfterFunc(stdinWait, func() {
		noblock.Exit(f.unread(errors.New("it did not come in time"), stdout, stderr))
	})
	defer f.watchdog.Stop()
	if err := f.read(stdin); err != nil {
		return f.unread(err, stdout, stderr)
	}
	f.watchdog.Reset(wire.DeadlineOf(f.e.Kind) + overtime)
	ctx := context.Background()
	if f.starts() {
		// A caller that gives up (a timeout, Esc) sends TERM, and KILL 1.5 s later
		// (testdata/lab/HOOKS.md); what the policy started must be gone by then.
		var stop context.CancelFunc
		ctx, stop = signal.NotifyContext(ctx, os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
		defer stop()
	}
	return f.answer(ctx, stdout, stderr)
}

// Sources returns the places of the policies in this environment.
func Sources(getenv func(string) string, stateDir string) policy.Sources {
	global, project := trust.Files(getenv)
	return policy.Sources{Global: global, Project: project, State: trust.In(stateDir), Tree: evidence.Worktree,
		Home: home.Dir(getenv), Own: own(getenv, stateDir, global, project)}
}

// own lists the files that a policy's effect depends on.
func own(getenv func(string) string, stateDir, global, project string) (list []string) {
	if programs := home.Beside("beckon*"); programs != "" {
		list = append(list, rule.Quote(filepath.Dir(programs))+"/beckon*")
	}
	if global != "" {
		// The file by its name, too, since a search in a parent directory finds names.
		list = append(list, rule.Quote(filepath.Dir(global))+"/**", rule.Quote(global))
	}
	if project != "" {
		list = append(list, rule.Quote(project), rule.Quote(trust.ProjectOf(project))+"/.claude/settings*.json")
	}
	if registry := evidence.RegistryDir(getenv); registry != "" {
		list = append(list, rule.Quote(filepath.Dir(registry))+"/settings*.json")
	}
	for _, a := range event.Agents() {
		if dir := a.Dir(home.Dir(getenv), getenv); a.Install.File != "" && filepath.IsAbs(dir) {
			list = append(list, rule.Quote(filepath.Join(dir, filepath.FromSlash(a.Install.File))))
		}
	}
	return append(list, rule.Quote(stateDir)+"/**")
}

// invocation is one hook in progress.
type invocation struct {
	args    Args
	getenv  func(string) string
	starter Starter // nil if nothing can be started
	st      *store.Store
	ev      policy.Event // what is known of it so far; its ID is that of another policy's question, or empty
	e       event.Event
	alien   bool // the event could not be parsed: it is judged but not folded
	sources policy.Sources
	loaded  policy.Loaded
	covers  trust.Coverage
	session state.Session // after the event is folded

	given    atomic.Int32 // one more than the exit code of the answer that is being given, or has been
	watchdog *time.Timer  // ends the process with an answer in time
}

// first reports whether no answer has been given yet. The client parses one JSON object, so a
// refusal followed by the watchdog's answer would count as none.
func (f *invocation) first(exit int) bool { return f.given.CompareAndSwap(0, int32(exit)+1) }

// starts reports whether the policy starts something for the event.
func (f *invocation) starts() bool { return f.starter != nil && f.loaded.Starts(f.e.Kind) }

// read reads the payload. It does not wait for the end of stdin: one complete object is the
// payload. JSON that beckon cannot follow (nested too deeply) is judged all the same.
func (f *invocation) read(stdin io.Reader) (err error) {
	defer Guard(&err)
	var payload json.RawMessage
	if err := json.NewDecoder(stdin).Decode(&payload); err != nil {
		return errors.New("it is no JSON, or not whole")
	}
	f.ev.Payload, f.ev.Given = payload, payload
	f.e, err = event.Parse(f.args.Agent, f.args.Event, f.ev.Payload)
	if !f.ev.Dialect.Native() {
		if err == nil {
			f.ev.Payload, err = f.ev.Dialect.Payload(&f.e, f.ev.Given)
		}
		return err
	}
	if v := gjson.ParseBytes(payload); err != nil && v.IsObject() {
		f.st.Log(err)
		f.alien = true
		f.e.Name = cmp.Or(v.Get("hook_event_name").String(), f.args.Event)
		f.e.Kind, f.e.SessionID = event.ByName(f.e.Name), v.Get("session_id").String()
	} else if err != nil {
		return err
	}
	f.e.SessionID = cmp.Or(f.e.SessionID, f.getenv("CLAUDE_CODE_SESSION_ID"))
	return nil
}

// unread answers an event that cannot be read: refused if a rule could have applied.
func (f *invocation) unread(err error, stdout, stderr io.Writer) (code int) {
	f.st.Log(fmt.Errorf("reading payload: %w", err))
	f.e.Kind = event.KindOf(f.args.Agent, f.args.Event)
	a := f.refusal("beckon cannot read this event (%v), and a policy applies to it", err).Answer
	if !f.first(a.ExitCode) {
		return int(f.given.Load()) - 1
	}
	_, errOut := stdout.Write(a.Stdout)
	_, errErr := stderr.Write(a.Stderr)
	f.st.Log(errors.Join(errOut, errErr))
	return a.ExitCode
}

// refusal is the result without the policy's: refused if a rule could have applied.
func (f *invocation) refusal(reason string, err error) policy.Result {
	if !f.loaded.MayRefuse(f.e.Kind) {
		return policy.Result{Allowed: true}
	}
	v := wire.Verdict{Decision: wire.Deny, Reason: fmt.Sprintf("refused: "+reason, err)}
	return policy.Result{Verdict: v, Answer: f.ev.Dialect.Translate(f.e.Kind, v, f.ev.HTTP, f.ev.Given)}
}

// load reads what is in force.
func (f *invocation) load() {
	f.sources = Sources(f.getenv, f.st.Dir)
	f.covers = Coverage(f.getenv) // before the files are read, so that a change meanwhile is not recorded
	f.loaded = policy.Load(f.sources)
}

// answer folds the event, asks the policy, folds the decision and answers. The event comes first,
// because its dialog is already on the screen; the end of a turn comes after the policy, because until
// then the client is at work. If ctx ends, the caller has gone, and no decision counts.
func (f *invocation) answer(ctx context.Context, stdout, stderr io.Writer) int {
	e := f.e // a copy: folding redacts and completes it
	if f.args.Refused() {
		e.Code = f.code(trust.Refused{Reason: e.Reason, Client: true})
	}
	var res store.Result
	known := false
	fold := func() {
		var err error
		res, err = Fold(f.st, f.args, &e, f.getenv, f.ev.At)
		f.st.Log(err)
		f.session, known = res.After, err == nil
	}
	ends := e.Kind == event.Stop || e.Kind == event.SubagentStop
	if !f.alien && !ends {
		f.safely(fold)
	}
	ev, result := f.ask(ctx)
	if !f.alien && ends {
		f.safely(fold)
	}
	out := result.Answer.Stdout
	f.safely(func() { out = f.settle(result, &res, &e, known) })
	if !f.first(result.Answer.ExitCode) {
		select {} // the watchdog ends the process
	}
	if f.asks(result) && ctx.Err() == nil {
		f.safely(func() { f.after(ev, result) })
		f.watchdog.Stop() // Windows cannot replace this process by the one that waits
		return f.wait(out, stdout)
	}
	_, err := stdout.Write(out)
	_, errStderr := stderr.Write(result.Answer.Stderr)
	f.st.Log(errors.Join(err, errStderr))
	f.safely(func() { f.after(ev, result) })
	return result.Answer.ExitCode
}

// settle folds the decision r, and notifies the user of it and the event: not of a dialog that the
// policy answers, nor of an end that it refuses. It returns the answer for the client.
func (f *invocation) settle(r policy.Result, res *store.Result, e *event.Event, known bool) (out []byte) {
	out = r.Answer.Stdout
	if f.alien {
		return out
	}
	wait := time.Duration(0)
	if !known { // the lock is held: one wait for it is enough
		wait = 1
	}
	if d := f.decided(r); d != nil {
		now, err := FoldDecided(f.st, cmp.Or(res.After.Record(), f.e.SessionID), d, wait)
		f.st.Log(err)
		res.After, known = now.After, err == nil && known
	}
	if known {
		out = follow(f.st, f.args, out, res, e, f.getenv, time.Now())
	}
	f.session = res.After
	return out
}

// safely logs a panic in do.
func (f *invocation) safely(do func()) {
	var fault error
	defer func() { f.st.Log(fault) }()
	defer Guard(&fault)
	do()
}

// decided returns what the answer changes about the session and the client does not report.
func (f *invocation) decided(r policy.Result) *state.Decided {
	d := decisionAbout(&f.e, event.MillisOf(f.ev.At))
	if c := asked(&f.session, &f.e); c != nil && f.e.Kind == event.PermissionRequest && !f.ev.Dialect.Native() {
		d.UseID, d.Hash = c.UseID, c.Hash
	}
	switch {
	case f.e.SessionID == "":
		return nil
	case r.Halts:
		d.Word = state.WordHalted
	case r.GoesOn:
		d.Word = state.WordGoesOn
	case !r.Allowed:
		d.Word = state.WordRefused
	case f.e.Kind == event.PermissionRequest && r.Verdict.Decision == wire.Allow:
		d.Word = state.WordAllowed
	case f.e.Kind == event.PreToolUse && r.Verdict.Input != nil:
		payload, err := f.ev.Dialect.Rewritten(f.ev.Given, r.Verdict.Input)
		if err != nil {
			return nil
		}
		e, err := event.Parse(f.args.Agent, f.args.Event, payload) // as the client reports it from now on
		if err != nil {
			return nil
		}
		d.Word, d.NewHash, d.Summary = state.WordRewritten, e.Tool.Hash, e.Tool.Summary
	default:
		return nil
	}
	return d
}
