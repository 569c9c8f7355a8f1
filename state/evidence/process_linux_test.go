package evidence

import (
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"beckon/event"
	"beckon/state"
)

func TestParseStat(t *testing.T) {
	const tail = " S 17 2 3 0 -1 4194560 1 2 3 4 5 6 7 8 20 0 1 0 811153 9 10\n"
	for _, comm := range []string{"claude", "2.1.329", "a b", ") R 1 (", "((", "))", "", "x) S 99 9 9\n"} {
		p, ok := parseStat([]byte("42 (" + comm + ")" + tail))
		if !ok || p.comm != comm || p.ppid != 17 || p.start != "811153" || p.dead {
			t.Errorf("%q: got %+v, %v", comm, p, ok)
		}
	}
	for _, bad := range []string{"", "42", "42 (x", "42 x) S 1", "42 (x)", "42 (x) S", "42 (x) S 1 2 3", "42 (x) SS" + tail[2:],
		"42 (x) S -1" + tail[5:], "42 (x)" + strings.Replace(tail, "811153", "-5", 1)} {
		if p, ok := parseStat([]byte(bad)); ok {
			t.Errorf("%q: got %+v", bad, p)
		}
	}
}

// FuzzStat checks that no line causes a panic, and that a line made from a name and numbers
// gives these back, whatever the name contains.
func FuzzStat(f *testing.F) {
	stat, _ := os.ReadFile("/proc/self/stat")
	f.Add(stat, "claude", 1, uint32(811153))
	f.Add([]byte("1 (a) b) Z 1"), "tmux: server", 0, uint32(0))
	f.Add([]byte("1 () R"), ") R 1 (", 4194304, uint32(7))
	f.Fuzz(func(t *testing.T, line []byte, comm string, ppid int, start uint32) {
		if p, ok := parseStat(line); ok && (p.ppid < 0 || !digits(p.start)) {
			t.Errorf("took %+v", p)
		}
		if ppid < 0 {
			return
		}
		made := "7 (" + comm + ") T " + strconv.Itoa(ppid) + strings.Repeat(" 0", 17) + " " + strconv.Itoa(int(start)) + " 1 2\n"
		p, ok := parseStat([]byte(made))
		if !ok || p.comm != comm || p.ppid != ppid || p.start != strconv.Itoa(int(start)) || p.dead {
			t.Errorf("%q: got %+v, %v", made, p, ok)
		}
	})
}

// as returns the test binary under another name, which the kernel then uses for the process.
func as(t *testing.T, name string) string {
	t.Helper()
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	link := filepath.Join(t.TempDir(), name)
	symlink(t, exe, link)
	return link
}

// The hook finds the client that started it, among real processes.
func TestAgent(t *testing.T) {
	claude, node, hook := as(t, "claude"), as(t, "node"), as(t, "beckon-hook")
	version := as(t, "2.1.197")
	script := filepath.Join(t.TempDir(), "my hook).sh")
	if err := os.WriteFile(script, []byte("#!/bin/sh\n'"+hook+"'\ntrue\n"), 0o700); err != nil {
		t.Fatal(err)
	}
	sh := "'" + hook + "'; true"
	for _, tt := range []struct {
		name  string
		cmd   []string
		claim string
		next  string
		want  int // which of the printed pids
	}{
		{"exec form", []string{claude, hook}, "self", "hook", 0},
		{"exec form, no variable", []string{claude, hook}, "none", "hook", 0},
		{"named by its version", []string{version, hook}, "none", "hook", 0},
		{"shell form", []string{claude, "sh", "-c", sh}, "self", "hook", 0},
		{"shell form, no variable", []string{claude, "sh", "-c", sh}, "none", "hook", 0},
		{"node, shell form", []string{node, "sh", "-c", sh}, "none", "hook", 0},
		{"node that says its pid, through a script", []string{node, script}, "self", "hook", 0},
		{"nested", []string{claude, claude, hook}, "self", "client", 1},
		{"nested, no variable", []string{claude, version, "sh", "-c", sh}, "none", "client", 1},
		{"nested, only the outer's variable", []string{claude, "env", claimVar + "=keep", claude, hook}, "self", "client", 1},
		{"stale variable", []string{claude, hook}, "stale", "hook", 0},
	} {
		cmd := exec.Command(tt.cmd[0], tt.cmd[1:]...)
		cmd.Env = append(os.Environ(), roleVar+"=client", claimVar+"="+tt.claim, "EVIDENCE_TEST_NEXT="+tt.next, "CLAUDE_PID=1",
			"GORACE=atexit_sleep_ms=0") // else each process waits a second when it exits under -race
		out, err := cmd.Output()
		f := strings.Fields(string(out))
		if err != nil || len(f) < 3 {
			t.Fatalf("%s: %q, %v", tt.name, out, err)
		}
		if got, start := f[len(f)-2], f[len(f)-1]; got != f[tt.want] || !digits(start) {
			t.Errorf("%s: got %s, want pid number %d of %q", tt.name, got, tt.want, f)
		}
	}
}

// sleeper starts a process that waits, and returns it with its identity.
func sleeper(t *testing.T) (*exec.Cmd, event.Process) {
	t.Helper()
	cmd := exec.Command("sleep", "60")
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = cmd.Process.Kill(); _ = cmd.Wait() })
	p, ok := Process(cmd.Process.Pid, ThisMachine())
	if !ok {
		t.Fatal("no such process")
	}
	return cmd, p
}

// until waits until p has the wanted presence; signals take a moment.
func until(t *testing.T, p event.Process, want state.Presence) {
	t.Helper()
	here := ThisMachine()
	for range 12000 {
		if here.Presence(p, 0) == want {
			return
		}
		time.Sleep(5 * time.Millisecond)
	}
	t.Fatalf("got %d, want %d", here.Presence(p, 0), want)
}

func TestAliveOfRealProcesses(t *testing.T) {
	cmd, p := sleeper(t)
	until(t, p, state.Alive)

	if err := cmd.Process.Signal(syscall.SIGSTOP); err != nil {
		t.Fatal(err)
	}
	time.Sleep(20 * time.Millisecond)
	until(t, p, state.Alive) // a stopped process is alive
	if err := cmd.Process.Signal(syscall.SIGCONT); err != nil {
		t.Fatal(err)
	}

	reused := p
	reused.Start += "0"
	until(t, reused, state.Gone)

	if err := cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	until(t, p, state.Gone) // a zombie: its parent has not waited for it
	if q, l := lookup(p.Pid); l != state.Alive || !q.dead {
		t.Errorf("it should still be a zombie: %+v, %d", q, l)
	}
	if _, ok := Process(p.Pid, ThisMachine()); ok {
		t.Error("a zombie is not a process to have an identity")
	}
	_ = cmd.Wait()
	until(t, p, state.Gone)
}

// A thread's id has a /proc entry too, with its own start time.
func TestLookupOfWhatIsNotThere(t *testing.T) {
	if _, l := lookup(1 << 22); l != state.Gone {
		t.Errorf("over pid_max: got %d", l)
	}
	if p, l := lookup(1); l != state.Alive || p.ppid != 0 {
		t.Errorf("init: %+v, %d", p, l)
	}
}

func TestThisMachine(t *testing.T) {
	m := ThisMachine()
	if host, _ := os.Hostname(); m.Host != host {
		t.Errorf("host %q", m.Host)
	}
	if len(m.Boot) != 36 || !strings.HasPrefix(m.NS, "pid:[") {
		t.Errorf("got %+v", m)
	}
}

func TestStartWall(t *testing.T) {
	_, p := sleeper(t)
	at, ok := startWall(p.Start)
	if d := time.Now().UnixMilli() - int64(at); !ok || d < -2000 || d > 5000 {
		t.Errorf("off by %d ms, %v", d, ok)
	}
	if _, ok := startWall("Mon Aug 17 05:43:19 2026"); ok {
		t.Error("that is not a start time of ours")
	}
}
