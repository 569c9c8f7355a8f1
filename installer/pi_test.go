package installer

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"beckon/event"
	"beckon/testdata/need"
)

// piScript has pi's extension do what pi does, and prints the results.
const piScript = `
import extension from "./beckon.mjs"
const handlers = {}
extension({ on: (name, f) => (handlers[name] = f) })
const ctx = { cwd: "/w", sessionManager: { getSessionId: () => "s", getSessionFile: () => "/t.jsonl" } }
const on = (name, event) => handlers[name](event, ctx)
const call = async (command) => {
  const e = { toolName: "bash", toolCallId: command, input: { command, timeout: 5 } }
  return (await on("tool_call", e)) ?? e.input
}
const out = {}
await on("session_start", { reason: "startup" })
await on("before_agent_start", { prompt: "go" })
for (const c of ["ls", "deny", "rewrite", "garbage"]) out[c] = await call(c)
out.context = (await on("tool_result", { toolName: "bash", toolCallId: "a", input: { command: "context" }, content: [], isError: true })).content[0].text
const ends = (stopReason, errorMessage) => on("agent_end", { messages: [{ role: "assistant", stopReason, errorMessage, content: [{ type: "text", text: "Done." }] }] })
await ends("aborted")
await ends("error", "429 later")
await on("agent_start", {}) // it tries again
await ends("error", "400 bad")
await ends("stop")
await on("session_shutdown", { reason: "reload" })
await on("session_shutdown", { reason: "quit" })
console.log(JSON.stringify(out))
`

func TestPiExtension(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("the stand-in for a hook is a script")
	}
	node := need.Program(t, "node")
	dir := t.TempDir()
	hook := strings.Replace(pluginHook, "payload=$(cat)", `payload=$(cat); echo "$1 $payload" >>"$(dirname "$0")/told"`, 1)
	if err := os.WriteFile(filepath.Join(dir, "beckon-hook"), []byte(hook), 0o700); err != nil {
		t.Fatal(err)
	}
	text, err := AgentSpec(event.AgentOf("pi"), filepath.Join(dir, "beckon-hook")).whole(nil)
	if err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{"beckon.mjs": string(text), "run.mjs": piScript} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	printed, err := exec.Command(node, filepath.Join(dir, "run.mjs")).Output()
	if err != nil {
		t.Fatal(err)
	}
	var got map[string]any
	if err := json.Unmarshal(printed, &got); err != nil {
		t.Fatalf("%s: %v", printed, err)
	}
	const want = `{"context":"and more","deny":{"block":true,"reason":"not here"},"garbage":{"command":"garbage","timeout":5},"ls":{"command":"ls","timeout":5},"rewrite":{"command":"ls"}}`
	if b, _ := json.Marshal(got); string(b) != want {
		t.Errorf("got  %s\nwant %s", b, want)
	}
	told, _ := os.ReadFile(filepath.Join(dir, "told"))
	var names []string
	for line := range strings.Lines(string(told)) {
		name, _, _ := strings.Cut(line, " ")
		names = append(names, name)
	}
	const order = "SessionStart UserPromptSubmit PreToolUse PreToolUse PreToolUse PreToolUse PostToolUseFailure Interrupt StopFailure Stop SessionEnd"
	if s := strings.Join(names, " "); s != order {
		t.Errorf("told %s\nwant %s", s, order)
	}
}
