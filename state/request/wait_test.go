package request

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"beckon/event"
	"beckon/state"
	"beckon/state/evidence"
	"beckon/state/store"
)

// held is a session with a call that this process holds by a request.
type held struct {
	*testing.T
	st *store.Store
	id string
	at event.Millis
}

// newHeld folds a Write that asks and makes its request; change may edit the request first.
func newHeld(t *testing.T, change func(offer map[string]any)) *held {
	t.Helper()
	client, ok := evidence.Process(os.Getpid(), evidence.ThisMachine())
	if !ok {
		t.Skip("processes cannot be read here")
	}
	h := &held{t, store.Open(t.TempDir()), "AAAAAAAAAAAAAAAAAAAAAAAAAA", event.MillisOf(time.Now()) - 500}
	h.fold(event.PermissionRequest, `,"tool_name":"Write","tool_use_id":"t1","tool_input":{"file_path":"/p/a","content":"x"}`)
	h.at++
	s, err := h.st.Load("s1")
	if err != nil || len(s.Main().Calls) != 1 {
		t.Fatalf("%v, %+v", err, s)
	}
	offer := map[string]any{"id": h.id, "kind": "permission", "record": "s1", "tool": "Write", "hash": s.Main().Calls[0].Hash, "made_at": h.at - 1,
		"expires_at": h.at + 60_000, "client": client}
	if change != nil {
		change(offer)
	}
	b, err := json.Marshal(offer)
	if err != nil {
		t.Fatal(err)
	}
	h.write(callFile, b)
	return h
}

func (h *held) fold(kind event.Kind, members string) {
	h.Helper()
	e, err := event.Parse("", string(kind), []byte(`{"session_id":"s1","cwd":"/p","hook_event_name":"`+string(kind)+`"`+members+`}`))
	if err != nil {
		h.Fatal(err)
	}
	h.at++
	e.At = h.at
	if _, err := h.st.Fold("s1", store.Update{Change: state.Change{At: h.at, Event: &e}}); err != nil {
		h.Fatal(err)
	}
}

func (h *held) write(name string, b []byte) {
	h.Helper()
	dir := filepath.Join(In(h.st.Dir).OpenDir(), h.id)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		h.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, name), b, 0o600); err != nil {
		h.Fatal(err)
	}
}

func (h *held) getenv(name string) string {
	return map[string]string{"CLAUDE_CONFIG_DIR": h.st.Dir}[name]
}

// An answer to a call that is over is not passed on, and not reported as accepted.
func TestLateAnswer(t *testing.T) {
	for name, c := range map[string]struct {
		event   event.Kind
		members string
		want    string
	}{
		"in time":         {"", "", ""},
		"the call ended":  {event.PostToolUse, `,"tool_name":"Write","tool_use_id":"t1","tool_input":{"file_path":"/p/a","content":"x"},"tool_response":{}`, WhyCall},
		"the session did": {event.SessionEnd, "", WhySession},
	} {
		h := newHeld(t, nil)
		w, err := begin(h.st, h.id, h.getenv)
		if err != nil {
			t.Fatal(err)
		}
		if answered, why := w.look(time.Now()); answered || why != "" {
			t.Fatalf("%s: at first: %t, %q", name, answered, why)
		}
		if c.event != "" {
			h.fold(c.event, c.members)
		}
		h.write(answerFile, []byte(`{"word":"allow"}`))
		if answered, why := w.look(time.Now()); answered != (c.want == "") || why != c.want {
			t.Errorf("%s: answered %t, %q, want %q", name, answered, why, c.want)
		}
	}
}

// Another process with the client's pid is not the client.
func TestClientsPidReused(t *testing.T) {
	h := newHeld(t, func(offer map[string]any) {
		client := offer["client"].(event.Process)
		client.Start += "0"
		offer["client"] = client
		offer["expires_at"] = event.MillisOf(time.Now()) + 1000
	})
	if _, _, why := Wait(h.st, h.id, "", h.getenv, nil); why != WhyClient {
		t.Errorf("%q", why)
	}
}

// The waiting process starts the notifier once.
func TestNotify(t *testing.T) {
	soon := func(request map[string]any) { request["expires_at"] = event.MillisOf(time.Now()) + 20_000 }
	h := newHeld(t, soon)
	n := 0
	var asks sync.WaitGroup
	asks.Go(func() {
		if err := In(h.st.Dir).Notify(h.id); err != nil {
			t.Error(err)
		}
		if err := In(h.st.Dir).Notify(h.id); err == nil {
			t.Error("it is notified of twice")
		}
	})
	_, _, why := Wait(h.st, h.id, "", h.getenv, func() {
		n++
		h.write(answerFile, []byte(`{"word":"allow"}`))
	})
	asks.Wait()
	if !strings.HasPrefix(why, "the answer was refused: ") || n != 1 {
		t.Errorf("%q, notified %d times", why, n)
	}
}

// A call is over only if its session's facts say so; the end of other calls does not count.
func TestOver(t *testing.T) {
	h := Request{Record: "s1", UseID: "t1", Tool: "Write", Hash: "h", Made: 1000}
	call := state.Call{UseID: "t1", Name: "Write", Hash: "h", Asked: 1000, Requested: true}
	session := func(calls ...state.Call) *state.Session {
		return &state.Session{Actors: []state.Actor{{Active: 1000, Calls: calls}, {ID: "sub", Calls: []state.Call{{UseID: "t9"}}}}}
	}
	with := func(c state.Call, change func(*state.Call)) state.Call { change(&c); return c }
	for name, c := range map[string]struct {
		s    *state.Session
		seen bool
		now  event.Millis
		want string
	}{
		"it asks":                        {session(call), true, 2000, ""},
		"another call is there, too":     {session(state.Call{UseID: "t0", Name: "Write", Hash: "h"}, call), true, 2000, ""},
		"its id came later":              {session(with(call, func(c *state.Call) { c.UseID = "" })), true, 2000, ""},
		"it ended":                       {session(), true, 2000, WhyCall},
		"its twin is there":              {session(with(call, func(c *state.Call) { c.UseID = "t2" })), true, 2000, WhyCall},
		"it is not folded yet":           {session(), false, 2000, ""},
		"it is never folded":             {session(), false, 20000, WhyCall},
		"it was answered at the session": {session(with(call, func(c *state.Call) { c.Answered = 1500 })), true, 2000, WhyAnswered},
		"a headless one":                 {session(with(call, func(c *state.Call) { c.Answered = 1000 })), true, 2000, ""},
		"the session ended":              {&state.Session{End: state.Mark{At: 1500}}, true, 2000, WhySession},
		"an earlier end of it":           {&state.Session{End: state.Mark{At: 500}, Actors: session(call).Actors}, true, 2000, ""},
	} {
		if why, _ := h.Over(c.s, c.seen, c.now); why != c.want {
			t.Errorf("%s: %q, want %q", name, why, c.want)
		}
	}
}

// A reply can be given until the session works again.
func TestOverOfATurn(t *testing.T) {
	h := Request{Kind: "reply", Record: "s1", Made: 10_000}
	for name, c := range map[string]struct {
		s    state.Session
		want string
	}{
		"its end is not folded yet": {state.Session{Actors: []state.Actor{{Active: 9000}}}, ""},
		"its end is folded":         {state.Session{Stop: state.Stop{At: 10_020}, Actors: []state.Actor{{Active: 9000, Ended: 10_020}}}, ""},
		"the user typed":            {state.Session{Prompt: state.Prompt{At: 11_000}}, WhyWork},
		"the client woke it":        {state.Session{Actors: []state.Actor{{Active: 11_000, Ended: 10_020}}}, WhyWork},
		"another turn ended":        {state.Session{Stop: state.Stop{At: 60_000}}, WhyTurn},
		"the session ended":         {state.Session{End: state.Mark{At: 10_500}}, WhySession},
	} {
		if why, _ := h.Over(&c.s, true, 12_000); why != c.want {
			t.Errorf("%s: %q, want %q", name, why, c.want)
		}
	}
}
