package bench

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// BenchmarkHook measures a tool event, by the size of its payload, and events for which the hook
// reads more than the payload.
func BenchmarkHook(b *testing.B) {
	h := newHome(b)
	hook := func(name, event, payload string) subject {
		return subject{
			name:  name,
			path:  program(b, "beckon-hook"),
			args:  []string{event}, // as settings name it
			env:   append(h.env(), "TMUX=/tmp/tmux-1000/default,17,0", "TMUX_PANE=%3"),
			stdin: h.file(b, name+".json", payload),
		}
	}
	var subjects []subject
	for _, size := range []struct {
		name string
		n    int
	}{{"0.5KB", 8}, {"30KB", 30 << 10}, {"1MB", 1 << 20}, {"10MB", 10 << 20}} {
		subjects = append(subjects, hook(size.name, "PreToolUse", toolCall("s", strings.Repeat("x", size.n))))
	}
	subjects = append(subjects, hook("SessionStart", "SessionStart", payload("s", "SessionStart", `"source":"resume"`)))
	first := hook("first-event", "SessionStart", payload("first", "SessionStart", `"source":"startup"`))
	first.reset = func() error { return os.RemoveAll(filepath.Join(h.state(), "sessions", "first.json")) }
	compare(b, append(subjects, first)...)
}

// BenchmarkPolicy measures a tool event under policies of growing cost.
func BenchmarkPolicy(b *testing.B) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		_, _ = io.WriteString(w, `{"version":"1.0","decision":"allow"}`)
	}))
	defer server.Close()
	var rules []string
	for i := range 5 {
		rules = append(rules, fmt.Sprintf(`{"type":"rule","decision":"deny","reason":"r","commands":["never-%d -rf"]}`, i))
	}
	on := func(event, hooks string) string { return `{"hooks":{"` + event + `":[{"hooks":[` + hooks + `]}]}}` }
	packs := `{"packs":["git","filesystem","secrets","database","containers","packages","cloud"]}`
	var subjects []subject
	for _, s := range []struct{ name, policy string }{
		{"no-policy", ""},
		{"silent-on-event", on("Stop", `{"type":"rule","decision":"deny","reason":"r"}`)},
		{"5-rules", on("PreToolUse", strings.Join(rules, ","))},
		{"7-packs", packs},
		{"command", on("PreToolUse", `{"type":"command","command":"/bin/true","args":[]}`)},
		{"server", `{"server_url":"` + server.URL + `"}`},
	} {
		h := newHome(b)
		if s.policy != "" {
			path := h.file(b, ".config/beckon/policy.json", s.policy)
			// What a policy covers is remembered only for a file that was not just written.
			hourAgo := time.Now().Add(-time.Hour)
			if err := os.Chtimes(path, hourAgo, hourAgo); err != nil {
				b.Fatal(err)
			}
		}
		subjects = append(subjects, subject{
			name:  s.name,
			path:  program(b, "beckon-hook"),
			args:  []string{"PreToolUse"},
			env:   h.env(),
			stdin: h.file(b, "call.json", toolCall("s", "npm test")),
			// The answer to one call is given again to a second hook of that call.
			reset: func() error { return os.RemoveAll(filepath.Join(h.state(), "policy", "claims")) },
		})
	}
	compare(b, subjects...)
}

// BenchmarkViews measures the views of 100 and 1,000 live sessions.
func BenchmarkViews(b *testing.B) {
	for _, live := range []int{100, 1000} {
		b.Run(fmt.Sprint(live), func(b *testing.B) {
			h := newHome(b)
			for i := range live {
				h.busy(b, fmt.Sprintf("session-%04d", i))
			}
			status := h.file(b, "status.json", `{"session_id":"session-0001","workspace":{"current_dir":"/","project_dir":"/"},`+
				`"model":{"id":"m","display_name":"Opus"},"version":"2.1.329","cost":{"total_cost_usd":1.5},"context_window":{"used_percentage":40}}`)
			var subjects []subject
			for _, view := range []struct{ program, name, stdin string }{
				{"beckon", "list", os.DevNull},
				{"beckon", "list --json", os.DevNull},
				{"beckon-hook", "prompt", os.DevNull},
				{"beckon-hook", "statusline", status},
			} {
				subjects = append(subjects, subject{
					name:  strings.ReplaceAll(view.name, " ", ""),
					path:  program(b, view.program),
					args:  strings.Fields(view.name),
					env:   h.env(),
					stdin: view.stdin,
				})
			}
			compare(b, subjects...)
		})
	}
}

// busy gives the home a session whose tool runs, and returns its agent.
func (h home) busy(tb testing.TB, id string) *agent {
	a := h.agent(tb)
	a.send(tb, payload(id, "SessionStart", `"source":"startup"`))
	a.send(tb, payload(id, "UserPromptSubmit", `"prompt":"please run the tests"`))
	a.send(tb, toolCall(id, "npm test"))
	return a
}
