//go:build unix

package suite

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/tidwall/gjson"
)

// seven is five agents and two sessions of Claude Code in one tmux, each of which waits for a
// permission.
type seven struct {
	*answering
	panes  []*Pane
	guests []Client // of the panes after the first two
}

// TestSevenWait checks that each of them is shown to wait, can be jumped to, and once it is
// killed is no longer shown to wait.
func TestSevenWait(t *testing.T) {
	if !*matrix {
		t.Skip("seven agents at once are heavy: -matrix plays them")
	}
	l := equipped(t, V330)
	s := &seven{answering: answeringOf(t, l)}
	for _, a := range Agents {
		if a.Mode == "" {
			s.guests = append(s.guests, a.Need(t))
			must(t, l.Join(s.guests[len(s.guests)-1]))
		}
	}
	_, err := beckon(l, nil, "setup", "--agent", "all", "answers")
	must(t, err)
	s.start()
	s.until("seven that wait", func() bool { return len(s.waiting()) == len(s.panes) })
	s.watched()
	s.jumps()
	s.answered()
	s.killed()
}

// start starts all, and waits until each shows its dialog.
func (s *seven) start() {
	for i := range 2 {
		p, err := s.l.Tmux.StartClient(fmt.Sprintf("claude%d", i))
		s.must(err)
		s.panes = append(s.panes, p)
	}
	for _, g := range s.guests {
		p, err := s.l.StartGuest(g)
		s.must(err)
		s.panes = append(s.panes, p)
	}
	for i, p := range s.panes {
		ready := p.Ready
		if g := s.guest(i); g != nil {
			ready = func() error { return g.Ready(p) }
		}
		s.must(ready())
		s.must(p.Say(fmt.Sprintf("lab:write %d.txt", i)))
	}
	for i, p := range s.panes {
		if g := s.guest(i); g != nil {
			s.until(g.Name+"'s dialog", func() bool { return g.Shows(p) == "permission" })
		} else {
			s.must(p.WaitFor("Do you want to", patience))
		}
	}
}

// guest returns the agent of a pane, nil for those of Claude Code.
func (s *seven) guest(i int) *Agent {
	if i < 2 {
		return nil
	}
	return s.guests[i-2].Agent
}

func (s *seven) rows(states ...string) []gjson.Result {
	out, err := beckon(s.l, nil, "list", "--json", "--all")
	s.must(err)
	var found []gjson.Result
	for _, r := range gjson.GetBytes(out, "sessions").Array() {
		for _, state := range states {
			if r.Get("state").String() == state {
				found = append(found, r)
			}
		}
	}
	return found
}

func (s *seven) waiting() []gjson.Result { return s.rows("permission") }

func (s *seven) watched() {
	watch, err := s.l.Tmux.Start("watch", s.l.Home.Project, filepath.Join(bin(s.l), "beckon"), "watch")
	s.must(err)
	rows := regexp.MustCompile(`(?m)^.*\bpermission\b.*$`)
	s.until("seven permissions in watch", func() bool { return len(rows.FindAllString(watch.Capture(), -1)) >= len(s.panes) })
	s.Logf("watch:\n%s", blank.ReplaceAllString(watch.Capture(), "\n"))
	s.must(watch.Key("q"))
}

var blank = regexp.MustCompile(`\n\s*\n`)

// jumps jumps to each of them with a terminal that is attached to a session of the user's.
func (s *seven) jumps() {
	_, err := s.l.Tmux.Start("user", s.l.Home.Project, "/bin/sh")
	s.must(err)
	_, err = s.l.Tmux.Start("outer", s.l.Home.Project, "env", "-u", "TMUX", "-u", "TMUX_PANE", "tmux", "-S", s.l.Tmux.Socket(), "attach-session", "-t", "user")
	s.must(err)
	var client string
	s.until("a tmux client", func() bool { client, _ = s.l.Tmux.Run("list-clients", "-F", "#{client_name}"); return client != "" })
	want := map[string]string{"claude-code": s.panes[0].ID + " " + s.panes[1].ID}
	for i, g := range s.guests {
		want[g.Agent.Name] = s.panes[i+2].ID
	}
	reached := map[string]bool{}
	for _, r := range s.waiting() {
		agent := r.Get("agent").String()
		out, code := s.command("jump", r.Get("session_id").String(), "--client", client)
		pane, err := s.l.Tmux.Run("display-message", "-p", "-c", client, "#{pane_id}")
		s.must(err)
		if code != 0 || !strings.Contains(want[agent], pane) || reached[pane] {
			s.Errorf("jump to %s: reached %s, want %s; exit code %d: %s", agent, pane, want[agent], code, out)
		}
		reached[pane] = true
	}
}

// answered says yes to one of Claude Code's.
func (s *seven) answered() {
	for _, r := range s.waiting() {
		if r.Get("agent").String() != "claude-code" {
			continue
		}
		s.answer(r.Get("session_id").String(), "yes")
		s.until("one less that waits", func() bool { return len(s.waiting()) == len(s.panes)-1 })
		return
	}
}

// killed kills all agents, and codex's background process with its terminal.
func (s *seven) killed() {
	for _, p := range s.panes {
		s.must(syscall.Kill(-p.Pid, syscall.SIGKILL))
	}
	if b, err := os.ReadFile(filepath.Join(s.l.Home.Dir, ".codex", "app-server-daemon", "daemon.pid")); err == nil {
		if pid := int(gjson.GetBytes(b, "pid").Int()); pid > 1 {
			s.must(syscall.Kill(pid, syscall.SIGKILL))
		}
	}
	at := time.Now()
	for len(s.rows("ended", "lost")) < len(s.panes) {
		if time.Since(at) > 2*time.Second {
			out, _ := exec.Command("ps", "-ef").Output()
			s.Fatalf("after %s: %v\n%s", time.Since(at), s.rows("permission", "working", "idle", "question", "failed"), out)
		}
		time.Sleep(100 * time.Millisecond)
	}
	s.Logf("all %s lost or ended after %s", strconv.Itoa(len(s.panes)), time.Since(at).Round(time.Millisecond))
}

func (s *seven) must(err error) {
	s.Helper()
	if err != nil {
		s.Fatal(err)
	}
}
