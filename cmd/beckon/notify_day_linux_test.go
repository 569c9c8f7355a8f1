package main

import (
	"bufio"
	"bytes"
	"cmp"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"beckon/event"
	"beckon/event/recording"
	"beckon/state"
	"beckon/state/store"
	"beckon/testdata/dbustest"
)

// daySession is a session of the day.
type daySession struct {
	name  string
	pause time.Duration // before the event named at
	at    event.Kind
	want  []string // the kinds of which the user must be notified, in order
}

// TestNotifyDay plays a day of eight sessions through the installed programs
// and a notification daemon, and compares what the daemon received
// with what was written by hand.
func TestNotifyDay(t *testing.T) {
	t.Parallel()
	daemon := dbustest.Start(t)
	p := newOffice(t, `{"notify": ["desktop"], "notify_done_after": "5s"}`)
	p.env = append(p.env, "DBUS_SESSION_BUS_ADDRESS="+daemon.Address)
	sessions := readDay(t)
	var wait sync.WaitGroup
	for _, s := range sessions {
		wait.Go(func() { p.play(t, s) })
	}
	wait.Wait()
	for end := time.Now().Add(time.Minute); time.Now().Before(end); time.Sleep(100 * time.Millisecond) {
		if !slices.ContainsFunc(sessions, func(s daySession) bool { return len(p.told(t, s.name)) < len(s.want) }) {
			break
		}
	}
	time.Sleep(2500 * time.Millisecond) // an extra one would come now: an edge is held for a second, then notified of
	total := 0
	for _, s := range sessions {
		got := p.told(t, s.name)
		total += len(s.want)
		if !slices.Equal(got, s.want) {
			t.Errorf("%s: told of %v, want %v", s.name, got, s.want)
		}
	}
	if got := daemon.Received(); len(got) != total {
		t.Errorf("the daemon received %d notifications, want %d: %q", len(got), total, got)
	}
	if t.Failed() {
		out, _ := p.command("beckon", "notify", "log").CombinedOutput()
		t.Logf("%s", out)
	}
}

// office is a user's home with both programs installed.
type office struct {
	bin, state string
	env        []string
}

func newOffice(t *testing.T, config string) *office {
	t.Helper()
	if testing.Short() {
		t.Skip("runs installed programs for some seconds")
	}
	dir := t.TempDir()
	p := &office{bin: filepath.Join(dir, "bin"), state: filepath.Join(dir, "state")}
	installPrograms(t, p.bin)
	t.Cleanup(p.wait)
	p.env = []string{"GORACE=" + noNap, "HOME=" + dir, "PATH=" + os.Getenv("PATH"), "BECKON_STATE_DIR=" + p.state, "XDG_CONFIG_HOME=" + dir}
	if err := os.MkdirAll(filepath.Join(dir, "beckon"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "beckon", "config.json"), []byte(config), 0o600); err != nil {
		t.Fatal(err)
	}
	return p
}

// wait waits until its programs have ended, some seconds at most: those in the background may
// still write, and then the directory cannot be removed.
func (p *office) wait() {
	for range 100 {
		programs, _ := filepath.Glob("/proc/[0-9]*/exe")
		if !slices.ContainsFunc(programs, func(exe string) bool {
			to, _ := os.Readlink(exe)
			return strings.HasPrefix(to, p.bin)
		}) {
			return
		}
		time.Sleep(50 * time.Millisecond)
	}
}

func (p *office) command(name string, args ...string) *exec.Cmd {
	cmd := exec.Command(filepath.Join(p.bin, name), args...)
	cmd.Env = p.env
	return cmd
}

// hook runs one hook and returns what it printed and how long it took.
func (p *office) hook(t *testing.T, name string, payload []byte) (string, time.Duration) {
	t.Helper()
	cmd := p.command("beckon-hook", name)
	cmd.Stdin = bytes.NewReader(payload)
	began := time.Now()
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Errorf("%s: the hook failed: %v", name, err)
	}
	return string(out), time.Since(began)
}

// play plays a session in its own time.
func (p *office) play(t *testing.T, s daySession) {
	steps := hookSteps(t, s.name)
	began, late := time.Now(), time.Duration(0)
	for _, step := range steps {
		if event.ByName(step.Kind) == s.at {
			late = s.pause
		}
		time.Sleep(time.Until(began.Add(late + time.Duration(step.T-steps[0].T)*time.Millisecond)))
		payload := bytes.Replace(step.Payload, []byte(sessionID(step.Payload)), []byte(s.name), 1)
		if out, _ := p.hook(t, step.Kind, payload); out != "" {
			t.Errorf("%s: %s printed %q", s.name, step.Kind, out)
		}
	}
}

func sessionID(payload []byte) string {
	var v struct {
		ID string `json:"session_id"`
	}
	_ = json.Unmarshal(payload, &v)
	return v.ID
}

func hookSteps(t *testing.T, name string) (hooks []recording.Step) {
	f, err := os.Open("../../testdata/recordings/2.1.329/" + name + ".jsonl")
	if err != nil {
		t.Error(err)
		return nil
	}
	defer f.Close()
	steps, err := recording.Read(f)
	if err != nil {
		t.Error(err)
	}
	slices.SortStableFunc(steps, func(a, b recording.Step) int { return cmp.Compare(a.T, b.T) })
	for _, s := range steps {
		if s.Hook() {
			hooks = append(hooks, s)
		}
	}
	return hooks
}

// told lists the kinds of which the session's user was notified, through the office's only
// channel.
func (p *office) told(t *testing.T, session string) (kinds []string) {
	t.Helper()
	all, err := store.Open(p.state).Decisions()
	if err != nil {
		t.Fatal(err)
	}
	for _, d := range all {
		if d.Session == session && d.Verdict == state.Notify {
			if d.Channels != "desktop" && d.Channels != "command" {
				t.Errorf("%s: told through %q", session, d.Channels)
			}
			kinds = append(kinds, string(d.Kind))
		}
	}
	return kinds
}

func readDay(t *testing.T) (day []daySession) {
	t.Helper()
	f, err := os.Open("../../testdata/notify/day.txt")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	for lines := bufio.NewScanner(f); lines.Scan(); {
		words := strings.Fields(lines.Text())
		if len(words) == 0 || words[0] == "#" {
			continue
		}
		s := daySession{name: words[0], want: words[1:]}
		if len(words) > 1 && words[1][0] == '+' {
			pause, at, _ := strings.Cut(words[1], "@")
			if s.pause, err = time.ParseDuration(pause); err != nil {
				t.Fatal(err)
			}
			s.at, s.want = event.ByName(at), words[2:]
		}
		day = append(day, s)
	}
	return day
}
