package event

import (
	"bytes"
	"cmp"
	"encoding/json"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"beckon/event/redact"
)

// reference is Parse for Claude Code, written with encoding/json and maps: slow and simple,
// and what Parse must agree with.
func reference(name string, payload []byte) (Event, bool) {
	var top map[string]any
	dec := json.NewDecoder(bytes.NewReader(payload))
	dec.UseNumber()
	if !json.Valid(payload) || dec.Decode(&top) != nil || top == nil {
		return Event{}, false
	}
	str := func(key string) string { s, _ := top[key].(string); return s }
	head := func(key string, max int) string { return refHead(str(key), max) }
	clean := func(key string, max int) string { return refHead(redact.Text(str(key)), max) }

	e := Event{Agent: ClaudeCode, Name: head("hook_event_name", MaxID)}
	if e.Name == "" {
		e.Name = refHead(strings.ToValidUTF8(name, "\ufffd"), MaxID)
	}
	e.Kind = ByName(e.Name)
	e.SessionID = head("session_id", MaxID)
	e.PromptID = head("prompt_id", MaxID)
	e.TranscriptPath = head("transcript_path", MaxPath)
	e.Cwd = head("cwd", MaxPath)
	if s := head("new_cwd", MaxPath); e.Kind == CwdChanged && s != "" {
		e.Cwd = s
	}
	e.PermissionMode = head("permission_mode", MaxID)
	e.Model = head("model", MaxID)
	e.Title = head("session_title", MaxID)
	if m, ok := top["model"].(map[string]any); ok {
		id, _ := m["id"].(string)
		e.Model = refHead(id, MaxID)
	}
	if s := head("to_model", MaxID); e.Kind == PostModelSwitch && s != "" {
		e.Model = s
	}
	e.AgentID, e.AgentType = head("agent_id", MaxID), head("agent_type", MaxID)
	e.Notification = head("notification_type", MaxID)
	e.Details = clean("error_details", MaxText)
	e.Reason = clean("reason", MaxText)
	switch e.Kind {
	case StopFailure:
		e.Reason = clean("error", MaxText)
	case PostToolUseFailure:
		e.Details, _, _ = strings.Cut(strings.ReplaceAll(clean("error", MaxText), "\r", "\n"), "\n")
	case UserPromptSubmit, UserPromptExpansion:
		e.Prompt = refHead(strings.TrimSpace(redact.Text(str("prompt"))), MaxPrompt)
		for _, s := range []string{"<task-notification>", "<system-reminder>", "[Request interrupted by user"} {
			e.FromClient = e.FromClient || strings.HasPrefix(e.Prompt, s)
		}
	}
	if has(top, "last_assistant_message") {
		e.Message = redact.Text(str("last_assistant_message"))
		for len(e.Message) > MaxMessage || !utf8.ValidString(e.Message) {
			e.Message = e.Message[1:]
		}
	} else {
		e.Message = clean("message", MaxText)
	}
	list, ok := top["background_tasks"].([]any)
	e.HasBackground = ok
	for _, v := range list {
		if m, ok := v.(map[string]any); ok {
			member := func(key string, max int) string { s, _ := m[key].(string); return refHead(s, max) }
			e.Background = append(e.Background, Task{member("id", MaxID), member("type", MaxID), member("status", MaxID), refHead(redact.Text(member("description", maxClean)), MaxSummary)})
		}
	}
	if len(e.Background) > MaxTasks {
		e.Background = refTasks(e.Background)
	}
	crons, _ := top["session_crons"].([]any)
	e.Crons = len(crons)
	e.Tool.Name = head("tool_name", MaxID)
	if e.Tool.Name == "" {
		e.Tool.Name = head("mcp_server_name", MaxID)
	}
	e.Tool.UseID = head("tool_use_id", MaxID)
	if e.Kind == Elicitation || e.Kind == ElicitationResult {
		e.Tool.UseID = head("elicitation_id", MaxID)
	}
	if n, ok := top["duration_ms"].(json.Number); ok {
		if f, err := n.Float64(); err == nil && f >= 0 && f <= 1<<53 {
			e.Tool.Ms = int64(math.Trunc(f))
		}
	}
	e.Ask = refAsk(&e, top)
	return e, true
}

// refAsk is ask for a value read by encoding/json. Its objects have no order, so a form's
// lines are sorted.
func refAsk(e *Event, top map[string]any) *Ask {
	var a Ask
	input, _ := top["tool_input"].(map[string]any)
	text := func(m map[string]any, key string, max int) string {
		s, _ := m[key].(string)
		return OneLine(redact.Text(s), max)
	}
	objects := func(v any, n int) (out []map[string]any) {
		list, _ := v.([]any)
		for _, x := range list {
			if m, ok := x.(map[string]any); ok && len(out) < n {
				out = append(out, m)
			}
		}
		return out
	}
	switch {
	case e.Kind == Elicitation:
		schema, _ := top["requested_schema"].(map[string]any)
		required, _ := schema["required"].([]any)
		properties, _ := schema["properties"].(map[string]any)
		for key, v := range properties {
			property, _ := v.(map[string]any)
			mark := ""
			if slices.Contains(required, any(key)) {
				mark = "*"
			}
			a.Form = append(a.Form, OneLine(OneLine(redact.Text(key), MaxLabel)+mark+": "+text(property, "type", MaxLabel), MaxLabel))
		}
		slices.Sort(a.Form)
	case e.Kind != PreToolUse && e.Kind != PermissionRequest:
		return nil
	case e.Tool.Name == "AskUserQuestion":
		for _, m := range objects(input["questions"], MaxQuestions) {
			multi, _ := m["multiSelect"].(bool)
			q := Question{Header: text(m, "header", MaxLabel), Text: text(m, "question", MaxQuestion), Multi: multi}
			for _, o := range objects(m["options"], MaxOptions) {
				q.Options = append(q.Options, Option{text(o, "label", MaxLabel), text(o, "description", MaxSummary)})
			}
			a.Questions = append(a.Questions, q)
		}
	case e.Tool.Name == "ExitPlanMode":
		s, _ := input["plan"].(string)
		a.Plan = refHead(strings.TrimSpace(redact.Text(s)), MaxPlan)
	}
	if e.Kind == PermissionRequest && len(a.Questions) == 0 && a.Plan == "" {
		for _, m := range objects(top["permission_suggestions"], MaxQuestions) {
			kind := text(m, "type", MaxLabel)
			known := map[string]string{
				"addRules": "always " + cmp.Or(text(m, "behavior", MaxLabel), "allow"), "setMode": "switch to", "addDirectories": "allow the directory",
			}
			words := []string{cmp.Or(known[kind], kind)}
			if mode := text(m, "mode", MaxLabel); mode != "" {
				words = append(words, mode)
			}
			for _, r := range objects(m["rules"], MaxOptions) {
				rule := text(r, "toolName", MaxLabel)
				if c := text(r, "ruleContent", MaxLabel); c != "" {
					rule += "(" + c + ")"
				}
				words = append(words, rule)
			}
			if dirs, ok := m["directories"].([]any); ok {
				for _, d := range dirs {
					s, _ := d.(string)
					if words = append(words, OneLine(redact.Text(s), MaxLabel)); len(words) >= MaxOptions {
						break
					}
				}
			}
			a.Suggestions = append(a.Suggestions, OneLine(strings.Join(words, " "), MaxSummary))
		}
	}
	if len(a.Questions)+len(a.Form)+len(a.Suggestions) == 0 && a.Plan == "" {
		return nil
	}
	return &a
}

func has(m map[string]any, key string) bool { _, ok := m[key].(string); return ok }

func refHead(s string, max int) string {
	for len(s) > max || !utf8.ValidString(s) {
		s = s[:len(s)-1]
	}
	return s
}

// refTasks keeps MaxTasks tasks. It drops tasks that do not run first, from the end.
func refTasks(tasks []Task) []Task {
	for _, running := range []bool{false, true} {
		for i := len(tasks) - 1; i >= 0 && len(tasks) > MaxTasks; i-- {
			if (tasks[i].Status == "running") == running {
				tasks = append(tasks[:i:i], tasks[i+1:]...)
			}
		}
	}
	return tasks
}

// payloads returns every hook payload of the recordings.
func payloads(t testing.TB) [][]byte {
	t.Helper()
	files, err := filepath.Glob(filepath.Join("..", "testdata", "recordings", "*", "*.jsonl"))
	if err != nil || len(files) == 0 {
		t.Fatalf("no recordings: %v", err)
	}
	var all [][]byte
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for line := range bytes.Lines(text) {
			var entry struct {
				Kind    string          `json:"kind"`
				Payload json.RawMessage `json:"payload"`
			}
			if err := json.Unmarshal(line, &entry); err != nil {
				t.Fatalf("%s: %v", file, err)
			}
			if entry.Payload != nil && entry.Kind != "statusline" {
				all = append(all, entry.Payload)
			}
		}
	}
	return all
}
