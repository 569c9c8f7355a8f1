package answer

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

	"beckon/cmd/internal/hook"
	"beckon/event"
	"beckon/event/agents"
	"beckon/event/policy"
	"beckon/event/policy/trust"
	"beckon/event/policy/wire"
	"beckon/state"
	"beckon/state/alert"
	"beckon/state/evidence"
	"beckon/state/request"
	"beckon/state/store"
)

// offers reports whether the event is to be held for an answer: it asks the user, and the
// policy made no decision.
func (f *firing) offers(r policy.Result) bool {
	switch {
	case !f.args.Holds() || f.args.Reply || f.alien || f.e.SessionID == "" || !r.Allowed || r.Halts:
		return false
	case f.e.Kind != event.PermissionRequest || r.Verdict.Decision == wire.Allow:
		return false
	}
	return f.e.AgentID == "" || request.In(f.st.Dir).Holds(f.settings(), f.start)
}

func (f *firing) settings() request.Settings {
	s, err := request.ReadSettings(alert.ConfigPath(f.getenv))
	f.log(err)
	return s
}

// hold creates the request and waits at it; out is the answer if no process can wait.
func (f *firing) hold(out []byte, stdout io.Writer) int {
	o := f.offer()
	// A second entry for the same event must not ask a second time. Each has its own process, so
	// the first of them to come here asks, whichever was folded first.
	if o.UseID != "" && !trust.In(f.st.Dir).First("ask\x00"+o.Session+"\x00"+o.UseID, f.start) {
		_, err := stdout.Write(out)
		f.log(err)
		return 0
	}
	if code, ok := f.wait(&o, func() {
		f.report(&o)
		if !f.dialect.Native() { // its plugin does not wait for this
			_, err := stdout.Write([]byte("{\"held\":true}\n"))
			f.log(err)
		}
	}); ok {
		return code
	}
	_, err := stdout.Write(out)
	f.log(err)
	return 0
}

// wait creates a request, calls made, and turns this process into the one that waits at the
// offer; ok is false if that fails.
func (f *firing) wait(o *request.Request, made func()) (code int, ok bool) {
	dir := request.In(f.st.Dir)
	if err := dir.Make(o, time.Now()); err != nil {
		f.log(fmt.Errorf("making a request: %w", err))
		return 0, false
	}
	made()
	if code, ok = hook.BecomeWaiter(o.ID, o.Sum); !ok {
		dir.Close(o.ID, "the program beckon-hook is not there")
	}
	return code, ok
}

// report notifies the user of a request by a session without a terminal, since it has no
// dialog to notice.
func (f *firing) report(o *request.Request) {
	if !o.Headless {
		return
	}
	set, err := alert.Read(alert.ConfigPath(f.getenv))
	quiet := set.Quiet != (alert.Hours{}) && set.Quiet.Hold(f.start.Local())
	if err == nil && len(set.Channels) > 0 && slices.Contains(set.On, o.Kind.Alert()) && !quiet {
		err = request.In(f.st.Dir).Notify(o.ID, set.Channels)
	}
	f.log(err)
}

// offer returns the offer for the event.
func (f *firing) offer() request.Request {
	s := &f.session
	made := event.MillisOf(f.start)
	o := request.Request{
		Kind:     request.KindOf(f.e.Tool.Name),
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
		Made:     made,
		Expires:  made + event.Millis(f.settings().Wait.Milliseconds()),
		Headless: s.Headless(),
		Payload:  f.payload,
	}
	if c := asked(s, &f.e); c != nil {
		o.UseID, o.Hash = c.UseID, c.Hash
	}
	here := evidence.ThisMachine()
	git := evidence.Git(o.Cwd)
	o.Host, o.Branch, o.Project = here.Host, cmp.Or(git.Branch, git.Head), s.Origin.Project
	o.Client = evidence.Agent(cmp.Or(o.Agent, event.ClaudeCode), here, f.getenv)
	o.Waiter, _ = evidence.Process(os.Getpid(), here)
	return o
}

// asked returns the newest call that asks.
func asked(s *state.Session, e *event.Event) (newest *state.Call) {
	for i := range s.Actors {
		if s.Actors[i].ID != e.AgentID {
			continue
		}
		for j := range s.Actors[i].Calls {
			c := &s.Actors[i].Calls[j]
			same := c.Hash == e.Tool.Hash || e.Says == agents.Described && c.Summary == e.Tool.Summary
			if c.Requested && c.Name == e.Tool.Name && same && (newest == nil || c.Asked >= newest.Asked) {
				newest = c
			}
		}
	}
	return newest
}

// holdTurn holds the end of a turn for a reply. A headless client ends with its turn, so
// nobody can reply.
func holdTurn(st *store.Store, a hook.Args, stdin io.Reader, getenv func(string) string) int {
	f := firing{args: a, getenv: getenv, start: time.Now(), st: st}
	late := time.AfterFunc(stdinWait, func() { os.Exit(0) })
	headless := strings.HasPrefix(getenv("CLAUDE_CODE_ENTRYPOINT"), "sdk")
	if err := f.read(stdin); err != nil || f.alien || f.e.SessionID == "" || headless {
		return 0
	}
	late.Stop()
	o := f.offer()
	o.Kind = request.Reply
	if s, err := st.Load(store.KeyOf(f.e.SessionID)); err == nil {
		o.Project = s.Origin.Project
	}
	code, _ := f.wait(&o, func() {})
	return code
}

// give prints the answer to a request to the client, on stdout. of is its id, and its sum unless an
// earlier version made it.
func give(st *store.Store, of []string, stdout, stderr io.Writer, getenv func(string) string, verify Verify) (code int) {
	f := firing{getenv: getenv, start: time.Now(), st: st, verify: verify}
	f.give(of[0], strings.Join(of[1:], ""), func(answer []byte) error {
		_, err := stdout.Write(answer)
		return err
	}, func(words string) error {
		code = 2 // what wakes the model
		_, err := io.WriteString(stderr, words)
		return err
	})
	return code
}

// give gives the client the answer to a request: report answers a call, say a reply. The policy
// is evaluated again: it may have changed since, and nobody can allow what it refuses. sum is the
// request's when it was made, empty if unknown: what has changed since is not what the client asked.
func (f *firing) give(id, sum string, report func(answer []byte) error, say func(words string) error) {
	dir := request.In(f.st.Dir)
	closed := func(why string) {
		dir.Close(id, why)
	}
	o, err := dir.Load(id)
	if err == nil && sum != "" && o.Sum != sum {
		err = request.ErrChanged
	}
	if err != nil {
		closed("it could not be read: " + err.Error())
		return
	}
	a, ok := dir.Answered(id)
	if err := o.Fits(a); err != nil || !ok {
		closed("it does not answer this request")
		return
	}
	if err := f.verified(dir, &o, &a); err != nil {
		f.log(fmt.Errorf("refusing an answer: %w", err))
		closed("the answer was refused: " + err.Error())
		return
	}
	f.args.Event, f.payload, f.said = o.Event, o.Payload, o.Payload
	if f.dialect, ok = wire.DialectOf(cmp.Or(o.Agent, event.ClaudeCode)); !ok {
		closed("nobody can tell " + o.Agent + " anything")
		return
	}
	f.getenv = hook.Args{Agent: o.Agent}.Env(f.getenv)
	if f.e, err = event.Parse("", o.Event, o.Payload); err != nil {
		closed("it could not be read: " + err.Error())
		return
	}
	f.e.SessionID = cmp.Or(f.e.SessionID, o.Session)
	if o.Kind == request.Reply {
		closed(unsaid(say(a.Message)))
		f.answered(&o, &a, state.WordReplied)
		return
	}
	var ev policy.Event
	r := policy.Result{Allowed: true}
	if hook.Policied(f.getenv) {
		loaded := false
		f.safely(func() { f.load(); loaded = true })
		if !loaded { // the policy may refuse what the user allows: leave it to the dialog
			closed("the policy could not be read")
			return
		}
		ev, r = f.ask(context.Background())
	}
	refused := !r.Allowed
	if !refused {
		r.Verdict = verdict(&o, &a, r.Verdict)
		r.Answer = f.dialect.Translate(f.e.Kind, r.Verdict, f.version(), f.http, f.said)
	}
	why := unsaid(report(r.Answer.Stdout))
	if refused {
		why = "the policy refuses it: " + r.Verdict.Reason
	}
	closed(why)
	word := state.WordAllowed
	if refused || a.Word == request.Deny {
		word = state.WordRefused
	}
	f.answered(&o, &a, word)
	f.trace(ev, r, &o, &a)
}

// verified returns an error for an answer that the user has not given.
func (f *firing) verified(d request.Dir, r *request.Request, a *request.Answer) error {
	switch {
	case f.verify != nil:
		return f.verify(d, r, a)
	case d.HasPIN():
		return errors.New("the program beckon, which verifies it, is not beside beckon-hook")
	}
	return nil
}

// unsaid returns why the client was not told, empty if it was.
func unsaid(err error) string {
	if err != nil {
		return "the client did not take it: " + cmp.Or(errors.Unwrap(err), err).Error()
	}
	return ""
}

// verdict turns an answer into a policy's verdict. The policy's own texts in v stay.
func verdict(o *request.Request, a *request.Answer, v wire.Verdict) wire.Verdict {
	v.Decision, v.Reason, v.Input = wire.Deny, cmp.Or(a.Message, "The user refused this."), nil
	if a.Word == request.Allow {
		v.Decision, v.Reason = wire.Allow, ""
	}
	switch {
	case a.Word != request.Allow:
	case o.Kind == request.Question:
		v.Input = withAnswers(o.Input(), a.Choices)
	case o.Kind == request.Plan: // newer clients expect the plan back, and take a different one for an edited one
		v.Input = o.Input()
		if v.Input == nil {
			v.Input = []byte("{}")
		}
	case a.Always > 0:
		v.Request.UpdatedPermissions = append(append(json.RawMessage{'['}, o.Suggestions()[a.Always-1]...), ']')
	}
	return v
}

func withAnswers(input []byte, answers map[string]string) []byte {
	var members map[string]json.RawMessage
	if json.Unmarshal(input, &members) != nil {
		members = map[string]json.RawMessage{}
	}
	members["answers"] = must(answers)
	return must(members)
}

// must marshals a value that cannot fail.
func must(v any) json.RawMessage {
	b, _ := json.Marshal(v)
	return b
}

// answered folds who answered, from where and after how long.
func (f *firing) answered(o *request.Request, a *request.Answer, word string) {
	d := &state.Decided{
		Event:   f.e.Kind,
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
		f.st.Texts = hook.Texts(f.getenv)
		d.Text = strings.TrimSpace(a.Message)
	}
	_, err := hook.FoldDecided(f.st, o.Record, d)
	f.folded(err)
}

// answerHook is the name of a person's answer in the trace.
const answerHook = "answer"

// trace records the answer with the policy's decisions.
func (f *firing) trace(ev policy.Event, r policy.Result, o *request.Request, a *request.Answer) {
	if ev.Kind == "" {
		ev = policy.Event{Kind: f.e.Kind, Payload: f.payload, At: f.start, ID: f.id()}
	}
	e := policy.EntryOf(ev, r)
	e.ToolUseID = o.UseID
	waited := time.Duration(a.At-o.Made) * time.Millisecond
	reason := fmt.Sprintf("%s from %s after %s: %s", cmp.Or(a.By, "somebody"), a.From, waited, a.Message)
	e.Hooks = append(e.Hooks, trust.TracedHook{
		Hook:     answerHook,
		Type:     answerHook,
		Success:  r.Allowed || a.Word != request.Allow,
		Decision: wire.Decision(a.Word),
		Reason:   trust.Kept(strings.TrimSuffix(reason, ": ")),
	})
	f.log(trust.In(f.st.Dir).Trace(e))
}
