//go:build unix

package main

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"beckon/event"
	"beckon/state"
	"beckon/state/store"
)

// Every view has the sessions that need the user in one order: in the configured queue, by
// default the longest wait first, failures last.
func TestViewsAgreeOnOrder(t *testing.T) {
	t.Parallel()
	home, bin := t.TempDir(), commandDir(t)
	st := store.Open(filepath.Join(home, "state"))
	ask := event.Tool{Name: "AskUserQuestion", UseID: "q", Hash: "q", Summary: "Which colour?"}
	run := event.Tool{Name: "Bash", UseID: "b", Hash: "b", Summary: "Bash: make"}
	for i, x := range []struct {
		id   string
		kind event.Kind
		tool event.Tool
	}{{"docs", event.StopFailure, event.Tool{}}, {"website", event.PermissionRequest, ask}, {"shop", event.PermissionRequest, run}} {
		for j, kind := range []event.Kind{event.UserPromptSubmit, x.kind} {
			at := event.MillisOf(time.Now().Add(time.Duration(10*i+j-60) * time.Minute))
			e := event.Event{
				Agent: "claude-code", Kind: kind, Name: string(kind), SessionID: x.id, At: at, Cwd: "/home/u/" + x.id, Reason: "rate_limit",
				Origin: &event.Origin{Host: "here", Seat: "seat-" + x.id, Project: "/home/u/" + x.id, Terminal: event.Terminal{Kind: "ghostty"}},
			}
			if j == 1 {
				e.Tool = x.tool
			}
			if _, err := st.Fold(store.KeyOf(x.id), store.Update{Change: state.Change{At: at, Event: &e}}); err != nil {
				t.Fatal(err)
			}
		}
	}
	names := regexp.MustCompile(`website|shop|docs`)
	for _, c := range []struct{ config, want string }{
		{`{}`, "website shop docs"},
		{`{"queue": "prio"}`, "shop website docs"},
		{`{"queue": "static"}`, "docs website shop"},
		{`{"permission_first": false}`, "docs website shop"},
	} {
		if err := os.MkdirAll(filepath.Join(home, ".config", "beckon"), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(home, ".config", "beckon", "config.json"), []byte(c.config), 0o600); err != nil {
			t.Fatal(err)
		}
		views := []string{
			"list", "list --json", "prompt --format {names}", "prompt --json", "statusline",
			"stats --since 2h", "stats --since 2h --json", "jump next --dry-run --all",
		}
		for _, args := range views {
			cmd := exec.Command(filepath.Join(bin, "beckon"), strings.Fields(args)...)
			cmd.Env = []string{"HOME=" + home, "BECKON_STATE_DIR=" + st.Dir, "PATH=" + os.Getenv("PATH")}
			cmd.Stdin = strings.NewReader(`{"session_id":"other","cwd":"/","model":{"display_name":"M"}}`)
			// jump cannot show a session of this terminal, and says in which order it tried
			out, _ := cmd.CombinedOutput()
			if strings.Contains(args, "--json") && !json.Valid(out) {
				t.Fatalf("%s: %s", args, out)
			}
			var order []string
			for _, name := range names.FindAllString(string(out), -1) {
				if !strings.Contains(strings.Join(order, " "), name) {
					order = append(order, name)
				}
			}
			if got := strings.Join(order, " "); got != c.want {
				t.Errorf("with %s, beckon %s has %q, want %q:\n%s", c.config, args, got, c.want, out)
			}
		}
	}
}
