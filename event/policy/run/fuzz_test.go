package run

import (
	"bytes"
	"encoding/json"
	"reflect"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"beckon/event"
	"beckon/event/policy/config"
	"beckon/event/policy/wire"
)

// indented returns the same JSON in another layout.
func indented(data []byte) []byte {
	var b bytes.Buffer
	if json.Indent(&b, data, "", "\t") != nil {
		return data
	}
	return b.Bytes()
}

// checkInput checks that a rewritten tool input is what the client needs: one whole object.
func checkInput(t *testing.T, input []byte) {
	t.Helper()
	if input != nil {
		var object map[string]json.RawMessage
		if err := json.Unmarshal(input, &object); err != nil {
			t.Errorf("input %q: %v", input, err)
		}
	}
}

// FuzzServerAnswer checks that an answer is accepted or rejected as a whole, that its layout
// does not matter, and that exactly the fields that it mentions change.
func FuzzServerAnswer(f *testing.F) {
	for _, s := range []string{
		`{"version":"1.0","decision":"allow"}`, `{"version":"1.0","decision":"block","reason":"no","metadata":{"a":[1]}}`,
		modified(`{"tool_input":{"command":"x","timeout":null,"new":[{}]}}`), modified(`{"tool_name":"Bash"}`), modified(`{"tool_input":7}`),
		`{"version":"1.0","decision":"allow","metadata":{"permission_decision":"ask","additional_context":"c"}}`, `{"decision":"block"`, `[]`,
		`{"version":"1.0","\u0064ecision":"block"}`, `{"version":"1.0","decision":"allow","decision":"block"}`,
	} {
		f.Add([]byte(s))
	}
	c := bashCall("ls")
	_, data, err := wire.Question(c)
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, body []byte) {
		o, err := wire.ParseReply(c.Event, data, body)
		other, otherErr := wire.ParseReply(c.Event, data, indented(body))
		if (err == nil) != (otherErr == nil) || o.Decision != other.Decision || o.Reason != other.Reason || !sameOrNone(o.UpdatedInput, other.UpdatedInput) {
			t.Fatalf("another layout: %+v %v, %+v %v", o, err, other, otherErr)
		}
		if err != nil {
			if !reflect.DeepEqual(o, wire.Outcome{}) {
				t.Errorf("an error and %+v", o)
			}
			return
		}
		if !json.Valid(body) || !slices.Contains([]wire.Decision{wire.Allow, wire.Deny, wire.Ask, wire.Modify}, o.Decision) || (o.Decision == wire.Modify) != (o.UpdatedInput != nil) {
			t.Errorf("%q gave %+v", body, o)
		}
		checkInput(t, o.UpdatedInput)
		if o.Decision == wire.Modify {
			checkOverlay(t, body, o.UpdatedInput)
		}
	})
}

// sameJSON reports whether two values mean the same. Equal numbers must have the same
// spelling.
func sameJSON(a, b []byte) bool {
	var v [2]any
	for i, data := range [][]byte{a, b} {
		d := json.NewDecoder(bytes.NewReader(data))
		d.UseNumber()
		if d.Decode(&v[i]) != nil {
			return false
		}
	}
	return reflect.DeepEqual(v[0], v[1])
}

func sameOrNone(a, b []byte) bool { return a == nil && b == nil || sameJSON(a, b) }

// checkOverlay checks overlay against an implementation with maps.
func checkOverlay(t *testing.T, body, got []byte) {
	t.Helper()
	var r struct {
		Data struct {
			Input map[string]json.RawMessage `json:"tool_input"`
		} `json:"modified_data"`
	}
	want := map[string]json.RawMessage{}
	if json.Unmarshal(bashCall("ls").ToolInput, &want) != nil || json.Unmarshal(body, &r) != nil {
		return // names that differ only in case are not tested here
	}
	for k, v := range r.Data.Input {
		if want[k] = v; string(v) == "null" {
			delete(want, k)
		}
	}
	if b, err := json.Marshal(want); err == nil && utf8.Valid(body) && !sameJSON(b, got) {
		t.Errorf("%s gave %s, want %s", body, got, b)
	}
}

// FuzzPromptAnswer checks that a model's answer counts only if it begins with one of three
// words.
func FuzzPromptAnswer(f *testing.F) {
	for _, s := range []string{"ALLOW", "BLOCK: no", "CONTINUE\n\nwhy", "ALLOWED", "allow", "\u2028ALLOW", "ALLOW: BLOCK", " BLOCK :x\ny ", ""} {
		f.Add(s)
	}
	words := map[wire.Decision]string{wire.Allow: "ALLOW", wire.Deny: "BLOCK", wire.Continue: "CONTINUE"}
	f.Fuzz(func(t *testing.T, text string) {
		d, reason, err := judgement(text)
		if err != nil {
			if d != "" || reason != "" {
				t.Errorf("an error and %q %q", d, reason)
			}
			return
		}
		if !strings.HasPrefix(strings.TrimSpace(text), words[d]) || words[d] == "" || len(reason) > 10_000 {
			t.Errorf("%q gave %q %q", text, d, reason)
		}
		again, same, err := judgement(words[d] + "\n" + reason)
		if err != nil || again != d || same != reason {
			t.Errorf("%q %q, read again %q %q, %v", d, reason, again, same, err)
		}
	})
}

// FuzzCommandStdout checks that a command's output never changes a refusal by its exit code,
// and decides only if it is one valid object.
func FuzzCommandStdout(f *testing.F) {
	for _, s := range []string{
		`{}`, `{"decision":"block","reason":"r"}`, `{"hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"allow"}}`,
		`{"hookSpecificOutput":{"hookEventName":"PreToolUse","updatedInput":{"command":"x"},"permissionDecision":"ask"}}`,
		`{"hookSpecificOutput":{"hookEventName":"PermissionRequest","decision":{"behavior":"deny","message":"m"}}}`,
		`{"continue":false,"stopReason":"s","systemMessage":"m"}`, `hello`, `{"a":1}{"b":2}`, `["x"]`, `{"decision":null}`, "{\xff}",
	} {
		f.Add(s, "PreToolUse")
		f.Add(s, "PermissionRequest")
		f.Add(s, "Stop")
	}
	f.Fuzz(func(t *testing.T, stdout, name string) {
		for _, code := range []int{0, 1, 2} {
			o := command{&config.Hook{}, nil}.read(event.Kind(name), ran{stdout: stdout, stderr: "why", code: code})
			if o.Err != nil && (o.Decision != wire.Silence || o.Raw != nil || o.UpdatedInput != nil || o.Context != "") {
				t.Errorf("exit %d: an error and %+v", code, o)
			}
			if code == 2 && (o.Err != nil || o.Decision != wire.Deny || o.Reason == "" || o.UpdatedInput != nil) {
				t.Errorf("exit 2: %+v", o)
			}
			if code == 0 && o.Decision != wire.Silence && o.Raw == nil {
				t.Errorf("%q decided %+v", stdout, o)
			}
			if o.Raw != nil {
				checkInput(t, o.Raw)
			}
			checkInput(t, o.UpdatedInput)
			if len(o.Reason) > 10_000 {
				t.Errorf("a reason of %d bytes", len(o.Reason))
			}
		}
	})
}
