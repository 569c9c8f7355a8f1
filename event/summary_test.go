package event

import (
	"encoding/json"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"github.com/tidwall/gjson"
)

func TestSummary(t *testing.T) {
	for _, c := range []struct{ tool, input, want string }{
		{"Bash", `{"command":"npm test","description":"Run tests"}`, "Bash: npm test"},
		{"Bash", `{"command":"cd /a/b && \\\n\tnpm   test\n"}`, `Bash: cd /a/b && \ npm test`},
		{"Bash", `{"command":"echo \u001b[1;31mred\u001b[0m \u009b2Kx\u0007"}`, "Bash: echo red x"},
		{"Bash", `{"command":"\u001b]0;rm -rf /\u0007ls"}`, "Bash: 0;rm -rf /ls"},
		{"Bash", `{"command":"ls \u202e gnp.exe\u200b\u2028x"}`, "Bash: ls gnp.exe x"},
		{"PowerShell", `{"command":"Get-Item ."}`, "PowerShell: Get-Item ."},
		{"Edit", `{"file_path":"/p/src/main.go","old_string":"a","new_string":"b"}`, "Edit: src/main.go"},
		{"Write", `{"file_path":"/p","content":""}`, "Write: ."},
		{"Read", `{"file_path":"/project/x.go"}`, "Read: /project/x.go"},
		{"Read", `{"file_path":"/p/` + strings.Repeat("deep/", 60) + `file.go"}`, "Read: …/" + strings.Repeat("deep/", 22) + "file.go"},
		{"NotebookEdit", `{"notebook_path":"/p/n.ipynb","new_source":"x"}`, "NotebookEdit: n.ipynb"},
		{"Grep", `{"pattern":"func main","path":"/p/src"}`, "Grep: func main"},
		{"Glob", `{"pattern":"**/*.go"}`, "Glob: **/*.go"},
		{"WebFetch", `{"url":"https://user:pw@example.org/a/b/?token=s3cret#x","prompt":"sum up"}`, "WebFetch: example.org/a/b"},
		{"WebSearch", `{"query":"go fuzzing"}`, "WebSearch: go fuzzing"},
		{"Agent", `{"prompt":"lab:subwork","description":"look around","subagent_type":"general-purpose"}`, "Agent: look around"},
		{"Task", `{"prompt":"do it"}`, "Task: do it"},
		{"AskUserQuestion", `{"questions":[{"question":"Which colour?","header":"Colour"}]}`, "AskUserQuestion: Which colour?"},
		{"AskUserQuestion", `{"questions":[{"question":"One?"},{"question":"Two?"}]}`, "AskUserQuestion: One? | Two?"},
		{"ExitPlanMode", `{"plan":"\n# Rework the parser\n- a"}`, "plan: Rework the parser"},
		{"ExitPlanMode", `{"plan":"\nJust do it\n"}`, "plan: Just do it"},
		{"TodoWrite", `{"todos":[{"content":"a","status":"completed"},{"content":"b","status":"in_progress"}]}`, "TodoWrite: b"},
		{"TaskCreate", `{"subject":"First","description":"d1","activeForm":"Doing first"}`, "TaskCreate: First"},
		{"TaskUpdate", `{"taskId":"1","status":"completed"}`, "TaskUpdate: 1 completed"},
		{"Skill", `{"skill":"commit","args":"-m fix"}`, "Skill: commit -m fix"},
		{"KillShell", `{"shell_id":"b1"}`, "KillShell: b1"},
		{"EnterPlanMode", `{}`, "EnterPlanMode"},
		{"mcp__github__create_issue", `{"owner":"o","repo":"r","title":"Fix the bug","body":"long"}`, "github: create_issue Fix the bug"},
		{"mcp__db__run_query", `{"query":"select 1"}`, "db: run_query select 1"},
		{"mcp__x__ping", `{}`, "x: ping"},
		{"mcp__odd", `{}`, "odd:"},
		{"Future", `{"count":3,"big":"` + strings.Repeat("x", 300) + `","note":"short one"}`, "Future: short one"},
		{"Future", `{"n":3,"o":{"a":"b"}}`, "Future"},
		{"bash", `{"command":["bash","-lc","go test"]}`, "bash: bash -lc go test"},
		{"edit", `{"filePath":"/p/a.go"}`, "edit: a.go"},
		{"run_shell_command", `{"command":"ls"}`, "run_shell_command: ls"},
		{"T\x1b[31mool\n", `"x"`, "Tool : x"},
	} {
		if got := summary(c.tool, gjson.Parse(c.input), "/p"); got != c.want {
			t.Errorf("%s %.80s\n got %q\nwant %q", c.tool, c.input, got, c.want)
		}
	}
}

func TestSummaryPaths(t *testing.T) {
	for _, c := range []struct{ path, cwd, want string }{
		{"/a/b", "/a/", "b"},
		{"/a/b", "/", "a/b"},
		{"/a/b", "", "/a/b"},
		{"/ab", "/a", "/ab"},
		{`C:\p\src\a.go`, `C:\p`, `src\a.go`},
	} {
		if got := relative(c.path, c.cwd); got != c.want {
			t.Errorf("relative(%q, %q) = %q, want %q", c.path, c.cwd, got, c.want)
		}
	}
}

// A long argument shows its head.
func TestSummaryOfLongArgument(t *testing.T) {
	for _, unit := range []string{"x", "\x01", "😀"} {
		cmd, _ := json.Marshal(strings.Repeat(unit, 50_000))
		e, err := Parse("", "PreToolUse", []byte(`{"tool_name":"Bash","tool_input":{"command":`+string(cmd)+`}}`))
		if err != nil || !strings.HasPrefix(e.Tool.Summary, "Bash") {
			t.Errorf("%q: %v, %q", unit, err, e.Tool.Summary)
		}
		checkLine(t, e.Tool.Summary)
	}
}

func checkLine(t *testing.T, s string) {
	t.Helper()
	if len(s) > MaxSummary || !utf8.ValidString(s) {
		t.Fatalf("summary of %d bytes: %q", len(s), s)
	}
	for _, r := range s {
		if unicode.IsControl(r) || r == '\u2028' || r == '\u2029' || unicode.Is(unicode.Bidi_Control, r) {
			t.Fatalf("summary with %q: %q", r, s)
		}
	}
}

func FuzzSummary(f *testing.F) {
	for _, payload := range payloads(f) {
		v := gjson.ParseBytes(payload)
		if tool := v.Get("tool_name").Str; tool != "" {
			f.Add(tool, v.Get("tool_input").Raw, v.Get("cwd").Str)
		}
	}
	f.Add("Bash", `{"command":"\u001b[\u001b]\u009b;\r\n\u202e"}`, "/")
	f.Add("mcp__a__b__c", `{"x":["a",["b"]],"url":"://?@/"}`, "")
	f.Add("\u061c", `{}`, "")
	f.Add("ExitPlanMode", `{"plan":"######"}`, "")
	f.Add("Read", `{"file_path":"/a/é/\ud800"}`, "/a")
	f.Fuzz(func(t *testing.T, tool, input, cwd string) {
		got := summary(tool, gjson.Parse(input), cwd) // also for input that is not JSON
		checkLine(t, got)
		if json.Valid([]byte(input)) {
			name, _ := json.Marshal(tool)
			dir, _ := json.Marshal(cwd)
			payload := []byte(`{"tool_name":` + string(name) + `,"cwd":` + string(dir) + `,"tool_input":` + input + `}`)
			if e, err := Parse("", "PreToolUse", payload); err == nil {
				checkLine(t, e.Tool.Summary)
			}
		}
	})
}
