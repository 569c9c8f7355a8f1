package policy

import (
	"encoding/json"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"beckon/event"
	"beckon/event/agents"
	"beckon/event/policy/config"
	"beckon/event/policy/quiet"
	"beckon/event/policy/wire"

	"pgregory.net/rapid"
)

// foreign lists the agents that ask before a call, each with its event and a payload in its
// own form. CWD, TOOL and INPUT are replaced by JSON.
var foreign = map[string]struct{ event, payload string }{
	"codex":    {"PreToolUse", `{"hook_event_name":"PreToolUse","session_id":"s","cwd":CWD,"tool_name":TOOL,"tool_input":INPUT,"tool_use_id":"c"}`},
	"qwen":     {"PreToolUse", `{"hook_event_name":"PreToolUse","session_id":"s","cwd":CWD,"tool_name":TOOL,"tool_input":INPUT,"tool_use_id":"c"}`},
	"gemini":   {"BeforeTool", `{"hook_event_name":"BeforeTool","session_id":"s","cwd":CWD,"tool_name":TOOL,"tool_input":INPUT}`},
	"copilot":  {"preToolUse", `{"sessionId":"s","timestamp":1,"cwd":CWD,"toolName":TOOL,"toolArgs":INPUT}`},
	"opencode": {"tool.execute.before", `{"type":"tool.execute.before","properties":{"sessionID":"s","directory":CWD,"tool":TOOL,"callID":"c","args":INPUT}}`},
}

// given returns a call in an agent's form; input is JSON.
func given(agent, cwd, tool, input string) []byte {
	quoted := func(text string) string { b, _ := json.Marshal(text); return string(b) }
	return []byte(strings.NewReplacer("CWD", quoted(cwd), "TOOL", quoted(tool), "INPUT", input).Replace(foreign[agent].payload))
}

// agreesOn is agrees for another agent's call: the full evaluation decides.
func (q quietCase) agreesOn(t interface{ Errorf(string, ...any) }, home, agent string, payload []byte) (silent bool) {
	if !q.index.SilentOf(agent, foreign[agent].event, payload) {
		return false
	}
	d, _ := wire.DialectOf(agent)
	e, err := event.Parse(agent, foreign[agent].event, payload)
	if err != nil {
		t.Errorf("%s: quiet, and it cannot be read: %v: %s", agent, err, payload)
		return true
	}
	own, err := d.Payload(&e, payload)
	if err != nil {
		t.Errorf("%s: quiet, and it cannot be translated: %v: %s", agent, err, payload)
		return true
	}
	return q.unspoken(t, Event{Payload: own, Given: payload, Dialect: d, Home: home})
}

// members returns the names, an agent's own and Claude Code's, of the members in which its
// tools may have what rules check.
func members(row *agents.Called) []string {
	list := []string{"command", "file_path", "path", "notebook_path", "paths", "filePath", "input", "files", row.Patch, row.Files}
	for _, in := range row.Inputs {
		list = append(list, in.Name, in.Means)
	}
	list = slices.DeleteFunc(list, func(name string) bool { return name == "" })
	slices.Sort(list)
	return slices.Compact(list)
}

// Every agent that asks before a call is in the table of these tests.
func TestForeignAgents(t *testing.T) {
	var asks []string
	for _, a := range event.Agents() {
		if a.Name != event.ClaudeCode && a.AnswerTo(string(event.PreToolUse)) != nil {
			asks = append(asks, a.Name)
		}
	}
	slices.Sort(asks)
	if want := slices.Sorted(maps.Keys(foreign)); !slices.Equal(asks, want) {
		t.Errorf("%q, tested are %q", asks, want)
	}
}

// No rule applies to a quiet call of another agent. Each of its tools is tried with the lines
// of the corpus and of the traps, and with paths, in every member that may contain them.
func TestQuietAgreesOnOtherAgents(t *testing.T) {
	if testing.Short() {
		t.Skip("a minute under the race detector, in one goroutine")
	}
	home, project := quietHome(t)
	cases := quietCases(t, home, project, quietPolicies)
	lines := quietTraps(home, project)
	for _, file := range []string{"harmful", "harmless"} {
		data, err := os.ReadFile(filepath.Join("packs", "testdata", file+".txt"))
		if err != nil {
			t.Fatal(err)
		}
		lines = append(lines, strings.Split(string(data), "\n")...)
	}
	paths := []string{"x", "a.pem", "notes.txt", "key", "lib/own/policy.json", "../x", "conf/beckon/policy.json", home + "/.config/beckon/policy.json", "/srv/data/x", "~/.config/beckon/policy.json", ".", ""}
	quoted := func(text string) string { b, _ := json.Marshal(text); return string(b) }
	dirs, turn := []string{project, home, home + "/.config/beckon"}, 0
	for agent := range foreign {
		a, silent := event.AgentOf(agent), map[string]int{}
		for i := range a.Tools {
			row := &a.Tools[i]
			for _, name := range members(row) {
				turn++ // otherwise a path would have the same shapes each time
				for _, path := range paths {
					shapes := []string{`{"` + name + `":` + quoted(path) + `}`, `{"` + name + `":[` + quoted(path) + `]}`, `{"` + name + `":"x","` + name + `":` + quoted(path) + `}`,
						`{"` + name + `":[{"filePath":` + quoted(path) + `}]}`, quoted(`{"` + name + `":` + quoted(path) + `}`), `{"file_path":"x","path":"x","command":"ls","` + name + `":` + quoted(path) + `}`}
					for range 2 { // so that each shape with each path occurs with some tool
						turn++
						if cases[turn/len(shapes)%len(cases)].agreesOn(t, home, agent, given(agent, project, row.Name, shapes[turn*5%len(shapes)])) {
							silent[row.Means]++
						}
					}
				}
			}
			if row.Means != "Bash" {
				continue
			}
			command := "command"
			if row.Types {
				command = row.Inputs[0].Name
			}
			for _, line := range lines {
				turn++
				input := `{"` + command + `":` + quoted(line) + `,"description":"d"}`
				if len(row.Inputs) > 0 && row.Inputs[0].Means == agents.Workdir {
					input = `{"` + command + `":` + quoted(line) + `,"` + row.Inputs[0].Name + `":` + quoted(dirs[turn%len(dirs)]) + `}`
				}
				for i := range 2 {
					if cases[(turn+i)%len(cases)].agreesOn(t, home, agent, given(agent, project, row.Name, input)) {
						silent[row.Means]++
					}
				}
			}
		}
		t.Logf("%s: quiet calls by tool: %v", agent, silent)
		for _, q := range cases {
			for _, tool := range []string{"mcp__fs__write", "my_db_drop", "my-db-drop", "unknown", "Bash ", "BASH", ""} {
				if q.index.SilentOf(agent, foreign[agent].event, given(agent, project, tool, `{}`)) {
					t.Errorf("%s: %s: a call of %q is quiet", agent, q.name, tool)
				}
			}
		}
	}
}

// No rule applies to a quiet call that is composed at random, with duplicate members, in
// objects, lists and texts.
func TestQuietAgreesAtRandom(t *testing.T) {
	home, project := quietHome(t)
	cases := quietCases(t, home, project, quietPolicies)
	words := []string{"git", "push", "rm", "-rf", "ls", "npm", "run", "test", "cd", "..", "conf", "lib/own", "key", "a.pem", "notes.txt", "x", "&&", ";", "|", "'", "$x", "beckon", home, "/srv/data/x", "*** Update File: a.pem"}
	rapid.Check(t, func(r *rapid.T) {
		agent := rapid.SampledFrom(slices.Sorted(maps.Keys(foreign))).Draw(r, "agent")
		rows := event.AgentOf(agent).Tools
		row := &rows[rapid.IntRange(0, len(rows)-1).Draw(r, "tool")]
		var input strings.Builder
		for i := range rapid.IntRange(0, 3).Draw(r, "members") {
			if i > 0 {
				input.WriteByte(',')
			}
			name := rapid.SampledFrom(members(row)).Draw(r, "name")
			value, _ := json.Marshal(strings.Join(rapid.SliceOfN(rapid.SampledFrom(words), 0, 4).Draw(r, "words"), rapid.SampledFrom([]string{" ", "/", ""}).Draw(r, "between")))
			if rapid.IntRange(0, 4).Draw(r, "list") == 0 {
				value = []byte("[" + string(value) + "]")
			}
			input.WriteString(`"` + name + `":` + string(value))
		}
		text := "{" + input.String() + "}"
		if rapid.IntRange(0, 4).Draw(r, "text") == 0 {
			b, _ := json.Marshal(text)
			text = string(b)
		}
		cwd := rapid.SampledFrom([]string{project, project + "/lib", home + "/.config", home, ""}).Draw(r, "cwd")
		for _, q := range cases {
			q.agreesOn(r, home, agent, given(agent, cwd, row.Name, text))
		}
	})
}

// Plain calls of an agent are quiet; otherwise the index is useless. Calls that do not mean
// what they seem to are not quiet.
func TestQuietOfOtherAgents(t *testing.T) {
	home, project := quietHome(t)
	f, err := config.Decode("policy.json", config.Global, []byte(quietPolicies["packs"]))
	if err != nil {
		t.Fatal(err)
	}
	q := quietCase{"packs", Loaded{Hooks: f.Hooks}.Index(home), f.Hooks}
	for _, c := range []struct {
		agent, tool, input string
		want               bool
	}{
		{"codex", "Bash", `{"command":"npm test"}`, true},
		{"gemini", "run_shell_command", `{"command":"npm test","description":"d"}`, true},
		{"gemini", "run_shell_command", `{"command":"npm test","dir_path":"lib"}`, true},
		{"gemini", "run_shell_command", `{"command":"npm test","dir_path":"nowhere"}`, false},
		{"copilot", "bash", `"{\"command\":\"npm test\"}"`, true},
		{"opencode", "bash", `{"command":"npm test"}`, true},
		{"qwen", "run_shell_command", `{"command":"npm test","is_background":false}`, true},
		{"opencode", "read", `{"filePath":"README.md"}`, true},
		{"opencode", "read", `{"filePath":".env","file_path":"README.md"}`, false},
		{"copilot", "view", `{"path":".env","file_path":"README.md"}`, false},
		{"copilot", "bash", `{"command":"npm test","command":"git push -f"}`, false},
		{"copilot", "bash", `"{\"command\":\"npm test\",\"command\":\"git push -f\"}"`, false},
		{"codex", "write_stdin", `{"chars":"git push -f","command":"npm test"}`, false},
		{"codex", "apply_patch", `{"command":"*** Update File: x"}`, false},
		{"copilot", "apply_patch", `"*** Update File: x"`, false},
		{"opencode", "edit", `{"filePath":"x","files":[]}`, false},
	} {
		if got := q.index.SilentOf(c.agent, foreign[c.agent].event, given(c.agent, project, c.tool, c.input)); got != c.want {
			t.Errorf("%s %s %s: quiet is %v", c.agent, c.tool, c.input, got)
		}
	}
	after := strings.Replace(string(given("gemini", project, "run_shell_command", `{"command":"npm test"}`)), "BeforeTool", "AfterTool", 1)
	if q.index.SilentOf("gemini", "AfterTool", []byte(after)) {
		t.Error("what comes after a call is quiet")
	}
	plain := given("gemini", project, "run_shell_command", `{"command":"npm test"}`)
	for agent, name := range map[string]string{"qwen": "BeforeTool", "nobody": "BeforeTool", "cursor": "preToolUse", "": "BeforeTool"} {
		if q.index.SilentOf(agent, name, plain) {
			t.Errorf("%s of %q is quiet", name, agent)
		}
	}
	if q.index.SilentOf("gemini", "BeforeTool", plain[:len(plain)-1]) || q.index.SilentOf("gemini", "BeforeTool", nil) || quiet.Index("").SilentOf("gemini", "BeforeTool", plain) {
		t.Error("a call that is not whole is quiet, or all are without an index")
	}
	named := strings.Replace(string(toolCall(project, "TodoWrite", nil)), "{", `{"tool_names":["TodoWrite","mcp__a__b"],`, 1)
	if quiet.Index("q TodoWrite\n").Silent([]byte(named)) {
		t.Error("a call that may be of several tools is quiet")
	}
}
