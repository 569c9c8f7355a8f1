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

// pluginScript has OpenCode's plugin do what OpenCode does, and prints the results.
const pluginScript = `
import { Beckon } from "./beckon.mjs"
const replies = []
const client = { session: { get: async () => ({ data: {} }) }, _client: { post: async (r) => (replies.push([r.path.requestID, r.body.reply, r.body.message ?? ""]), {}) } }
const p = await Beckon({ directory: "/w", client })
const out = {}
const before = async (name, command) => {
  const o = { args: { command, description: "d" } }
  try {
    await p["tool.execute.before"]({ tool: "bash", sessionID: "s", callID: name }, o)
    out[name] = o.args
  } catch (e) {
    out[name] = e.message
  }
}
const asked = (id, command) => p.event({ event: { type: "permission.asked", properties: { id, sessionID: "s", permission: "bash", metadata: { command }, tool: { callID: id } } } })
await before("silent", "ls")
await before("denied", "deny")
await before("denied", "ls") // a provider may give a later call the same id
out.again = out.denied
await before("denied", "deny")
await before("rewritten", "rewrite")
await before("broken", "garbage")
const after = { output: "told" }
await p["tool.execute.after"]({ tool: "bash", sessionID: "s", callID: "a", args: { command: "context" } }, after)
out.context = after.output
await asked("at once", "policy")
await asked("held", "hold")
await asked("first", "wait")
await before("meanwhile", "ls") // what waits holds nothing up
await p.event({ event: { type: "permission.replied", properties: { sessionID: "s", requestID: "first", reply: "once" } } })
await new Promise((r) => setTimeout(r, 1500))
await p.dispose()
console.log(JSON.stringify({ ...out, replies }))
`

// pluginHook stands in for beckon-hook: its answer depends on the command that it is asked
// about.
const pluginHook = `#!/bin/sh
payload=$(cat)
case "$payload" in
*'"command":"deny"'*) echo '{"deny":"not here"}' ;;
*'"command":"rewrite"'*) echo '{"args":{"command":"ls"}}' ;;
*'"command":"garbage"'*) echo 'not JSON'; exit 2 ;;
*'"command":"context"'*) echo '{"context":"and more"}' ;;
*'"command":"policy"'*) echo '{"reply":"reject","message":"no"}' ;;
*'"command":"hold"'*) echo '{"held":true}'; sleep 0.4; echo '{"reply":"once"}' ;;
*'"command":"wait"'*) echo '{"held":true}'; trap 'echo ended >> "$0.log"; exit 0' TERM; sleep 20 >/dev/null & wait $! ;; # it outlives this, and would keep the answer's pipe open
esac
`

// OpenCode's plugin gives OpenCode the hook's answer in OpenCode's terms, and nothing more,
// whatever the hook does.
func TestOpenCodePluginAnswers(t *testing.T) {
	node := need.Program(t, "node")
	if runtime.GOOS == "windows" {
		t.Skip("the plugin's hook is a script")
	}
	dir := t.TempDir()
	hook := filepath.Join(dir, "beckon-hook")
	spec := AgentSpec(event.AgentOf("opencode"), hook)
	spec.Answers = true
	text, err := spec.whole(nil)
	if err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{"beckon.mjs": string(text), "run.mjs": pluginScript, "beckon-hook": pluginHook} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	cmd := exec.Command(node, "run.mjs")
	cmd.Dir = dir
	got, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%v: %s", err, got)
	}
	const want = `{"silent":{"command":"ls","description":"d"},"denied":"not here","again":{"command":"ls","description":"d"},"rewritten":{"command":"ls"},"broken":{"command":"garbage","description":"d"},` +
		`"context":"told\n\nand more","meanwhile":{"command":"ls","description":"d"},"replies":[["at once","reject","no"],["held","once",""]]}`
	if s := strings.TrimSpace(string(got)); !json.Valid([]byte(s)) || s != want {
		t.Errorf("got  %s\nwant %s", s, want)
	}
	if log, _ := os.ReadFile(hook + ".log"); string(log) != "ended\n" {
		t.Errorf("the hook of the dialog that was answered first: %q", log)
	}
}
