//go:build unix

package suite

import (
	"bufio"
	"encoding/json"
	"io"
	"net/http"
	"strings"
	"testing"
)

// post sends a conversation and returns the status and the body.
func post(t *testing.T, s *Server, body string) (int, string) {
	t.Helper()
	r, err := http.Post(s.URL+"/v1/messages?beta=true", "application/json", strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	defer r.Body.Close()
	b, err := io.ReadAll(r.Body)
	if err != nil {
		t.Fatal(err)
	}
	return r.StatusCode, string(b)
}

const (
	someTools = `"tools":[{"name":"Bash"},{"name":"Write"},{"name":"ToolSearch"}]`
	asked     = `{"role":"user","content":[{"type":"text","text":"<system-reminder>date</system-reminder>"},{"type":"text","text":"lab:write a\"b.txt"}]}`
	called    = `{"role":"assistant","content":[{"type":"tool_use","id":"toolu_1","name":"Write","input":{}}]}`
	result    = `{"role":"user","content":[{"type":"tool_result","tool_use_id":"toolu_1","content":"lab:hi"}]}`
)

func conversation(messages ...string) string {
	return `{"model":"m",` + someTools + `,"messages":[` + strings.Join(messages, ",") + `]}`
}

func TestServerFollowsScript(t *testing.T) {
	for _, c := range []struct{ name, body, want string }{
		{"tool call", conversation(asked), `"input":{"content":"hello\n","file_path":"/p/a\"b.txt"}`},
		{"after the result", conversation(asked, called, result), "Wrote the note."},
		{"later prompt", conversation(asked, called, result, `{"role":"assistant","content":"x"}`, `{"role":"user","content":"lab:hi"}`), "Hi there."},
		{"queued prompt beside a result", conversation(asked, called, `{"role":"user","content":[{"type":"tool_result","tool_use_id":"toolu_1"},{"type":"text","text":"lab:hi"}]}`), "Hi there."},
		{"queued prompt as a system message", conversation(asked, called, result, `{"role":"system","content":"The user sent a new message while you were working:\nlab:hi\n"}`), "Hi there."},
		{"deferred tool", conversation(`{"role":"user","content":"lab:ask"}`), `"query":"select:AskUserQuestion"`},
		{"background work ended", conversation(`{"role":"user","content":"<task-notification>lab:write x"}`), "Noted"},
		{"no script", conversation(`{"role":"user","content":"hello"}`), "Nothing to do."},
		{"title request", `{"messages":[` + asked + `]}`, "title"},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := NewServer()
			s.Project = "/p"
			defer s.Close()
			status, body := post(t, s, c.body)
			if status != http.StatusOK || !strings.Contains(body, c.want) {
				t.Errorf("got %d %s; want %s", status, body, c.want)
			}
		})
	}
}

func TestServerFails(t *testing.T) {
	s := NewServer()
	defer s.Close()
	for word, want := range map[string][]int{"overload": {529, 529, 529}, "auth": {401}, "badreq": {400}, "flaky": {529, 200}} {
		for i, status := range want {
			got, body := post(t, s, conversation(`{"role":"user","content":"lab:`+word+`"}`))
			if got != status {
				t.Errorf("%s, request %d: got %d %s; want %d", word, i, got, body, status)
			}
		}
	}
}

// The joined blocks of the stream are the answer without streaming.
func TestServerStreams(t *testing.T) {
	s := NewServer()
	defer s.Close()
	_, body := post(t, s, strings.Replace(conversation(`{"role":"user","content":"lab:bash ls"}`), `{`, `{"stream":true,`, 1))
	var kinds []string
	var text, input string
	for sc := bufio.NewScanner(strings.NewReader(body)); sc.Scan(); {
		data, ok := strings.CutPrefix(sc.Text(), "data: ")
		if !ok {
			continue
		}
		var e struct {
			Type  string
			Delta struct {
				Text  string
				Input string `json:"partial_json"`
			}
		}
		if err := json.Unmarshal([]byte(data), &e); err != nil {
			t.Fatal(err)
		}
		if len(kinds) == 0 || kinds[len(kinds)-1] != e.Type {
			kinds = append(kinds, e.Type)
		}
		text, input = text+e.Delta.Text, input+e.Delta.Input
	}
	if text != "Running it." || input != `{"command":"ls","description":"run it"}` {
		t.Errorf("streamed %q and %q", text, input)
	}
	want := "message_start content_block_start content_block_delta content_block_stop content_block_start content_block_delta content_block_stop message_delta message_stop"
	if got := strings.Join(kinds, " "); got != want {
		t.Errorf("events %s", got)
	}
}

func TestServerOtherEndpoints(t *testing.T) {
	s := NewServer()
	defer s.Close()
	r, err := http.Post(s.URL+"/v1/messages/count_tokens", "application/json", strings.NewReader(`{}`))
	if err != nil {
		t.Fatal(err)
	}
	b, _ := io.ReadAll(r.Body)
	r.Body.Close()
	if !strings.Contains(string(b), "input_tokens") {
		t.Errorf("count_tokens: %s", b)
	}
	if r, err = http.Head(s.URL + "/"); err != nil || r.StatusCode != http.StatusOK {
		t.Errorf("HEAD /: %v %v", r, err)
	}
}

// Every tool input is valid JSON once it is filled in, whatever the arguments contain.
func TestScriptsAreValid(t *testing.T) {
	for word, script := range scripts {
		if len(script) == 0 {
			t.Errorf("%s: empty", word)
		}
		for _, r := range script {
			for _, tool := range r.Tools {
				if in := fill(tool.Input, `a "b" \c`, "/p", "/plan.md", "a1"); !json.Valid([]byte(in)) {
					t.Errorf("%s: %s gets %s", word, tool.Name, in)
				}
			}
		}
	}
}

// Each API returns the same script in its own form: a tool call, then the text after its
// result.
func TestServerSpeaksEachProtocol(t *testing.T) {
	const prompt = `lab:bash ./nap 1`
	for _, c := range []struct{ agent, path, ask, after, call, last string }{
		{
			"codex", "/v1/responses",
			`{"stream":true,"input":[{"role":"user","content":[{"type":"input_text","text":"` + prompt + `"}]}],"tools":[{"name":"exec_command"}]}`,
			`{"stream":true,"input":[{"role":"user","content":[{"type":"input_text","text":"` + prompt + `"}]},{"role":"assistant","content":[{"type":"output_text","text":"Running it."}]},{"type":"function_call","name":"exec_command"},{"type":"function_call_output","output":"ok"}],"tools":[{"name":"exec_command"}]}`,
			`"arguments":"{\"cmd\":\"./nap 1\"}"`, "event: response.completed",
		},
		{
			"opencode", "/v1/chat/completions",
			`{"stream":true,"messages":[{"role":"user","content":"` + prompt + `"}],"tools":[{"function":{"name":"bash"}}]}`,
			`{"stream":true,"messages":[{"role":"user","content":"` + prompt + `"},{"role":"assistant","content":null,"tool_calls":[{}]},{"role":"tool","content":"ok"}],"tools":[{"function":{"name":"bash"}}]}`,
			`"arguments":"{\"command\":\"./nap 1\",`, "data: [DONE]",
		},
		{
			"gemini", "/v1beta/models/m:streamGenerateContent?alt=sse",
			`{"contents":[{"role":"user","parts":[{"text":"` + prompt + `"}]}],"tools":[{"functionDeclarations":[{"name":"run_shell_command"}]}]}`,
			`{"contents":[{"role":"user","parts":[{"text":"` + prompt + `"}]},{"role":"model","parts":[{"functionCall":{}}]},{"role":"user","parts":[{"functionResponse":{}}]}],"tools":[{"functionDeclarations":[{"name":"run_shell_command"}]}]}`,
			`"args":{"command":"./nap 1",`, `"finishReason":"STOP"`,
		},
	} {
		t.Run(c.agent, func(t *testing.T) {
			s := NewServer()
			defer s.Close()
			s.scripts = AgentNamed(c.agent).scripts()
			for _, ask := range []struct{ body, want string }{{c.ask, c.call}, {c.after, "ran."}} {
				r, err := http.Post(s.URL+c.path, "application/json", strings.NewReader(ask.body))
				if err != nil {
					t.Fatal(err)
				}
				b, err := io.ReadAll(r.Body)
				r.Body.Close()
				if err != nil || !strings.Contains(string(b), ask.want) || !strings.Contains(string(b), c.last) {
					t.Errorf("got %s, %v; want %s and %s", b, err, ask.want, c.last)
				}
			}
		})
	}
}
