package event

import (
	"beckon/event/jsonenc"
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"reflect"
	"slices"
	"strings"
	"testing"
)

// checkParse compares Parse with the reference and returns the event.
func checkParse(t *testing.T, name string, payload []byte) Event {
	t.Helper()
	got, err := Parse("", name, payload)
	want, ok := reference(name, payload)
	if (err == nil) != ok {
		t.Fatalf("Parse(%.200q): %v; encoding/json takes it: %v", payload, err, ok)
	}
	if !ok {
		return got
	}
	full := got
	// These fields have no counterpart in the reference.
	want.Source, want.Answer = got.Source, got.Answer // an object's members have no order to it
	want.Tool.Hash, want.Tool.Summary = got.Tool.Hash, got.Tool.Summary
	if k := got.Kind; k == ElicitationResult || k == Unknown {
		want.Reason = got.Reason
	}
	if got.Ask != nil && want.Ask != nil && len(got.Ask.Form) > 0 {
		if len(got.Ask.Form) == MaxOptions { // which of more are kept depends on their order
			want.Ask.Form = got.Ask.Form
		}
		ask := *got.Ask
		ask.Form = slices.Sorted(slices.Values(ask.Form))
		want.Ask.Form = slices.Sorted(slices.Values(want.Ask.Form))
		got.Ask = &ask
	}
	if !reflect.DeepEqual(got, want) {
		t.Fatalf("Parse(%.300q)\n got %+v\nwant %+v", payload, got, want)
	}
	return full
}

func TestParseRecordings(t *testing.T) {
	seen := map[Kind]int{}
	for _, payload := range payloads(t) {
		e := checkParse(t, "", payload)
		if e.Kind == Unknown || e.SessionID == "" || e.Cwd != "/lab/proj" || e.TranscriptPath == "" {
			t.Errorf("%s: %+v", payload, e)
		}
		seen[e.Kind]++
	}
	for _, k := range []Kind{SessionStart, SessionEnd, UserPromptSubmit, PreToolUse, PermissionRequest, PostToolUse, PostToolBatch,
		Notification, Stop, StopFailure, SubagentStart, SubagentStop, PreCompact, PostCompact, "TaskCreated", TaskCompleted} {
		if seen[k] == 0 {
			t.Errorf("no %s in the recordings", k)
		}
	}
}

// Every PermissionRequest has the same hash as a PreToolUse of its session.
func TestHashPairsPermissionWithCall(t *testing.T) {
	calls, asked := map[string]bool{}, 0
	key := func(e Event) string { return e.SessionID + e.AgentID + e.Tool.Name + e.Tool.Hash }
	for _, payload := range payloads(t) {
		e := checkParse(t, "", payload)
		switch e.Kind {
		case PreToolUse:
			calls[key(e)] = true
		case PermissionRequest:
			asked++
			if e.Tool.UseID != "" || len(e.Tool.Hash) != 16 || !calls[key(e)] {
				t.Errorf("no call for %+v", e.Tool)
			}
		}
	}
	if asked < 8 {
		t.Errorf("%d permission requests", asked)
	}
}

// The hash covers the tokens: space does not matter, every byte of a token does, even inside
// a long text.
func TestHash(t *testing.T) {
	long := strings.Repeat("0123456789", 20_000)
	many := "[" + strings.Repeat("1,", 100_000) + "1]"
	inputs := []string{
		`{"a":1,"b":"x"}`, `{"a":1,"b":"y"}`, `{"b":"x","a":1}`, `{}`, `[]`, `"{}"`, `1`,
		`{"a":"` + long + `"}`,
		`{"a":"` + long[:100_000] + "x" + long[100_001:] + `"}`,
		`{"a":"` + long + `0"}`,
		`{"a":` + many + `}`, `{"a":` + strings.Replace(many, "1]", "2]", 1) + `}`, `{"a":` + many + `,"b":2}`,
	}
	seen := map[string]string{}
	for _, in := range inputs {
		h := hashed(t, `{"tool_name":"T","tool_input":`+in+`}`)
		if old, ok := seen[h]; ok {
			t.Errorf("%.40s and %.40s have one hash", in, old)
		}
		seen[h] = in
		var pretty bytes.Buffer
		if err := json.Indent(&pretty, []byte(in), "\t", "  "); err != nil {
			t.Fatal(err)
		}
		if hp := hashed(t, ` { "tool_input" : `+pretty.String()+` , "tool_name":"T" } `); hp != h {
			t.Errorf("%.40s: %s, with space %s", in, h, hp)
		}
	}
	if h := hashed(t, `{"tool_name":"T"}`); h != "" {
		t.Errorf("hash %s of no input", h)
	}
	const want = "05ada32f4b235ce8" // session files keep hashes: they must not change between versions
	if h := hashed(t, `{"tool_input":{"command":"npm test"}}`); h != want {
		t.Errorf("hash %s, want %s", h, want)
	}
}

func hashed(t *testing.T, payload string) string {
	t.Helper()
	e, err := Parse("", "PreToolUse", []byte(payload))
	if err != nil {
		t.Fatal(err)
	}
	return e.Tool.Hash
}

func TestParseFields(t *testing.T) {
	for _, c := range []struct {
		what, name, payload string
		want                Event
	}{
		{"the payload's name wins", "Stop", `{"hook_event_name":"SessionStart","source":"resume","model":"m"}`,
			Event{Kind: SessionStart, Name: "SessionStart", Source: "resume", Model: "m"}},
		{"the entry's name when the payload has none", "pre-tool-use", `{"tool_name":"Bash"}`,
			Event{Kind: PreToolUse, Name: "pre-tool-use", Tool: Tool{Name: "Bash", Summary: "Bash"}}},
		{"an event to come is kept by name", "", `{"hook_event_name":"QuantumLeap","session_id":"s"}`,
			Event{Name: "QuantumLeap", SessionID: "s"}},
		{"other types count as absent", "Stop", `{"session_id":5,"cwd":null,"effort":"high","stop_hook_active":"true","background_tasks":{},"session_crons":7,"duration_ms":"9","tool_name":["x"],"agent_id":{}}`,
			Event{Kind: Stop, Name: "Stop"}},
		{"effort", "Stop", `{"effort":{"level":"high","x":{"level":"low"}}}`,
			Event{Kind: Stop, Name: "Stop"}},
		{"the last of a key", "Stop", `{"session_id":"a","session_id":"b"}`,
			Event{Kind: Stop, Name: "Stop", SessionID: "b"}},
		{"an empty snapshot is one", "Stop", `{"background_tasks":[],"session_crons":[{"id":"c"},{}]}`,
			Event{Kind: Stop, Name: "Stop", HasBackground: true, Crons: 2}},
		{"a snapshot", "SubagentStop", `{"agent_id":"a1","background_tasks":[{"id":"b1","type":"shell","status":"running","description":"bg","command":"x"},5]}`,
			Event{Kind: SubagentStop, Name: "SubagentStop", AgentID: "a1", HasBackground: true,
				Background: []Task{{ID: "b1", Type: "shell", Status: "running", Description: "bg"}}}},
		{"StopFailure", "", `{"hook_event_name":"StopFailure","error":"rate_limit","error_details":"429","last_assistant_message":"API Error"}`,
			Event{Kind: StopFailure, Name: "StopFailure", Reason: "rate_limit", Details: "429", Message: "API Error"}},
		{"PostToolUseFailure", "", `{"hook_event_name":"PostToolUseFailure","error":"Exit code 1\nboom","is_interrupt":true,"duration_ms":12.7}`,
			Event{Kind: PostToolUseFailure, Name: "PostToolUseFailure", Details: "Exit code 1", Tool: Tool{Ms: 12}}},
		{"PermissionDenied", "", `{"hook_event_name":"PermissionDenied","reason":"not now"}`,
			Event{Kind: PermissionDenied, Name: "PermissionDenied", Reason: "not now"}},
		{"Elicitation", "", `{"hook_event_name":"Elicitation","mcp_server_name":"gh","elicitation_id":"e1","message":"Token?"}`,
			Event{Kind: Elicitation, Name: "Elicitation", Message: "Token?", Tool: Tool{Name: "gh", UseID: "e1"}}},
		{"ElicitationResult", "", `{"hook_event_name":"ElicitationResult","mcp_server_name":"gh","elicitation_id":"e1","action":"decline"}`,
			Event{Kind: ElicitationResult, Name: "ElicitationResult", Reason: "decline", Tool: Tool{Name: "gh", UseID: "e1"}}},
		{"PreCompact", "", `{"hook_event_name":"PreCompact","trigger":"auto","custom_instructions":null}`,
			Event{Kind: PreCompact, Name: "PreCompact", Source: "auto"}},
		{"CwdChanged", "", `{"hook_event_name":"CwdChanged","cwd":"/a","old_cwd":"/a","new_cwd":"/b"}`,
			Event{Kind: CwdChanged, Name: "CwdChanged", Cwd: "/b"}},
		{"PostModelSwitch", "", `{"hook_event_name":"PostModelSwitch","from_model":"a","to_model":"b","source":"picker"}`,
			Event{Kind: PostModelSwitch, Name: "PostModelSwitch", Model: "b", Source: "picker"}},
		{"TaskCreated", "", `{"hook_event_name":"TaskCreated","task_id":"1","task_subject":"First"}`,
			Event{Kind: "TaskCreated", Name: "TaskCreated"}},
		{"Notification", "", `{"hook_event_name":"Notification","message":"waiting","title":"t","notification_type":"idle_prompt"}`,
			Event{Kind: Notification, Name: "Notification", Message: "waiting", Notification: "idle_prompt"}},
	} {
		c.want.Agent = ClaudeCode
		e, err := Parse("", c.name, []byte(c.payload))
		if err != nil || !reflect.DeepEqual(e, c.want) {
			t.Errorf("%s: %v\n got %+v\nwant %+v", c.what, err, e, c.want)
		}
		if c.what != "the last of a key" {
			checkParse(t, c.name, []byte(c.payload))
		}
	}
}

// A prompt that the client itself writes is not the user's.
// An agent without a table may name its main conversation "main".
func TestMainAgent(t *testing.T) {
	for agent, want := range map[string]string{"own-agent": "", "": "main"} {
		e, err := Parse(agent, "Stop", []byte(`{"session_id":"s","hook_event_name":"Stop","agent_id":"main"}`))
		if err != nil || e.AgentID != want {
			t.Errorf("%q: agent id %q (%v), want %q", agent, e.AgentID, err, want)
		}
	}
}

// The end of a turn counts although the last bytes of its payload are lost.
func TestStopCutShort(t *testing.T) {
	payload := `{"session_id":"s","transcript_path":"/t","cwd":"/p","hook_event_name":"Stop","last_assistant_message":"All \"done\"."}`
	for n := len(payload) - 1; n > len(payload)-30; n-- {
		for _, parse := range []func(string) (Event, error){
			func(s string) (Event, error) { return Parse("", "Stop", []byte(s)) },
			func(s string) (Event, error) { return ParseReader("", "Stop", strings.NewReader(s)) },
		} {
			e, err := parse(payload[:n])
			if err != nil || e.Kind != Stop || e.SessionID != "s" || e.Cwd != "/p" || e.TranscriptPath != "/t" || e.Message != "" {
				t.Errorf("%q: %+v, %v", payload[:n], e, err)
			}
		}
	}
	failure := `{"session_id":"s","hook_event_name":"StopFailure","error":"rate_limit","error_details":"429","last_assistant_message":"A`
	if e, err := Parse("", "", []byte(failure)); err != nil || e.Kind != StopFailure || e.Reason != "rate_limit" || e.Details != "429" {
		t.Errorf("%q: %+v, %v", failure, e, err)
	}
	for _, other := range []string{`{"session_id":"s","hook_event_name":"PreToolUse","tool_name":"Bash"`, `{"session_id":"s`, `{"session_id":"s","hook_event_name":"Stop"}}`} {
		if e, err := Parse("", "", []byte(other)); err == nil {
			t.Errorf("%q: %+v", other, e)
		}
	}
}

func TestFromClient(t *testing.T) {
	for prompt, want := range map[string]bool{
		"<task-notification>\n<task-id>x</task-id>":      true,
		"\n  <system-reminder>note</system-reminder>":    true,
		"[Request interrupted by user]":                  true,
		"[Request interrupted by user for tool use]":     true,
		"explain <task-notification> to me":              false,
		"why does it say [Request interrupted by user]?": false,
		"go on": false,
		"":      false,
	} {
		p, _ := json.Marshal(map[string]string{"hook_event_name": "UserPromptSubmit", "prompt": prompt})
		if e := checkParse(t, "", p); e.FromClient != want {
			t.Errorf("%q: FromClient %v", prompt, e.FromClient)
		}
	}
}

func TestParseCutsOnRunes(t *testing.T) {
	for _, unit := range []string{"a", "é", "€", "😀", "\n", `"`, "\u2028"} {
		for n := range 4 {
			s := strings.Repeat("x", n) + strings.Repeat(unit, 2500/len(unit))
			p, _ := json.Marshal(map[string]any{"hook_event_name": "UserPromptSubmit", "session_id": s, "cwd": s, "prompt": s + ".",
				"last_assistant_message": s, "background_tasks": []any{map[string]string{"id": s, "description": s}}})
			checkParse(t, "", p)
		}
	}
}

func TestParseKeepsRunningTasksFirst(t *testing.T) {
	for _, every := range []int{1, 2, 7, 50} {
		var list []map[string]string
		for i := range 60 {
			status := "completed"
			if i%every == every-1 {
				status = "running"
			}
			list = append(list, map[string]string{"id": string(rune('A' + i)), "status": status})
		}
		p, _ := json.Marshal(map[string]any{"background_tasks": list})
		if e := checkParse(t, "Stop", p); len(e.Background) != MaxTasks {
			t.Errorf("%d tasks kept", len(e.Background))
		}
	}
}

// An error says what is wrong, but quotes nothing of the payload.
func TestParseErrors(t *testing.T) {
	for _, c := range []struct {
		payload, want string
	}{
		{"", "reading payload: payload is empty"},
		{" \n\t", "reading payload: payload is empty"},
		{"null", "reading payload: payload is not an object"},
		{"  [1]", "reading payload: payload is not an object"},
		{"42", "reading payload: payload is not an object"},
		{`"secret"`, "reading payload: payload is not an object"},
		{`{"a":secret}`, "reading payload: payload is not JSON"},
		{`{"a":"secret`, "reading payload: unexpected end"},
		{`{"a" 1}`, "reading payload: payload is not JSON"},
		{`{"a":1 "b"}`, "reading payload: payload is not JSON"},
		{`{a:1}`, "reading payload: payload is not JSON"},
		{`{"a":tru }`, "reading payload: payload is not JSON"},
		{`{"a":"\x"}`, "reading payload: payload is not JSON"},
		{`{"a":"\u12g4"}`, "reading payload: payload is not JSON"},
		{"{\"a\":\"\n\"}", "reading payload: payload is not JSON"},
		{`{} x`, "reading payload: payload is not JSON"},
		{"\ufeff", "reading payload: payload is empty"},
		{"\xef\xbb{}", "reading payload: payload is not JSON"},
		{strings.Repeat("[", 1001), "reading payload: nesting is too deep"},
		{"   \n\n" + `{"k":"` + strings.Repeat("x", 100_000) + "\x01\"}", "reading payload: payload is not JSON"},
	} {
		_, err := Parse("", "", []byte(c.payload))
		var syntax SyntaxError
		if !errors.As(err, &syntax) || err.Error() != c.want {
			t.Errorf("Parse(%.40q): %v\nwant %s", c.payload, err, c.want)
		}
	}
}

// A complete object is enough: the sender may keep the pipe open.
func TestParseReaderDoesNotWaitForTheEnd(t *testing.T) {
	for _, payload := range []string{`{"session_id":"s","cwd":"/tmp"}`, "\ufeff \n{\"session_id\":\"s\",\"cwd\":\"/tmp\"}\n", `{"session_id":"s","cwd":"/tmp"} and more`} {
		r, w := io.Pipe()
		go func() { _, _ = io.WriteString(w, payload) }()
		e, err := ParseReader("", "Stop", r)
		if err != nil || e.SessionID != "s" || e.Cwd != "/tmp" {
			t.Errorf("%q: %+v, %v", payload, e, err)
		}
	}
}

type broken struct{ err error }

func (b broken) Read(p []byte) (int, error) { return copy(p, `{"session_id":"s"`), b.err }

func TestReadReturnsTheReadersError(t *testing.T) {
	want := errors.New("pipe broke")
	if _, err := ParseReader("", "Stop", broken{want}); err != want {
		t.Errorf("got %v", err)
	}
}

// The event shares no memory with the buffer it was read from.
func TestEventSharesNoMemory(t *testing.T) {
	for _, payload := range payloads(t) {
		b := bytes.Clone(payload)
		e, err := Parse("", "", b)
		if err != nil {
			t.Fatal(err)
		}
		before := jsonenc.Append(nil, &e)
		for i := range b {
			b[i] = '#'
		}
		if after := jsonenc.Append(nil, &e); !bytes.Equal(before, after) {
			t.Fatalf("%s\nbecomes %s", before, after)
		}
	}
}
