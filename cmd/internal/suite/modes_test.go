//go:build unix

package suite

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// modes are what the client does with a call in each of its permission modes, if a policy says
// nothing about it, denies it, asks about it, or allows it: it runs, is refused, or the client's
// dialog asks. The manual's table has the same.
var modes = map[string][4]string{
	"default":           {"asks", "refused", "asks", "runs"},
	"acceptEdits":       {"runs", "refused", "asks", "runs"},
	"plan":              {"asks", "refused", "asks", "asks"},
	"auto":              {"its own check decides", "refused", "asks", "runs"},
	"bypassPermissions": {"runs", "refused", "asks", "runs"},
}

// modesPolicy denies, asks and allows by the name of the file.
const modesPolicy = `{"hooks":{"PreToolUse":[{"matcher":"Bash","hooks":[
	{"type":"rule","decision":"deny","reason":"no","commands":["touch deny.txt"]},
	{"type":"rule","decision":"ask","reason":"sure?","commands":["touch ask.txt"]},
	{"type":"rule","decision":"allow","commands":["touch allow.txt"]}]}]}}`

// TestPolicyInPermissionModes measures the table, on the newest client there is.
func TestPolicyInPermissionModes(t *testing.T) {
	if testing.Short() {
		t.Skip("the real client takes a minute")
	}
	t.Parallel()
	version := V330
	if _, err := Find(Latest); err == nil {
		version = Latest
	}
	Need(t, version)
	for mode, want := range modes {
		t.Run(mode, func(t *testing.T) {
			t.Parallel()
			tried(t, func(t testing.TB) {
				l := start(t, version, modesPolicy)
				l.Home.Extra["IS_SANDBOX"] = "1" // root may not bypass without it
				pane, err := l.Tmux.StartClient("modes", "--permission-mode", mode)
				must(t, err)
				must(t, pane.Ready())
				for i, name := range []string{"none", "deny", "ask", "allow"} {
					if got := decisionOn(t, l, pane, name); got != want[i] && !strings.Contains(want[i], "check") {
						t.Errorf("%s, %s: the call %s, want %s\n%s\n%s", l.Client.Version, name, got, want[i], pane.Capture(), trace(l))
					}
				}
			})
		})
	}
}

// TestModesOfTheManual compares the manual's table.
func TestModesOfTheManual(t *testing.T) {
	text, err := os.ReadFile(filepath.Join(root, "cmd", "internal", "manual", "policy.md"))
	must(t, err)
	for mode, row := range modes {
		if line := "| `" + mode + "` | " + strings.Join(row[:], " | ") + " |\n"; !strings.Contains(string(text), line) {
			t.Errorf("the manual lacks %s", line)
		}
	}
}

// decisionOn has the model touch a file, and returns what becomes of the call.
func decisionOn(t testing.TB, l *Lab, pane *Pane, name string) string {
	t.Helper()
	file := filepath.Join(l.Home.Project, name+".txt")
	told := func() (n int) {
		for _, r := range l.Server.Requests() {
			if r.Word == "bash" && r.Step > 0 {
				n++
			}
		}
		return n
	}
	before := told()
	must(t, pane.Say("lab:bash touch "+name+".txt"))
	for end := time.Now().Add(patience); time.Now().Before(end); time.Sleep(200 * time.Millisecond) {
		_, err := os.Stat(file)
		waiting := false
		for _, r := range l.Home.Registry() {
			waiting = waiting || r.Status == "waiting"
		}
		switch {
		case err == nil:
			must(t, pane.WaitFor("It ran", patience))
			return "runs"
		case waiting:
			time.Sleep(1500 * time.Millisecond) // it ignores keys for a moment
			must(t, pane.Key("Escape"))
			must(t, idle(l))
			return "asks"
		case told() > before:
			must(t, idle(l))
			return "refused"
		}
	}
	return fmt.Sprint("is nowhere to be seen: ", strings.TrimSpace(pane.Capture()))
}

// idle waits until the client's sessions are idle.
func idle(l *Lab) error {
	for end := time.Now().Add(patience); time.Now().Before(end); time.Sleep(200 * time.Millisecond) {
		list := l.Home.Registry()
		if len(list) == 1 && list[0].Status == "idle" {
			return nil
		}
	}
	return fmt.Errorf("the client does not become idle: %+v", l.Home.Registry())
}
