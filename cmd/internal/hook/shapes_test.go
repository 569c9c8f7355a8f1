package hook

import (
	"bytes"
	"io"
	"strings"
	"testing"

	"beckon/event/policy/run"
)

const denyLs = `{"type":"rule","id":"no-ls","decision":"deny","reason":"No.","commands":["ls"]}`

// A rule applies to a call of any shape: nested deeper than anything checks, as large as the
// client sends, with a stdin that stays open; and what is not a call is refused.
func TestNoWayAroundByShape(t *testing.T) {
	call := func(more string) string {
		return `{"session_id":"s1","hook_event_name":"PreToolUse","cwd":"/","tool_name":"Bash","tool_use_id":"t1","tool_input":{"command":"ls"` + more + `}}`
	}
	for name, payload := range map[string]string{
		"plain":    call(""),
		"deep":     call(`,"x":` + strings.Repeat(`[`, 5000) + strings.Repeat(`]`, 5000)),
		"deeper":   call(`,"x":` + strings.Repeat(`[`, 20000) + strings.Repeat(`]`, 20000)),
		"large":    call(`,"x":"` + strings.Repeat("y", 16<<20) + `"`),
		"half":     call("")[:40],
		"not JSON": "ls",
	} {
		t.Run(name, func(t *testing.T) {
			u := newUser(t, on("PreToolUse", denyLs), "")
			in, out := io.Pipe()
			go func() {
				_, _ = io.WriteString(out, payload)
				if name == "half" || name == "not JSON" {
					_ = out.Close()
				} // else it stays open
			}()
			var said, errs bytes.Buffer
			code := Main([]string{"PreToolUse"}, in, &said, &errs, func(name string) string { return u.env[name] }, run.Starter{})
			if code != 0 || !strings.Contains(said.String(), `"permissionDecision":"deny"`) {
				t.Errorf("exit code %d, %q", code, said.String())
			}
		})
	}
}
