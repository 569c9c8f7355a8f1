//go:build unix

package main

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"beckon/render"
	"beckon/testdata/need"
)

// floor is a tmux server whose programs find beckon in their PATH, with a client attached
// whose terminal is a pane of a second server.
type floor struct {
	t             *testing.T
	dir           string
	socket, outer string
	env           []string
}

func newFloor(t *testing.T) *floor {
	t.Helper()
	need.Program(t, "tmux")
	dir, err := os.MkdirTemp("", "bkn") // a socket's path is short
	if err != nil {
		t.Fatal(err)
	}
	f := &floor{t: t, dir: dir, socket: filepath.Join(dir, "s"), outer: filepath.Join(dir, "o")}
	t.Cleanup(func() {
		for _, s := range []string{f.outer, f.socket} {
			_ = exec.Command("tmux", "-S", s, "kill-server").Run()
		}
		_ = os.RemoveAll(dir)
	})
	f.env = append(f.env, "PATH="+commandDir(t)+":"+os.Getenv("PATH"), "HOME="+dir, "BECKON_STATE_DIR="+filepath.Join(dir, "state"), "GORACE="+noNap, "TERM=screen", "LC_ALL=C.UTF-8")
	return f
}

// commandDir returns a directory in which this test binary is beckon and
// beckon-hook.
func commandDir(t *testing.T) string {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	for _, name := range []string{"beckon", "beckon-hook"} {
		if err := os.Symlink(self, filepath.Join(dir, name)); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

func (f *floor) run(stdin string, argv ...string) string {
	f.t.Helper()
	path := argv[0]
	if strings.HasPrefix(path, "beckon") {
		path = filepath.Join(strings.TrimPrefix(strings.SplitN(f.env[0], ":", 2)[0], "PATH="), argv[0])
	}
	cmd := exec.Command(path, argv[1:]...)
	cmd.Env, cmd.Stdin = f.env, strings.NewReader(stdin)
	out, err := cmd.CombinedOutput()
	if err != nil {
		f.t.Fatalf("%q: %v: %s", argv, err, out)
	}
	return strings.TrimSpace(string(out))
}

func (f *floor) tmux(args ...string) string {
	f.t.Helper()
	return f.run("", append([]string{"tmux", "-S", f.socket, "-f", "/dev/null"}, args...)...)
}

// hook sends an event of a session; a SessionStart comes from its pane.
func (f *floor) hook(id, name, more string) {
	f.t.Helper()
	payload := fmt.Sprintf(`{"session_id":%q,"cwd":%q,"hook_event_name":%q%s}`, id, f.dir, name, more)
	f.run(payload, "beckon-hook", name)
}

// sit starts a session in a pane: the program there runs its hook.
func (f *floor) sit(pane, id string) {
	f.t.Helper()
	payload := filepath.Join(f.dir, id+".json")
	data := fmt.Sprintf(`{"session_id":%q,"cwd":%q,"hook_event_name":"SessionStart","source":"startup"}`, id, f.dir)
	if err := os.WriteFile(payload, []byte(data), 0o600); err != nil {
		f.t.Fatal(err)
	}
	f.tmux("respawn-pane", "-k", "-t", pane, "beckon-hook SessionStart <"+payload+"; exec sleep 600")
	f.until("session "+id+" starts", func() bool { _, ok := f.row(id); return ok })
}

func (f *floor) until(what string, ok func() bool) {
	f.t.Helper()
	for range 2400 {
		if ok() {
			return
		}
		time.Sleep(25 * time.Millisecond)
	}
	f.t.Fatalf("waited for: %s; %s", what, f.run("", "beckon", "list"))
}

func (f *floor) row(id string) (render.Row, bool) {
	f.t.Helper()
	var list render.List
	if err := json.Unmarshal([]byte(f.run("", "beckon", "list", "--json")), &list); err != nil {
		f.t.Fatal(err)
	}
	for _, r := range list.Sessions {
		if r.SessionID == id {
			return r, true
		}
	}
	return render.Row{}, false
}

// inFront returns the pane that the client shows.
func (f *floor) inFront() string {
	f.t.Helper()
	return f.tmux("list-clients", "-F", "#{pane_id}")
}

// press presses a key in the client's terminal.
func (f *floor) press(key string) {
	f.t.Helper()
	f.run("", "tmux", "-S", f.outer, "send-keys", key)
}

// ask has a session ask for a call, in a turn of its own.
func (f *floor) ask(id, call string) {
	f.hook(id, "UserPromptSubmit", `,"prompt":"go"`)
	f.hook(id, "PermissionRequest", `,"tool_name":`+call)
}

// done ends a turn of the session which nobody has looked at.
func (f *floor) done(id string) {
	f.t.Helper()
	f.hook(id, "UserPromptSubmit", `,"prompt":"go"`)
	f.hook(id, "Stop", `,"last_assistant_message":"I did it.","background_tasks":[]`)
}

// A user's whole way: sessions in the panes of two tmux sessions, a key bound to `beckon jump
// next`, and a client in which the key is pressed.
func TestJumpNextOnAKey(t *testing.T) {
	f := newFloor(t)
	f.tmux("new-session", "-d", "-s", "work", "-x", "80", "-y", "24", "sleep 600")
	home := f.tmux("list-panes", "-t", "work", "-F", "#{pane_id}")
	at := map[string]string{
		"done": f.tmux("new-window", "-d", "-P", "-F", "#{pane_id}", "-t", "work:", "sleep 600"),
		"perm": f.tmux("new-session", "-d", "-P", "-F", "#{pane_id}", "-s", "play", "sleep 600"),
	}
	at["ask"] = f.tmux("split-window", "-d", "-P", "-F", "#{pane_id}", "-t", at["done"], "sleep 600")
	for _, id := range []string{"done", "perm", "ask"} {
		f.sit(at[id], id)
	}
	f.run("", "tmux", "-S", f.outer, "-f", "/dev/null", "new-session", "-d", "-x", "80", "-y", "24", "exec tmux -S "+f.socket+" attach-session -t work")
	f.until("a client", func() bool { return f.inFront() == home })

	for _, c := range []struct {
		first string
		mode  string
		want  []string
	}{
		{"true", "fair", []string{"perm", "ask", "done", "perm"}},
		{"true", "prio", []string{"ask", "perm", "done", "ask"}},
		{"false", "fair", []string{"perm", "ask", "done", "perm"}},
		{"false", "prio", []string{"done", "ask", "perm", "ask"}},
		{"true", "static", []string{"done", "perm", "ask", "perm"}},
		{"true", "grouped", []string{"done", "ask", "perm", "ask"}},
	} {
		t.Run(c.mode+" "+c.first, func(t *testing.T) {
			f.t = t
			config := filepath.Join(f.dir, ".config", "beckon")
			if err := os.MkdirAll(config, 0o700); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(filepath.Join(config, "config.json"), []byte(`{"queue": "`+c.mode+`", "permission_first": `+c.first+`}`), 0o600); err != nil {
				t.Fatal(err)
			}
			f.tmux("bind-key", "-n", "F5", "run-shell", "-b", "beckon jump next --message")
			f.tmux("switch-client", "-c", f.tmux("list-clients", "-F", "#{client_name}"), "-t", home)
			f.ask("perm", fmt.Sprintf(`"Bash","tool_input":{"command":%q}`, t.Name()))
			f.ask("ask", fmt.Sprintf(`"AskUserQuestion","tool_input":{"questions":[{"question":%q}]}`, t.Name()))
			f.done("done")
			for _, id := range c.want {
				f.press("F5")
				f.until("the client shows "+id, func() bool { return f.inFront() == at[id] })
			}
			if r, _ := f.row("done"); r.Unseen {
				t.Error("the jump has not marked it as seen")
			}
			if mode := f.tmux("list-panes", "-a", "-F", "#{pane_mode}"); strings.TrimSpace(mode) != "" {
				t.Errorf("what a jump said covers a pane: %q", mode)
			}
		})
	}
	f.t = t
	f.tmux("bind-key", "-n", "F6", "run-shell", "-b", "beckon jump '##(touch owned)' --message")
	f.press("F6")
	f.until("the reason in the status line", func() bool {
		return strings.Contains(f.run("", "tmux", "-S", f.outer, "capture-pane", "-p"), `beckon: session "#(touch owned)": no such session`)
	})
}

// Enter in watch jumps to the row's pane, across two tmux sessions and two windows of one, and
// watch then shows the row as seen.
func TestEnterInWatch(t *testing.T) {
	f := newFloor(t)
	f.tmux("new-session", "-d", "-s", "work", "-x", "100", "-y", "24", "beckon watch")
	home := f.tmux("list-panes", "-t", "work", "-F", "#{pane_id}")
	at := map[string]string{
		"perm": f.tmux("new-window", "-d", "-P", "-F", "#{pane_id}", "-t", "work:", "sleep 600"),
		"ask":  f.tmux("new-session", "-d", "-P", "-F", "#{pane_id}", "-s", "play", "sleep 600"),
	}
	at["done"] = f.tmux("new-window", "-d", "-P", "-F", "#{pane_id}", "-t", "play:", "sleep 600")
	for id, pane := range at {
		f.sit(pane, id)
		f.hook(id, "UserPromptSubmit", fmt.Sprintf(`,"prompt":"go for %s"`, id))
	}
	f.hook("perm", "PermissionRequest", `,"tool_name":"Bash","tool_input":{"command":"make"}`)
	f.hook("ask", "PermissionRequest", `,"tool_name":"AskUserQuestion","tool_input":{"questions":[{"question":"Which?"}]}`)
	f.hook("done", "Stop", `,"last_assistant_message":"I did it.","background_tasks":[]`)
	f.run("", "tmux", "-S", f.outer, "-f", "/dev/null", "new-session", "-d", "-x", "100", "-y", "24", "exec tmux -S "+f.socket+" attach-session -t work")
	f.until("a client", func() bool { return f.inFront() == home })
	shows := func(text string) func() bool {
		return func() bool { return strings.Contains(f.tmux("capture-pane", "-p", "-t", home), text) }
	}
	f.until("all rows", shows("DONE 1"))
	for i, id := range []string{"perm", "ask", "done"} {
		f.press("Home")
		for range i {
			f.press("j")
		}
		f.press("Enter")
		f.until("Enter shows "+id, func() bool { return f.inFront() == at[id] })
		f.tmux("switch-client", "-c", f.tmux("list-clients", "-F", "#{client_name}"), "-t", home)
	}
	f.until("it is seen", shows("IDLE 1"))
	popup := f.tmux("new-window", "-P", "-F", "#{pane_id}", "-t", "work:", "beckon watch --leave")
	f.until("a second screen", func() bool { return strings.Contains(f.tmux("capture-pane", "-p", "-t", popup), "NEEDS YOU") })
	f.press("Enter")
	f.until("Enter shows perm", func() bool { return f.inFront() == at["perm"] })
	f.until("the second screen is gone", func() bool { return !strings.Contains(f.tmux("list-panes", "-a", "-F", "#{pane_id}")+"\n", popup+"\n") })
}

// A pane that gets the focus marks its session as seen, on its own server only, and prints
// nothing if it has no session.
func TestSeenByFocus(t *testing.T) {
	f := newFloor(t)
	f.tmux("new-session", "-d", "-s", "work", "-x", "80", "-y", "24", "sleep 600")
	pane := f.tmux("list-panes", "-t", "work", "-F", "#{pane_id}")
	f.sit(pane, "one")
	f.done("one")
	if got := f.run("", "beckon", "seen", "--pane", pane); got != "" {
		t.Errorf("outside tmux it says %q", got)
	}
	if r, _ := f.row("one"); !r.Unseen {
		t.Fatal("a pane of no known server marked it")
	}
	f.run("", "tmux", "-S", f.outer, "-f", "/dev/null", "new-session", "-d", "sleep 600")
	seen := func(socket, pane string) string {
		return f.run("", "tmux", "-S", socket, "run-shell", "beckon mark --seen --pane '"+pane+"'")
	}
	if got := seen(f.outer, "#{pane_id}"); got != "" {
		t.Errorf("on a server without sessions it says %q", got)
	}
	if r, _ := f.row("one"); !r.Unseen {
		t.Fatal("a pane of another server marked it")
	}
	if got := seen(f.socket, "%77"); got != "" {
		t.Errorf("in a pane without a session it says %q", got)
	}
	if got := seen(f.socket, "#{pane_id}"); got != "" {
		t.Errorf("it says %q", got)
	}
	if r, _ := f.row("one"); r.Unseen {
		t.Error("it is not marked as seen")
	}
}
