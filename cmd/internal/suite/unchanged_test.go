//go:build unix

package suite

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// TestHooksChangeNothing runs the same headless and background sessions without beckon and
// with it: the client's decisions about a call are the same. A hook for permissions that says
// nothing must not make it refuse, or wait.
func TestHooksChangeNothing(t *testing.T) {
	if testing.Short() {
		t.Skip("the real client takes a minute")
	}
	t.Parallel()
	modes, list := []string{"default", "acceptEdits", "dontAsk"}, Bounds
	if *matrix {
		list = Pinned
		modes = append(modes, "plan", "auto", "bypassPermissions")
	}
	for _, version := range list {
		t.Run(version, func(t *testing.T) {
			t.Parallel()
			tried(t, func(t testing.TB) {
				l := Start(t, version)
				decide := func() (all []string) {
					for _, mode := range modes {
						all = append(all, mode+": "+headlessDecision(t, l, mode))
					}
					if version == V197 {
						return all // it never asks in the background
					}
					return append(all, "in the background: "+backgroundDecision(t, l))
				}
				bare := decide()
				dir, err := programs()
				must(t, err)
				must(t, install(l, dir))
				for i, got := range decide() {
					if got != bare[i] {
						t.Errorf("with beckon\n%s\nwithout\n%s", got, bare[i])
					}
				}
				t.Log(strings.Join(bare, "\n"))
			})
		})
	}
}

// headlessDecision returns what became of a call that may not run without a permission.
func headlessDecision(t testing.TB, l *Lab, mode string) string {
	s := &shown{TB: t, l: l}
	before := len(s.asked())
	out, _ := l.Home.Command(l.Client.Path, "--permission-mode", mode, "-p", "lab:bash touch decided.txt").CombinedOutput()
	var results bytes.Buffer
	for _, body := range s.asked()[before:] {
		fmt.Fprintln(&results, resultsIn(body))
	}
	return fmt.Sprintf("%s; the file is there: %v; the model saw %s", out, taken(l), results.String())
}

// taken reports whether the call ran, and removes its file.
func taken(l *Lab) bool {
	files, _ := filepath.Glob(filepath.Join(l.Home.Project, "decided.txt"))
	for _, f := range files {
		_ = os.Remove(f)
	}
	return len(files) > 0
}

// backgroundDecision returns what the client reports about itself while it is asked for the
// same call in the background.
func backgroundDecision(t testing.TB, l *Lab) string {
	known := map[int]bool{}
	for _, r := range l.Home.Registry() {
		known[r.PID] = true
	}
	out, err := l.Home.Command(l.Client.Path, append(l.Home.Args(), "--bg", "lab:bash touch decided.txt")...).CombinedOutput()
	if err != nil {
		t.Fatalf("claude --bg: %v\n%s", err, out)
	}
	said := "it never asked"
	for end := time.Now().Add(15 * time.Second); time.Now().Before(end); time.Sleep(200 * time.Millisecond) {
		for _, r := range l.Home.Registry() {
			if !known[r.PID] && r.Status == "waiting" && r.WaitingFor != nil {
				said = r.Status + " for " + *r.WaitingFor
				end = time.Time{}
			}
		}
	}
	time.Sleep(2 * time.Second) // what a hook would refuse has been refused by now
	for _, r := range l.Home.Registry() {
		if !known[r.PID] && r.Kind == "bg" {
			said += fmt.Sprintf(", then %s; the file is there: %v", r.Status, taken(l))
		}
	}
	return said
}

// TestInstallBeforeTheClient installs before there is a client. Its events are registered all the same, so
// that an API error of the first session is reported as one.
func TestInstallBeforeTheClient(t *testing.T) {
	if testing.Short() {
		t.Skip("the real client takes half a minute")
	}
	t.Parallel()
	tried(t, func(t testing.TB) {
		l := equipped(t, V330)
		must(t, os.Remove(filepath.Join(l.Home.Bin, "claude")))
		_, err := beckon(l, nil, "setup", "hooks")
		must(t, err)
		settings := filepath.Join(l.Home.Dir, ".claude", "settings.json")
		pane, err := l.Tmux.StartClient("first", l.Home.Args()...)
		must(t, err)
		must(t, pane.Ready())
		must(t, pane.Say("lab:badreq"))
		if err := waitState(l, "failed"); err != nil {
			t.Error(err)
		}
		_, err = beckon(l, nil, "setup", "--undo")
		must(t, err)
		left, err := os.ReadFile(settings) // the client has written to it meanwhile
		if bytes.Contains(left, []byte("beckon")) {
			t.Errorf("uninstall left %s, %v", left, err)
		}
	})
}

// resultsIn returns the results of calls in one request to the model.
func resultsIn(body string) string {
	var request struct {
		Messages []struct{ Content json.RawMessage }
	}
	if json.Unmarshal([]byte(body), &request) != nil {
		return ""
	}
	var out []string
	for _, m := range request.Messages {
		var blocks []struct {
			Type    string
			Content json.RawMessage
			IsError bool `json:"is_error"`
		}
		_ = json.Unmarshal(m.Content, &blocks) // a plain text is no result
		for _, b := range blocks {
			if b.Type == "tool_result" {
				out = append(out, fmt.Sprintf("%s (error: %v)", b.Content, b.IsError))
			}
		}
	}
	return strings.Join(out, "\n")
}

// TestBackgroundSession lists a session that the client runs in the background, and jumps to
// it: its dialog is answered in the window that opens.
func TestBackgroundSession(t *testing.T) {
	if testing.Short() {
		t.Skip("the real client takes half a minute")
	}
	t.Parallel()
	tried(t, func(t testing.TB) {
		l := equipped(t, V330)
		_, err := beckon(l, nil, "setup", "hooks")
		must(t, err)
		shell, err := l.Tmux.Start("user", l.Home.Project, "/bin/sh")
		must(t, err)
		_, err = l.Tmux.Start("outer", l.Home.Project, "env", "-u", "TMUX", "-u", "TMUX_PANE", "tmux", "-S", l.Tmux.Socket(), "attach-session", "-t", "user")
		must(t, err)
		must(t, shell.Say("claude --permission-mode default --bg lab:bash\\ touch\\ decided.txt"))
		must(t, shell.WaitFor("backgrounded", patience))
		must(t, waitState(l, "permission"))
		out, err := beckon(l, nil, "list", "--json")
		must(t, err)
		var list struct {
			Sessions []struct {
				SessionID string `json:"session_id"`
				Job       struct{ ID, Name string }
			}
		}
		must(t, json.Unmarshal(out, &list))
		row := list.Sessions[0]
		if row.Job.ID == "" || row.Job.Name == "" {
			t.Fatalf("the row says %s", out)
		}
		for _, command := range []string{"show", "explain"} {
			if out, err := beckon(l, nil, command, row.SessionID); err != nil || !strings.Contains(string(out), "claude attach "+row.Job.ID) {
				t.Errorf("%s says %s, %v", command, out, err)
			}
		}
		must(t, shell.Say(filepath.Join(bin(l), "beckon")+" jump "+row.SessionID))
		var opened *Pane
		for end := time.Now().Add(patience); opened == nil; time.Sleep(100 * time.Millisecond) {
			panes, err := l.Tmux.Panes()
			must(t, err)
			for _, p := range panes {
				if strings.Contains(p.Capture(), "Do you want to") {
					opened = p
				}
			}
			if time.Now().After(end) {
				t.Fatal(l.Tmux.Screens())
			}
		}
		time.Sleep(500 * time.Millisecond) // the client ignores keys for a moment
		must(t, opened.Key("Enter"))
		must(t, waitState(l, "idle"))
		if !taken(l) {
			t.Error("the call did not run")
		}
	})
}
