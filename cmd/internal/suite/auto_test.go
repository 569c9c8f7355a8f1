//go:build unix

package suite

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/tidwall/gjson"
)

// checksItself is the newest client measured whose check in auto mode is a request to the API; later
// ones ask a server of the vendor's, which a script cannot answer.
const checksItself = "2.1.250"

// TestAutoMode plays a refusal by auto mode's own check: it is on the list at once, with a code by
// which the user lets the same call pass, once.
func TestAutoMode(t *testing.T) {
	if testing.Short() {
		t.Skip("the real client takes half a minute")
	}
	t.Parallel()
	Need(t, checksItself)
	tried(t, func(t testing.TB) {
		l := start(t, checksItself, "")
		pane, err := l.Tmux.StartClient("auto", "--permission-mode", "auto")
		must(t, err)
		must(t, pane.Ready())
		const say = "lab:bash curl -s -o harmful.txt file:///etc/hostname"
		file := filepath.Join(l.Home.Project, "harmful.txt")
		refused := func() (code string) {
			t.Helper()
			must(t, pane.Say(say))
			for end := time.Now().Add(patience); time.Now().Before(end); time.Sleep(100 * time.Millisecond) {
				out, err := beckon(l, nil, "list", "--json")
				must(t, err)
				if code = gjson.GetBytes(out, "sessions.0.refusals.0.code").Str; code != "" {
					must(t, idle(l))
					return code
				}
			}
			t.Fatalf("the refusal is not on the list\n%s", pane.Capture())
			return ""
		}
		code := refused()
		if _, err := os.Stat(file); err == nil {
			t.Fatal("the call has run")
		}
		_, err = beckon(l, nil, "policy", "allow", code)
		must(t, err)
		must(t, pane.Say(say))
		for end := time.Now().Add(patience); ; time.Sleep(100 * time.Millisecond) {
			if _, err := os.Stat(file); err == nil {
				break
			}
			if time.Now().After(end) {
				t.Fatalf("the call does not pass\n%s", pane.Capture())
			}
		}
		must(t, idle(l))
		must(t, os.Remove(file))
		refused()
		if _, err := os.Stat(file); err == nil {
			t.Error("the call passes twice")
		}
	})
}
