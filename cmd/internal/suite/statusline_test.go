//go:build unix

package suite

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// TestStatusLine shows, on the screens of real clients, the status line of a session, and in
// it the wait of another session the next time that the client runs it.
func TestStatusLine(t *testing.T) {
	if testing.Short() {
		t.Skip("the real client takes some seconds")
	}
	t.Parallel()
	tried(t, func(t testing.TB) {
		l := equipped(t, V330)
		if _, err := beckon(l, nil, "setup", "statusline"); err != nil {
			t.Fatal(err)
		}
		other := otherProject(t, l)
		here, err := l.Tmux.StartClient("here")
		if err != nil {
			t.Fatal(err)
		}
		must(t, here.Ready())
		must(t, here.Say("lab:hi"))
		must(t, here.WaitFor(`Hi there`, patience))
		must(t, here.WaitFor(`(?m)^\s*Opus \S+  proj  main  ░+ 0%  \$0\.006`, patience))
		if screen := here.Capture(); strings.Contains(screen, "need") {
			t.Errorf("it is not quiet:\n%s", screen)
		}

		there, err := l.Tmux.Start("there", other, append([]string{l.Client.Path}, l.Home.Args()...)...)
		if err != nil {
			t.Fatal(err)
		}
		must(t, there.Ready())
		must(t, there.Say("lab:write note.txt"))
		must(t, there.WaitFor(`Do you want to`, patience))
		asked := time.Now()
		must(t, here.WaitFor(`1 needs you: shop permission`, patience))
		_, err = l.Tmux.Run("resize-window", "-t", "here", "-x", "60")
		must(t, err)
		must(t, here.WaitFor(`(?m)^  Opus \S+  proj  main  ░+ 0%  \$0\.006\s*\n +1 needs you: shop permission`, patience))
		t.Logf("it showed %s after the question", time.Since(asked).Round(10*time.Millisecond))
		must(t, there.Key("Escape"))
		must(t, gone(here, `needs you`, patience))

		out, err := beckon(l, nil, "list")
		if err != nil || !strings.Contains(string(out), "CTX") || !strings.Contains(string(out), " 0% ") {
			t.Errorf("list does not show the context: %v\n%s", err, out)
		}
	})
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// gone waits until the screen no longer shows text.
func gone(p *Pane, text string, timeout time.Duration) error {
	for end := time.Now().Add(timeout); time.Now().Before(end); time.Sleep(50 * time.Millisecond) {
		if !strings.Contains(p.Capture(), text) {
			return nil
		}
	}
	return p.WaitFor(`^never$`, time.Millisecond)
}

// otherProject creates a second repository, which the client trusts.
func otherProject(t testing.TB, l *Lab) string {
	t.Helper()
	dir := filepath.Join(l.Home.Root, "shop")
	must(t, os.MkdirAll(dir, 0o700))
	cmd := exec.Command("git", "init", "-q", "-b", "main")
	cmd.Dir, cmd.Env = dir, l.Home.Env()
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("git init: %v: %s", err, out)
	}
	config := filepath.Join(l.Home.Dir, ".claude.json")
	b, err := os.ReadFile(config)
	must(t, err)
	var settings map[string]any
	must(t, json.Unmarshal(b, &settings))
	projects := settings["projects"].(map[string]any)
	projects[dir] = projects[l.Home.Project]
	b, err = json.Marshal(settings)
	must(t, err)
	must(t, os.WriteFile(config, b, 0o600))
	return dir
}

// TestStatusLineWrapped: a real client shows its previous status line as before, and gets it
// back.
func TestStatusLineWrapped(t *testing.T) {
	if testing.Short() {
		t.Skip("the real client takes some seconds")
	}
	t.Parallel()
	tried(t, func(t testing.TB) {
		for _, version := range Bounds {
			l := Start(t, version)
			programs, err := programs()
			must(t, err)
			must(t, put(l, programs))
			settings := filepath.Join(l.Home.Dir, ".claude", "settings.json")
			mine := `{"statusLine": {"type": "command", "command": "sed 's/.*\"session_id\":\"\\([^\"]*\\).*/mine: \\1 in '\"${COLUMNS:-no}\"' columns/'"}}` + "\n"
			before := filepath.Join(l.Home.Root, "before.json")
			must(t, os.WriteFile(settings, []byte(mine), 0o600))
			must(t, os.WriteFile(before, []byte(mine), 0o600))
			if _, err := beckon(l, nil, "setup", "statusline"); err != nil {
				t.Fatal(err)
			}
			p, err := l.Tmux.StartClient("here")
			must(t, err)
			must(t, p.Ready())
			must(t, p.WaitFor(`(?m)^\s*mine: [0-9a-f-]{36} in (140|no) columns`, patience))
			t.Log(version, p.Capture())
			if _, err := beckon(l, nil, "setup", "--undo"); err != nil {
				t.Fatal(err)
			}
			// The client has rewritten the file meanwhile, so its bytes are its own.
			if got, want := commandIn(t, settings), commandIn(t, before); got != want {
				t.Errorf("uninstall left %q, not %q", got, want)
			}
		}
	})
}

// commandIn returns the command of the status line in a settings file.
func commandIn(t testing.TB, path string) string {
	t.Helper()
	b, err := os.ReadFile(path)
	must(t, err)
	var settings struct {
		StatusLine struct {
			Command string `json:"command"`
		} `json:"statusLine"`
	}
	must(t, json.Unmarshal(b, &settings))
	return settings.StatusLine.Command
}
