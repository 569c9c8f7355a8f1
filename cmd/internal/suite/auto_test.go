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

// TestAutoMode plays refusals by auto mode's own check: each is on the list at once, the third in a
// row is a permission, since the client asks, and by a refusal's code the user lets the same call
// pass, once.
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
		listed := func(what string, is func(session gjson.Result) bool) (session gjson.Result) {
			t.Helper()
			for end := time.Now().Add(patience); time.Now().Before(end); time.Sleep(100 * time.Millisecond) {
				out, err := beckon(l, nil, "list", "--json")
				must(t, err)
				if session = gjson.GetBytes(out, "sessions.0"); is(session) {
					return session
				}
			}
			t.Fatalf("%s is not on the list: %s\n%s", what, session, pane.Capture())
			return session
		}
		code := ""
		// again repeats the call until it is refused, or the client asks.
		again := func() (asks bool) {
			t.Helper()
			must(t, pane.Say(say))
			before := code
			listed("the refusal", func(session gjson.Result) bool {
				asks, code = session.Get("state").Str == "permission", session.Get("refusals.0.code").Str
				return asks || code != "" && code != before
			})
			if !asks {
				must(t, idle(l))
			}
			if _, err := os.Stat(file); err == nil {
				t.Fatal("the call has run")
			}
			return asks
		}
		if again() {
			t.Fatal("the client asks about the first call")
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
		for i := 0; !again(); i++ { // it passed once; three in a row are refused
			if i == 3 {
				t.Fatalf("the client does not ask\n%s", pane.Capture())
			}
		}
	})
}
