package talk

import (
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"beckon/cmd/internal/cli"
	"beckon/event"
	"beckon/render/card"
	"beckon/state"
	"beckon/state/evidence"
	"beckon/state/request"
	"beckon/state/store"
)

// desk is a machine with sessions.
type desk struct{ a *cli.App }

func machine(t *testing.T) desk {
	t.Helper()
	home := t.TempDir()
	env := map[string]string{"HOME": home}
	return desk{&cli.App{Store: store.Open(filepath.Join(home, "state")), Getenv: func(k string) string { return env[k] }, Stdout: io.Discard, Stderr: io.Discard}}
}

// ask makes a request at which this process waits.
func (d desk) ask(t *testing.T, tool, payload string) request.Request {
	t.Helper()
	return d.askOf(t, request.Permission, tool, payload)
}

func (d desk) askOf(t *testing.T, kind request.Kind, tool, payload string) request.Request {
	t.Helper()
	self, ok := evidence.Process(os.Getpid(), evidence.ThisMachine())
	if !ok {
		t.Skip("processes cannot be read here")
	}
	now := time.Now()
	o := request.Request{Kind: kind, Event: "PermissionRequest", Record: "s1", Session: "s1", Tool: tool, Cwd: t.TempDir(),
		Made: event.MillisOf(now), Expires: event.MillisOf(now.Add(time.Hour)), Waiter: self, Client: self, Payload: []byte(payload)}
	if err := request.In(d.a.Store.Dir).Make(&o, now); err != nil {
		t.Fatal(err)
	}
	return o
}

// start folds the start of a session.
func (d desk) start(t *testing.T, id string) {
	t.Helper()
	d.fold(t, event.Event{Kind: event.SessionStart, SessionID: id, Agent: event.ClaudeCode, Cwd: t.TempDir()})
}

func (d desk) fold(t *testing.T, e event.Event) {
	t.Helper()
	e.At = event.MillisOf(time.Now())
	if _, err := d.a.Store.Fold(store.KeyOf(e.SessionID), store.Update{Change: state.Change{At: e.At, Event: &e}}); err != nil {
		t.Fatal(err)
	}
}

// The first word is a session, also where its id is all digits, unless it can only be an answer.
func TestTargetOfDigits(t *testing.T) {
	const session, other = "85731122-0000-4000-8000-000000000000", "aaaa1122-0000-4000-8000-000000000000"
	d := machine(t)
	d.start(t, session)
	d.start(t, other)
	d.a.Getenv = os.Getenv
	of := func(record string) card.Request {
		return card.Request{Request: request.Request{ID: "ZZZZ" + strings.ToUpper(record), Record: record}}
	}
	for _, c := range []struct {
		open        []card.Request
		words, want string // the record and the remaining words
	}{
		{[]card.Request{of(session)}, "8573 yes", session + " yes"},
		{[]card.Request{of(session), of(other)}, "85731122 2", session + " 2"},
		{[]card.Request{of(other)}, "8573 yes", ""},
		{[]card.Request{of(other)}, "8573", ""},
		{[]card.Request{of(other)}, "2", other + " 2"},
		{[]card.Request{of(other)}, "1,3", other + " 1,3"},
		{[]card.Request{of(other)}, "1 2", other + " 1 2"},
		{[]card.Request{of(session), of(other)}, "1", ""},
		{nil, "1", ""},
	} {
		cmd := &AnswerCmd{Words: strings.Fields(c.words)}
		got, words, err := cmd.target(d.a, c.open)
		line := ""
		if err == nil && len(got) == 1 {
			line = got[0].Record + " " + strings.Join(words, " ")
		}
		if strings.TrimSpace(line) != c.want {
			t.Errorf("%q with %d open: %q, %v; want %q", c.words, len(c.open), line, err, c.want)
		}
	}
}

// A form is answered only where it runs, and the command says so.
func TestFormElsewhere(t *testing.T) {
	d := machine(t)
	d.start(t, "s1")
	d.fold(t, event.Event{Kind: event.Elicitation, SessionID: "s1", Agent: event.ClaudeCode, Tool: event.Tool{Name: "db"}})
	err := (&AnswerCmd{Words: []string{"s1", "yes"}}).Run(d.a)
	if cli.Code(err) != cli.ExitNotFound || !strings.Contains(err.Error(), "session s1 waits with a form") {
		t.Errorf("got %v", err)
	}
}

// Where nothing can be answered, sessions that wait in their own terminal are counted.
func TestNothingToAnswer(t *testing.T) {
	d := machine(t)
	for _, want := range []string{"nothing waits for an answer\n", "no request can be answered here; waiting where they run: 1 (beckon answer SESSION says why)\n"} {
		var out strings.Builder
		d.a.Stdout = &out
		if err := new(AnswerCmd).Run(d.a); err != nil || out.String() != want {
			t.Errorf("%q, %v; want %q", out.String(), err, want)
		}
		d.start(t, "s1")
		d.fold(t, event.Event{Kind: event.PermissionRequest, SessionID: "s1", Agent: event.ClaudeCode, Tool: event.Tool{Name: "Bash"}})
	}
}

// What an answer did is said in the words of its request.
func TestEffects(t *testing.T) {
	const asks = `{"tool_input":{"questions":[{"question":"Which?","options":[{"label":"Red"}]}]}}`
	for _, c := range []struct {
		kind request.Kind
		word request.Word
		want string
	}{
		{request.Permission, request.Allow, "allowed: it in shop\n"}, {request.Permission, request.Deny, "refused: it in shop\n"},
		{request.Question, request.Allow, "answered: it in shop\n"}, {request.Question, request.Deny, "refused: it in shop\n"},
		{request.Plan, request.Allow, "approved: it in shop\n"}, {request.Plan, request.Deny, "sent back: it in shop\n"},
		{request.Reply, request.Say, "sent: it in shop\n"},
	} {
		d := machine(t)
		var out strings.Builder
		d.a.Stdout = &out
		o := d.askOf(t, c.kind, "Bash", asks)
		dir := request.In(d.a.Store.Dir)
		go func() {
			for dir.StillOpen(&o) {
				time.Sleep(time.Millisecond)
			}
			dir.Close(o.ID, "")
		}()
		ans := request.Answer{Word: c.word, Message: "this", From: request.Terminal}
		if c.kind == request.Question && c.word == request.Allow {
			ans.Choices = map[string]string{"Which?": "Red"}
		}
		if err := give(d.a, &card.Request{Request: o, Name: "shop", Card: card.Card{Title: "it", Whole: true}}, ans); err != nil || out.String() != c.want {
			t.Errorf("%s %s: %q, %v", c.kind, c.word, out.String(), err)
		}
	}
}
