package run

import (
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"sync"
	"testing"
	"time"

	"beckon/event/policy/config"
	"beckon/event/policy/trust"
	"beckon/event/policy/wire"
)

// asked is a policy server that records its requests.
type asked struct {
	*httptest.Server
	mu     sync.Mutex
	bodies []string
	header http.Header
}

// answering starts a server that answers the nth request by f.
func answering(t *testing.T, f func(n int, w http.ResponseWriter)) *asked {
	t.Helper()
	a := &asked{}
	a.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		a.mu.Lock()
		a.bodies = append(a.bodies, string(body))
		a.header = r.Header
		n := len(a.bodies)
		a.mu.Unlock()
		f(n, w)
	}))
	t.Cleanup(a.Close)
	return a
}

func (a *asked) seen() []string {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.bodies
}

func always(status int, body string) func(int, http.ResponseWriter) {
	return func(_ int, w http.ResponseWriter) {
		w.WriteHeader(status)
		_, _ = io.WriteString(w, body)
	}
}

// patient returns a server with the defaults of protocol 1.0.
func patient(url string) config.Spec {
	return config.Spec{URL: url, Retries: 3, RetryDelay: time.Second}
}

// quick is patient with delays short enough for a test.
func quick(url string) config.Spec {
	return config.Spec{URL: url, Retries: 3, RetryDelay: time.Millisecond}
}

func runServer(t *testing.T, cfg config.Spec, c wire.Call) wire.Outcome {
	t.Helper()
	h := newServer(cfg, 5*time.Second, "")
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	return h.Run(ctx, c)
}

// The request is exactly that of protocol 1.0. Next to the members that the protocol requires,
// data contains the whole payload.
func TestServerRequest(t *testing.T) {
	for _, test := range []struct {
		call        wire.Call
		correlation string
		data        string
	}{
		{bashCall("ls"), "toolu_1", `{"session_id":"s-1","hook_event_name":"PreToolUse","tool_name":"Bash","tool_use_id":"toolu_1","permission_mode":"default","cwd":"/",
			"tool_input":{"command":"ls","timeout":12345678901234567890}}`},
		{eventCall("UserPromptSubmit", map[string]any{"prompt": "hi <b>"}), "p-1", `{"session_id":"s-1","prompt_id":"p-1","hook_event_name":"UserPromptSubmit","cwd":"/","prompt":"hi <b>"}`},
		{eventCall("Stop", nil), "p-1", `{"session_id":"s-1","prompt_id":"p-1","hook_event_name":"Stop","cwd":"/","stop_hook_active":false}`},
		{eventCall("SubagentStop", map[string]any{"stop_hook_active": true}), "p-1", `{"session_id":"s-1","prompt_id":"p-1","hook_event_name":"SubagentStop","cwd":"/","stop_hook_active":true}`},
		{eventCall("PreCompact", map[string]any{"trigger": "manual", "custom_instructions": nil}), "p-1",
			`{"session_id":"s-1","prompt_id":"p-1","hook_event_name":"PreCompact","cwd":"/","trigger":"manual","custom_instructions":""}`},
		{eventCall("Notification", map[string]any{"message": "m"}), "p-1", `{"session_id":"s-1","prompt_id":"p-1","hook_event_name":"Notification","cwd":"/","message":"m"}`},
		{eventCall("SessionEnd", map[string]any{"reason": "clear"}), "p-1", `{"session_id":"s-1","prompt_id":"p-1","hook_event_name":"SessionEnd","cwd":"/","reason":"clear"}`},
	} {
		a := answering(t, always(200, `{"version":"1.0","decision":"allow"}`))
		if o := runServer(t, quick(a.URL), test.call); o.Err != nil || o.Decision != wire.Allow || o.Attempts != 1 {
			t.Fatalf("%s: %+v", test.call.Event, o)
		}
		want := `{"version":"1.0","event":{"id":"e-1","type":"EVENT","name":"EVENT","timestamp":1234567890123,"session_id":"s-1","correlation_id":"` +
			test.correlation + `"},"data":` + test.data + `}`
		want = strings.ReplaceAll(want, "EVENT", string(test.call.Event))
		if got := a.seen()[0]; !sameJSON([]byte(got), []byte(want)) {
			t.Errorf("%s:\n%s\nwant\n%s", test.call.Event, got, want)
		}
		if got := a.header.Get("Content-Type"); got != "application/json" {
			t.Errorf("content type %q", got)
		}
	}
}

func TestServerAnswers(t *testing.T) {
	pre, prompt := bashCall("ls /tmp"), eventCall("UserPromptSubmit", map[string]any{"prompt": "p"})
	post := eventCall("PostToolUse", map[string]any{"tool_name": "Bash", "tool_input": map[string]any{"command": "ls"}, "tool_response": map[string]any{"stdout": "a", "stderr": ""}})
	post.ToolName, post.ToolInput = "Bash", []byte(`{"command":"ls"}`)
	const big = `12345678901234567890`
	for name, test := range map[string]struct {
		call   wire.Call
		answer string
		want   wire.Outcome
		err    string
	}{
		"allow":               {call: pre, answer: `{"version":"1.0","decision":"allow"}`, want: wire.Outcome{Decision: wire.Allow}},
		"nulls":               {call: pre, answer: `{"version":"1.0","decision":"allow","reason":null,"modified_data":null,"metadata":null}`, want: wire.Outcome{Decision: wire.Allow}},
		"block a call":        {call: pre, answer: `{"version":"1.0","decision":"block","reason":" no "}`, want: wire.Outcome{Decision: wire.Deny, Reason: "no"}},
		"block a prompt":      {call: prompt, answer: `{"version":"1.0","decision":"block","reason":"no"}`, want: wire.Outcome{Decision: wire.Deny, Reason: "no"}},
		"modify one field":    {call: pre, answer: modified(`{"tool_input":{"command":"ls <x>"}}`), want: wire.Outcome{Decision: wire.Modify, UpdatedInput: []byte(`{"command":"ls <x>","timeout":` + big + `}`)}},
		"modify and add":      {call: pre, answer: modified(`{"tool_input":{"description":"d"}}`), want: wire.Outcome{Decision: wire.Modify, UpdatedInput: []byte(`{"command":"ls /tmp","description":"d","timeout":` + big + `}`)}},
		"modify by a null":    {call: pre, answer: modified(`{"tool_input":{"timeout":null}}`), want: wire.Outcome{Decision: wire.Modify, UpdatedInput: []byte(`{"command":"ls /tmp"}`)}},
		"modify nothing":      {call: pre, answer: modified(`{"tool_input":{"command":"ls /tmp"},"tool_name":"Bash"}`), want: wire.Outcome{Decision: wire.Allow}},
		"modify the tool":     {call: pre, answer: modified(`{"tool_name":"Read"}`), err: "modifies tool_name, which PreToolUse cannot"},
		"modify a prompt":     {call: prompt, answer: modified(`{"prompt":"q"}`), err: "modifies prompt, which UserPromptSubmit cannot"},
		"modify what is over": {call: post, answer: modified(`{"tool_input":{"command":"x"}}`), err: "modifies tool_input, which PostToolUse cannot"},
		"modify a response": {call: post, answer: modified(`{"tool_response":{"stdout":"b"}}`), want: wire.Outcome{Decision: wire.Modify,
			Raw: []byte(`{"hookSpecificOutput":{"hookEventName":"PostToolUse","updatedToolOutput":{"stderr":"","stdout":"b"}}}`)}},
		"modify without data": {call: pre, answer: `{"version":"1.0","decision":"modify"}`, err: "no modified_data"},
		"modify by a string":  {call: pre, answer: modified(`{"tool_input":"ls"}`), err: "modified_data.tool_input: it is not a JSON object but a string"},
		"context":             {call: pre, answer: `{"version":"1.0","decision":"allow","metadata":{"additional_context":"c","n":1}}`, want: wire.Outcome{Decision: wire.Allow, Context: "c", Metadata: []byte(`{"additional_context":"c","n":1}`)}},
		"unknown decision":    {call: pre, answer: `{"version":"1.0","decision":"BLOCK"}`, err: `its decision is "BLOCK" and none of`},
		"no decision":         {call: pre, answer: `{"version":"1.0"}`, err: "its decision is"},
		"no version":          {call: pre, answer: `{"decision":"allow"}`, err: `its version is ""`},
		"another version":     {call: pre, answer: `{"version":"2.0","decision":"allow"}`, err: `its version is "2.0"`},
		"a number":            {call: pre, answer: `{"version":1.0,"decision":"allow"}`, err: "version is a number and not a string"},
		"two decisions":       {call: pre, answer: `{"version":"1.0","decision":"allow","decision":"block"}`, err: `"decision" twice`},
		"two, one escaped":    {call: pre, answer: `{"version":"1.0","decision":"allow","\u0064ecision":"block"}`, err: `"decision" twice`},
		"an array":            {call: pre, answer: `[]`, err: "not a JSON object but an array"},
		"garbage":             {call: pre, answer: "<html>", err: "it is not JSON"},
		"nothing":             {call: pre, answer: "", err: "it is not JSON"},
		"two objects":         {call: pre, answer: `{"version":"1.0","decision":"allow"}{}`, err: "it is not JSON"},
		"nested too deep":     {call: pre, answer: strings.Repeat(`{"a":`, 200_000), err: "it is not JSON"},
		"the event echoed":    {call: pre, answer: string(pre.Payload), err: "its version is"},
	} {
		t.Run(name, func(t *testing.T) {
			a := answering(t, always(200, test.answer))
			o := runServer(t, quick(a.URL), test.call)
			if (o.Err == nil) != (test.err == "") || o.Err != nil && !strings.Contains(o.Err.Error(), test.err) {
				t.Fatalf("error %v, want %q", o.Err, test.err)
			}
			got := wire.Outcome{Decision: o.Decision, Reason: o.Reason, UpdatedInput: o.UpdatedInput, Context: o.Context, Metadata: o.Metadata, Raw: o.Raw}
			if !reflect.DeepEqual(got, test.want) {
				t.Errorf("got %+v, want %+v; %s", got, test.want, got.UpdatedInput)
			}
			if o.Attempts != 1 {
				t.Errorf("asked %d times", o.Attempts)
			}
		})
	}
}

func modified(data string) string {
	return `{"version":"1.0","decision":"modify","modified_data":` + data + `}`
}

// Each status has its documented meaning, and its number of requests.
func TestServerStatuses(t *testing.T) {
	for status, want := range map[int]struct {
		tries int
		text  string
	}{
		400: {1, "answered 400, Bad Request"}, 401: {1, "401"}, 404: {1, "404"}, 201: {1, "201"}, 204: {1, "204"},
		429: {4, "429"}, 500: {4, "answered 500, Internal Server Error"}, 503: {4, "answered 503, Service Unavailable"},
		302: {1, "redirects are not followed"}, 307: {1, "redirects are not followed"},
	} {
		a := answering(t, func(_ int, w http.ResponseWriter) {
			w.Header().Set("Location", "/elsewhere")
			w.WriteHeader(status)
		})
		o := runServer(t, quick(a.URL+"/hook?key=secret"), bashCall("ls"))
		if o.Err == nil || !strings.Contains(o.Err.Error(), want.text) || strings.Contains(o.Err.Error(), "secret") {
			t.Errorf("%d: error %v", status, o.Err)
		}
		if o.Decision != wire.Silence || o.Attempts != want.tries || len(a.seen()) != want.tries {
			t.Errorf("%d: decision %q, %d tries, %d seen; want %d", status, o.Decision, o.Attempts, len(a.seen()), want.tries)
		}
	}
}

// A server recognises a repeated request by the event id; the reference implementation sent a
// constant.
func TestServerRetriesWithTheSameID(t *testing.T) {
	down := func(n int, w http.ResponseWriter) {
		if n < 3 {
			w.WriteHeader(503)
			return
		}
		always(200, `{"version":"1.0","decision":"block","reason":"up again"}`)(n, w)
	}
	a := answering(t, down)
	o := runServer(t, quick(a.URL), bashCall("ls"))
	if o.Err != nil || o.Decision != wire.Deny || o.Reason != "up again" || o.Attempts != 3 {
		t.Errorf("got %+v", o)
	}
	if b := a.seen(); len(b) != 3 || b[0] != b[1] || b[1] != b[2] {
		t.Errorf("requests differ: %q", b)
	}
	first, second := answering(t, always(200, "")), answering(t, always(200, ""))
	for _, s := range []*asked{first, second} {
		c := bashCall("ls")
		c.ID = ""
		runServer(t, quick(s.URL), c)
	}
	if id(t, first) == "" || id(t, first) == id(t, second) {
		t.Errorf("ids %q and %q", id(t, first), id(t, second))
	}
}

func id(t *testing.T, a *asked) string {
	t.Helper()
	var r struct {
		Event struct {
			ID string `json:"id"`
		} `json:"event"`
	}
	if err := json.Unmarshal([]byte(a.seen()[0]), &r); err != nil {
		t.Fatal(err)
	}
	return r.Event.ID
}

func TestServerHeaders(t *testing.T) {
	a := answering(t, always(200, `{"version":"1.0","decision":"allow"}`))
	cfg := quick(a.URL)
	cfg.Headers = map[string]string{"Authorization": "Bearer $TOKEN"}
	runServer(t, cfg, bashCall("ls"))
	if got := a.header.Get("Authorization"); got != "Bearer $TOKEN" {
		t.Errorf("authorization %q", got)
	}
}

// HTTP.
func TestHTTPAnswers(t *testing.T) {
	t.Setenv("LISTED", "yes")
	t.Setenv("UNLISTED", "no")
	for name, test := range map[string]struct {
		status int
		body   string
		want   wire.Decision
		err    string
	}{
		"nothing to say":  {200, " \n", wire.Silence, ""},
		"no content":      {204, "", wire.Silence, ""},
		"deny":            {200, `{"hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"deny"}}`, wire.Deny, ""},
		"text":            {200, "hello", wire.Silence, "it is not JSON"},
		"bad schema":      {200, `{"continue":"no"}`, wire.Silence, "continue is a string and not a boolean"},
		"protocol 1.0":    {200, `{"version":"1.0","decision":"allow"}`, wire.Silence, `decision "allow" is not one`},
		"refusing status": {403, `{"decision":"block"}`, wire.Silence, "answered 403"},
		"server error":    {500, "", wire.Silence, "answered 500"},
		"redirect":        {307, "", wire.Silence, "redirects are not followed"},
	} {
		t.Run(name, func(t *testing.T) {
			a := answering(t, always(test.status, test.body))
			h := handler{&config.Hook{Type: config.HTTP, Spec: config.Spec{
				URL: a.URL, Headers: map[string]string{"X": "${LISTED} $UNLISTED."}, AllowedEnvVars: []string{"LISTED"},
			}}, nil, ""}
			c := bashCall("ls")
			o := h.Run(t.Context(), c)
			if o.Decision != test.want || (o.Err == nil) != (test.err == "") || o.Err != nil && !strings.Contains(o.Err.Error(), test.err) {
				t.Errorf("got %+v, want %q and %q", o, test.want, test.err)
			}
			if got := a.seen(); len(got) != 1 || got[0] != string(c.Payload) || a.header.Get("X") != "yes ." {
				t.Errorf("sent %q with %q", got, a.header.Get("X"))
			}
		})
	}
}

// A server that is down delays one call by all tries. Then it is skipped for a pause, also when the
// clock is set back, and asked again.
func TestServerThatIsDownIsLeftAlone(t *testing.T) {
	up := false
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		if !up {
			w.WriteHeader(http.StatusServiceUnavailable)
			return
		}
		_, _ = io.WriteString(w, `{"version":"1.0","decision":"allow"}`)
	}))
	defer s.Close()
	state := trust.Dir(t.TempDir())
	down := state.Path(downDir, trust.Sum(s.URL)[:32])
	h := newServer(config.Spec{URL: s.URL, Retries: 2}, 0, state)
	for i, c := range []struct {
		up, pause, worked bool // the server, the pause before the call, the call
		tries             int
	}{
		{false, false, false, 3}, {false, false, false, 0}, {true, false, false, 0}, {false, true, false, 3},
		{true, false, false, 0}, {true, true, true, 1}, {false, false, false, 3},
	} {
		if up = c.up; c.pause {
			old := time.Now().Add(-downFor)
			if err := os.Chtimes(down, old, old); err != nil {
				t.Fatal(err)
			}
		}
		o := h.Run(t.Context(), bashCall("ls"))
		if (o.Err == nil) != c.worked || o.Attempts != c.tries {
			t.Errorf("call %d: %d tries, %v", i, o.Attempts, o.Err)
		}
	}
	later := time.Now().Add(time.Hour)
	if err := os.WriteFile(down, nil, 0o600); err != nil || os.Chtimes(down, later, later) != nil {
		t.Fatal(err)
	}
	if o := h.Run(t.Context(), bashCall("ls")); o.Attempts == 0 {
		t.Error("down for as long as the clock was set back")
	}
	_ = state.Remove(downDir, filepath.Base(down))
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	h.Run(ctx, bashCall("ls"))
	if _, err := os.Stat(down); err == nil {
		t.Error("nobody waited, and it is taken for down")
	}
}
