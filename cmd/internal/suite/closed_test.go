//go:build unix

package suite

import (
	"encoding/json"
	"fmt"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"beckon/render"
)

// closings are ways in which a terminal ends.
var closings = map[string]func(a *Agent, p *Pane) error{
	"its pane is killed":      func(_ *Agent, p *Pane) error { _, err := p.tmux.Run("kill-pane", "-t", p.ID); return err },
	"it is hung up":           func(_ *Agent, p *Pane) error { return syscall.Kill(p.Pid, syscall.SIGHUP) },
	"kill -9":                 func(_ *Agent, p *Pane) error { return p.Kill9() },
	"kill -9 of its launcher": func(_ *Agent, p *Pane) error { return syscall.Kill(p.Pid, syscall.SIGKILL) },
	"quit":                    func(a *Agent, p *Pane) error { return a.press(p, "quit") },
}

// One of two terminals of Codex in a directory is closed: its session is over within seconds,
// though the background process that runs the hooks of both reports that a minute later.
func TestClosedTerminals(t *testing.T) {
	if testing.Short() {
		t.Skip("real agents take a minute")
	}
	for _, a := range []*Agent{codex, codexAlone} {
		client := a.Need(t)
		for _, outside := range []bool{false, true} {
			for way, closes := range closings {
				if !*matrix && (way != "its pane is killed" || outside || a == codexAlone) {
					continue
				}
				t.Run(fmt.Sprintf("%s/outside tmux %v/%s", a.Label(), outside, way), func(t *testing.T) {
					t.Parallel()
					tried(t, func(t testing.TB) { closeSecond(t, client, outside, closes) })
				})
			}
		}
	}
}

func closeSecond(t testing.TB, client Client, outside bool, closes func(*Agent, *Pane) error) {
	dir, err := programs()
	must(t, err)
	l, a := StartWith(t, client), client.Agent
	must(t, put(l, dir))
	_, err = beckon(l, nil, "setup", "--agent", a.Name)
	must(t, err)
	argv := append([]string{client.Path}, a.args...)
	if outside {
		argv = append([]string{"env", "-u", "TMUX", "-u", "TMUX_PANE"}, argv...)
	}
	var panes []*Pane
	for i := range 2 {
		p, err := l.Tmux.Start(fmt.Sprint("codex", i), l.Home.Project, argv...)
		must(t, err)
		must(t, a.Ready(p))
		panes = append(panes, p)
		time.Sleep(5 * time.Second) // nobody opens two at once
	}
	for _, p := range panes {
		must(t, p.Say("lab:hi"))
		must(t, p.WaitFor("Hi there", patience))
	}
	wait := func(want string, limit time.Duration) {
		t.Helper()
		began, got := time.Now(), ""
		for time.Since(began) < limit {
			if got = strings.Join(statesOf(t, l), ", "); got == want || got == strings.Replace(want, "lost", "ended", 1) {
				t.Logf("%s after %s", got, time.Since(began).Round(time.Millisecond))
				return
			}
			time.Sleep(100 * time.Millisecond)
		}
		t.Errorf("after %s: %s, want %s", limit, got, want)
	}
	wait("idle, idle", patience)
	watch, err := l.Tmux.Start("watch", l.Home.Project, filepath.Join(bin(l), "beckon"), "watch")
	must(t, err)
	must(t, watch.WaitFor(`\b2 done`, patience))
	must(t, closes(a, panes[1]))
	closed := time.Now()
	must(t, watch.WaitFor(`\b1 done`, 20*time.Second))
	t.Logf("watch shows it after %s", time.Since(closed).Round(time.Millisecond))
	wait("idle, lost", 20*time.Second)
}

// statesOf returns the states of all sessions, in the order in which they began.
func statesOf(t testing.TB, l *Lab) (states []string) {
	t.Helper()
	out, err := beckon(l, nil, "list", "--json", "--all")
	must(t, err)
	var list render.List
	must(t, json.Unmarshal(out, &list))
	for _, r := range list.Sessions {
		states = append(states, string(r.State))
	}
	return states
}
