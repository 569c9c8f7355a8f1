package hook

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"time"

	"beckon/event"
	"beckon/event/agents"
	"beckon/event/home"
	"beckon/event/policy"
	"beckon/event/policy/trust"
	"beckon/event/policy/wire"
	"beckon/state"
	"beckon/state/alert"
	"beckon/state/evidence"
	"beckon/state/request"
	"beckon/state/store"
)

// asks reports whether the event asks the user and the policy left it to them.
func (f *invocation) asks(r policy.Result) bool {
	if !f.args.Waits() || f.alien || f.e.SessionID == "" || f.e.Kind != event.PermissionRequest ||
		!r.Allowed || r.Halts || r.Verdict.Decision == wire.Allow {
		return false
	}
	_, away := request.In(f.st.Dir).IsAway(f.ev.At)
	return f.e.AgentID == "" || away
}

// wait makes the request and waits for its answer; out is the answer if no process can wait.
func (f *invocation) wait(out []byte, stdout io.Writer) int {
	r := f.request(request.KindOf(f.e.Tool.Name))
	// A second entry for the same event must not ask a second time. Each has its own process, so
	// the first of them to come here asks, whichever was folded first.
	if r.UseID == "" || trust.In(f.st.Dir).First("ask\x00"+r.Session+"\x00"+r.UseID, f.ev.At) {
		if code, ok := f.becomeWaiter(&r, stdout); ok {
			return code
		}
	}
	_, err := stdout.Write(out)
	f.st.Log(err)
	return 0
}

// becomeWaiter makes a request, and turns this process into beckon-hook, which waits for the answer
// in a few megabytes. ok is false if that fails. stdout is nil for a Reply.
func (f *invocation) becomeWaiter(r *request.Request, stdout io.Writer) (code int, ok bool) {
	dir := request.In(f.st.Dir)
	if err := dir.Make(r, time.Now()); err != nil {
		f.st.Log(fmt.Errorf("making a request: %w", err))
		return 0, false
	}
	if r.Headless && r.Kind != request.Reply { // it has no dialog to notice
		set, err := alert.Read(alert.ConfigPath(f.getenv))
		if err == nil && len(set.Channels) > 0 && slices.Contains(set.On, r.Kind.Alert()) && !set.Silent(f.ev.At) {
			err = dir.Notify(r.ID)
		}
		f.st.Log(err)
	}
	if r.Kind != request.Reply && !f.ev.Dialect.Native() { // its plugin does not wait for this
		_, err := io.WriteString(stdout, "{\"held\":true}\n")
		f.st.Log(err)
	}
	if code, ok = Become(home.Beside("beckon-hook"), []string{waitFlag, r.ID, r.Digest}); !ok {
		dir.Close(r.ID, "the program beckon-hook is not there")
	}
	return code, ok
}

// request returns the request for the event.
func (f *invocation) request(kind request.Kind) request.Request {
	s := &f.session
	made := event.MillisOf(f.ev.At)
	set, err := alert.Read(alert.ConfigPath(f.getenv))
	f.st.Log(err)
	r := request.Request{
		Kind:     kind,
		Agent:    f.args.Agent,
		Event:    string(f.e.Kind),
		Record:   cmp.Or(s.Record(), f.e.SessionID),
		Session:  f.e.SessionID,
		Actor:    f.e.AgentID,
		Type:     f.e.AgentType,
		Tool:     f.e.Tool.Name,
		Hash:     f.e.Tool.Hash,
		UseID:    f.e.Tool.UseID,
		Cwd:      f.e.Cwd,
		Project:  s.Origin.Project,
		Made:     made,
		Expires:  made + event.Millis(min(set.Wait, request.Longest).Milliseconds()),
		Headless: s.Headless(),
		Payload:  f.ev.Payload,
	}
	if c := asked(s, &f.e); c != nil {
		r.UseID, r.Hash = c.UseID, c.Hash
	}
	here := evidence.ThisMachine()
	git := evidence.Git(r.Cwd)
	r.Host, r.Branch = here.Host, cmp.Or(git.Branch, git.Head)
	r.Client = evidence.Agent(cmp.Or(r.Agent, event.ClaudeCode), here, f.getenv)
	r.Waiter, _ = evidence.Process(os.Getpid(), here)
	return r
}

// asked returns the newest call that asks.
func asked(s *state.Session, e *event.Event) (newest *state.Call) {
	for a, c := range s.Calls() {
		same := c.Hash == e.Tool.Hash || e.Says == agents.Described && c.Summary == e.Tool.Summary
		mine := a.ID == e.AgentID && c.Requested && c.Name == e.Tool.Name && same
		if mine && (newest == nil || c.Asked >= newest.Asked) {
			newest = c
		}
	}
	return newest
}

// waitForReply waits for a reply at the end of a turn, which a headless client does not outlive.
func waitForReply(st *store.Store, a Args, stdin io.Reader, getenv func(string) string) int {
	f := invocation{args: a, getenv: getenv, ev: policy.Event{At: time.Now()}, st: st}
	late := time.AfterFunc(stdinWait, func() { os.Exit(0) })
	headless := strings.HasPrefix(getenv("CLAUDE_CODE_ENTRYPOINT"), "sdk")
	if err := f.read(stdin); err != nil || f.alien || f.e.SessionID == "" || headless {
		return 0
	}
	late.Stop()
	f.session, _ = st.Load(store.KeyOf(f.e.SessionID)) // without it the project is not known
	r := f.request(request.Reply)
	code, _ := f.becomeWaiter(&r, nil)
	return code
}

// give gives the client the answer to a request: a call's on stdout, a reply on stderr. The policy
// is evaluated again: it may have changed since, and nobody can allow what it refuses.
func (f *invocation) give(o *request.Request, a *request.Answer, stdout, stderr io.Writer) (code int) {
	dir := request.In(f.st.Dir)
	if o.Kind == request.Reply {
		_, err := io.WriteString(stderr, a.Message)
		dir.Close(o.ID, unsaid(err))
		f.answered(o, a, state.WordReplied)
		return 2 // what wakes the model
	}
	var err error
	f.args.Event, f.ev.Payload, f.ev.Given = o.Event, o.Payload, o.Payload
	f.ev.Dialect, _ = wire.DialectOf(cmp.Or(o.Agent, event.ClaudeCode))
	f.getenv = Args{Agent: o.Agent}.Env(f.getenv)
	if f.e, err = event.Parse("", o.Event, o.Payload); err != nil {
		dir.Close(o.ID, "it could not be read: "+err.Error())
		return 0
	}
	f.e.SessionID = cmp.Or(f.e.SessionID, o.Session)
	var ev policy.Event
	r := policy.Result{Allowed: true}
	if Policied(f.getenv) {
		loaded := false
		f.safely(func() { f.load(); loaded = true })
		if !loaded { // the policy may refuse what the user allows: leave it to the dialog
			dir.Close(o.ID, "the policy could not be read")
			return 0
		}
		ev, r = f.ask(context.Background())
	}
	word := state.WordAllowed
	if r.Allowed {
		r.Verdict = verdict(o, a, r.Verdict)
		r.Answer = f.ev.Dialect.Translate(f.e.Kind, r.Verdict, f.ev.HTTP, f.ev.Given)
	}
	_, err = stdout.Write(r.Answer.Stdout)
	why := unsaid(err)
	if !r.Allowed {
		why = "the policy refuses it: " + r.Verdict.Reason
	}
	dir.Close(o.ID, why)
	if !r.Allowed || a.Word == request.Deny {
		word = state.WordRefused
	}
	f.answered(o, a, word)
	f.trace(ev, r, o, a)
	return 0
}

// unsaid returns why the client was not told, "" if it was.
func unsaid(err error) string {
	if err != nil {
		return "the client did not take it: " + cmp.Or(errors.Unwrap(err), err).Error()
	}
	return ""
}

// verdict turns an answer into a policy's verdict. The policy's own texts in v stay.
func verdict(o *request.Request, a *request.Answer, v wire.Verdict) wire.Verdict {
	v.Decision, v.Reason, v.Input = wire.Deny, cmp.Or(a.Message, "The user refused this."), nil
	if a.Word != request.Allow {
		return v
	}
	v.Decision, v.Reason = wire.Allow, ""
	switch {
	case o.Kind == request.Question:
		members := map[string]json.RawMessage{}
		_ = json.Unmarshal(o.Input(), &members) // the request has questions, so it is an object
		members["answers"], _ = json.Marshal(a.Choices)
		v.Input, _ = json.Marshal(members)
	case o.Kind == request.Plan: // newer clients expect the plan back, and take a different one for an edited one
		v.Input = []byte(cmp.Or(string(o.Input()), "{}"))
	case a.Always > 0:
		v.UpdatedPermissions = append(append(json.RawMessage{'['}, o.Suggestions()[a.Always-1]...), ']')
	}
	return v
}

// answered folds who answered, from where and after how long.
func (f *invocation) answered(o *request.Request, a *request.Answer, word string) {
	d := &state.Decided{
		Event:   event.Kind(o.Event),
		Of:      o.Made,
		AgentID: o.Actor,
		UseID:   o.UseID,
		Tool:    o.Tool,
		Hash:    o.Hash,
		Word:    word,
		By:      a.By,
		From:    string(a.From),
		Waited:  a.At - o.Made,
	}
	if word == state.WordReplied {
		f.st.NoTexts = NoTexts(f.getenv)
		d.Text = strings.TrimSpace(a.Message)
	}
	_, err := FoldDecided(f.st, o.Record, d, 0)
	f.st.Log(err)
}

// trace records the answer with the policy's decisions.
func (f *invocation) trace(ev policy.Event, r policy.Result, o *request.Request, a *request.Answer) {
	if ev.Kind == "" {
		ev = policy.Event{Kind: f.e.Kind, Payload: f.ev.Payload, At: f.ev.At, ID: f.id()}
	}
	e := policy.EntryOf(ev, r)
	e.ToolUseID = o.UseID
	waited := time.Duration(a.At-o.Made) * time.Millisecond
	reason := fmt.Sprintf("%s from %s after %s: %s", cmp.Or(a.By, "somebody"), a.From, waited, a.Message)
	e.Hooks = append(e.Hooks, trust.TracedHook{
		Hook:    "answer",
		Type:    "answer",
		Success: r.Allowed || a.Word != request.Allow,
		Outcome: wire.Outcome{Decision: wire.Decision(a.Word), Reason: trust.Kept(strings.TrimSuffix(reason, ": "))},
	})
	f.st.Log(trust.In(f.st.Dir).Trace(e))
}
