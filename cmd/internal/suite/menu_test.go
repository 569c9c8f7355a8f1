//go:build unix

package suite

import (
	"bytes"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"
)

// waits matches the words of the views for a session that needs somebody.
var waits = regexp.MustCompile(`(?i)permission\b|question\b|[!?]\d`)

// TestMenusNeedNobody opens the user's own menus, after a turn that is done and while a tool
// runs. Nothing waits then, so no view shows a wait: not list, not watch, not the prompt, and
// no notification comes. A permission after them is shown by all.
func TestMenusNeedNobody(t *testing.T) {
	if testing.Short() {
		t.Skip("the real client takes half a minute")
	}
	t.Parallel()
	tried(t, func(t testing.TB) {
		l := equipped(t, V330)
		_, err := beckon(l, nil, "setup", "hooks", "notify")
		must(t, err)
		s := inTmux(t, l)
		watch, err := l.Tmux.Start("watching", l.Home.Project, filepath.Join(bin(l), "beckon"), "watch")
		must(t, err)
		client, err := l.Tmux.Panes()
		must(t, err)
		screen := func() string { return client[0].Capture() }

		s.say("lab:hi")
		must(t, waitState(l, "idle"))
		must(t, watch.WaitFor("done", patience))
		look := func(menu, want string) {
			t.Helper()
			before := screen()
			s.say(menu)
			for end := time.Now().Add(10 * time.Second); screen() == before && time.Now().Before(end); time.Sleep(100 * time.Millisecond) {
			}
			for end := time.Now().Add(3 * time.Second); time.Now().Before(end); time.Sleep(300 * time.Millisecond) {
				list, err := beckon(l, nil, "list", "--json")
				must(t, err)
				if !bytes.Contains(list, []byte(`"state": "`+want+`"`)) {
					t.Fatalf("behind %s the list says %s", menu, list)
				}
				prompt, err := beckon(l, nil, "prompt")
				must(t, err)
				for view, says := range map[string]string{"watch": watch.Capture(), "prompt": string(prompt)} {
					if waits.MatchString(says) {
						t.Fatalf("behind %s, %s says %q; the client shows\n%s", menu, view, says, screen())
					}
				}
			}
			s.key("\x1b")
			time.Sleep(time.Second)
			s.key("\x1b")
			time.Sleep(time.Second)
		}
		for _, menu := range []string{"/config", "/model", "/help", "/permissions"} {
			look(menu, "idle")
		}
		s.say("lab:long 14")
		must(t, waitState(l, "working"))
		look("/model", "working")
		must(t, waitState(l, "idle"))
		if log, err := os.ReadFile(s.log); err != nil || strings.Contains(string(log), "\x1b]9;") {
			t.Errorf("the terminal was told %q, %v", around(string(log)), err)
		}

		s.say("lab:write perm.txt")
		must(t, waitState(l, "permission"))
		must(t, watch.WaitFor("permission", patience))
		if prompt, err := beckon(l, nil, "prompt"); err != nil || !strings.Contains(string(prompt), "!1") {
			t.Errorf("at a permission the prompt says %q, %v", prompt, err)
		}
		s.until(t, wantTerminal, patience)
	})
}
