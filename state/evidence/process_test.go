package evidence

import (
	"os"
	"strconv"
	"testing"

	"beckon/event"
	"beckon/state"
)

// table is a process table: processes by pid.
type table map[int]struct {
	ppid        int
	comm, start string
	dead        bool
}

func (t table) look(pid int) (proc, state.Presence) {
	p, ok := t[pid]
	if !ok {
		return proc{}, state.Gone
	}
	return proc{ppid: p.ppid, comm: p.comm, start: p.start, dead: p.dead}, state.Alive
}

func TestNearest(t *testing.T) {
	shell := table{
		1: {0, "systemd", "1", false}, 10: {1, "tmux: server", "5", false}, 20: {10, "bash", "6", false},
		30: {20, "claude", "7", false}, 31: {20, "2.1.197", "7", false}, 32: {20, "node", "7", false},
		40: {30, "sh", "8", false}, 41: {31, "dash", "8", false}, 42: {32, "sh", "8", false},
		50: {40, "claude", "9", false}, 51: {40, "node", "9", false}, 60: {50, "sh", "10", false}, 61: {51, "sh", "10", false},
		70: {1, "sh", "11", false}, 71: {10, "sh", "11", false}, 72: {30, "my-hook.sh", "11", false}, 73: {72, "timeout", "12", false},
		80: {90, "hookrun", "12", false}, 90: {80, "loop", "11", false},
	}
	container := table{1: {0, "node", "1", false}, 2: {1, "sh", "2", false}}
	bare := table{1: {0, "renamed", "1", false}, 2: {1, "renamed", "2", false}}
	for _, tt := range []struct {
		name    string
		table   table
		parent  int
		claimed int
		want    int
	}{
		{"exec form", shell, 30, 30, 30},
		{"exec form, no variable", shell, 30, 0, 30},
		{"shell form", shell, 40, 30, 30},
		{"shell form, no variable", shell, 40, 0, 30},
		{"named by its version", shell, 41, 0, 31},
		{"node with no name of its own", shell, 42, 0, 32},
		{"nested, both set the variable", shell, 60, 50, 50},
		{"nested, the outer's variable is inherited", shell, 60, 30, 50},
		{"the variable is stale and no ancestor", shell, 40, 4711, 30},
		{"a script between", shell, 72, 0, 30},
		{"a wrapper and a script between", shell, 73, 30, 30},
		{"client died, init took the hook", shell, 70, 30, 0},
		{"client died, under tmux", shell, 71, 0, 0},
		{"parent is init", shell, 1, 0, 0},
		{"parent outside the namespace", shell, 0, 30, 0},
		{"a circle of parents ends", shell, 80, 0, 80},
		{"pid 1 of a container", container, 2, 0, 1},
		{"pid 1 that is claimed", bare, 1, 1, 1},
		{"a name nobody knows", bare, 2, 0, 2},
		{"a shell has the stale variable's pid by now", shell, 42, 20, 32},
		{"a supervisor has it", shell, 40, 10, 30},
	} {
		pid, start, _ := nearest(tt.table.look, tt.parent, "", event.AgentOf("claude-code"), tt.claimed)
		if pid != tt.want || start != tt.table[tt.want].start {
			t.Errorf("%s: got %d (%s), want %d", tt.name, pid, start, tt.want)
		}
	}
}

// Another agent's hook inside Claude Code's shell inherits CLAUDE_PID, which
// says nothing about it.
func TestNearestOfOtherAgents(t *testing.T) {
	procs := table{1: {0, "init", "1", false}, 30: {1, "claude", "7", false}, 40: {30, "bash", "8", false},
		50: {40, "codex", "9", false}, 51: {40, "node", "9", false}}
	if pid, _, _ := nearest(procs.look, 50, "", event.AgentOf("codex"), 0); pid != 50 {
		t.Errorf("codex: got %d", pid)
	}
	if pid, _, _ := nearest(procs.look, 51, "", event.AgentOf("gemini"), 0); pid != 51 {
		t.Errorf("gemini under node: got %d", pid)
	}
	if pid, _, _ := nearest(procs.look, 51, "", event.AgentOf("somebody-new"), 0); pid != 51 {
		t.Errorf("an unknown agent: got %d", pid)
	}
}

// On Windows a dead parent's pid may belong to a younger process.
func TestNearestRejectsYoungerParents(t *testing.T) {
	procs := table{30: {0, "claude", "100", false}, 40: {30, "cmd", "99", false}}
	if pid, _, _ := nearest(procs.look, 30, "99", event.AgentOf("claude-code"), 30); pid != 0 {
		t.Errorf("parent younger than the hook: got %d", pid)
	}
	if pid, _, _ := nearest(procs.look, 40, "1000", event.AgentOf("claude-code"), 30); pid != 0 {
		t.Errorf("grandparent younger than the parent: got %d", pid)
	}
}

func TestIsVersion(t *testing.T) {
	for s, want := range map[string]bool{
		"2.1.329": true, "10.0.0": true, "2.1.0-beta.1": true,
		"": false, "2": false, "2.1": false, "2.1.": false, ".2.1": false, "2..1": false, "v2.1.3": false, "2.1-3": false, "1.2.3.4": false, "-1.2": false,
	} {
		if isVersion(s) != want {
			t.Errorf("isVersion(%q) = %v", s, !want)
		}
	}
}

func TestAliveElsewhere(t *testing.T) {
	here := Machine{Host: "box", Boot: "b1", NS: "n1", ID: "m1", Booted: 1000}
	pid := os.Getpid()
	q, _ := lookup(pid)
	for _, tt := range []struct {
		name           string
		host, boot, ns string
		machine        string
		heard          event.Millis
		want           state.Presence
	}{
		{"here", "box", "b1", "n1", "m1", 2000, state.Alive},
		{"here, before it was noted what machine it is", "box", "b1", "n1", "", 2000, state.Alive},
		{"the host was renamed, one boot", "box.local", "b1", "n1", "m1", 2000, state.Alive},
		{"another host", "other", "b2", "n1", "m2", 500, state.Unread},
		{"another host, boots not known", "other", "", "n1", "", 500, state.Unread},
		{"the same machine after a reboot", "box", "b0", "n1", "m1", 500, state.Gone},
		{"the same machine after a reboot, renamed", "box.local", "b0", "n1", "m1", 500, state.Gone},
		{"another machine of this name", "box", "b2", "n1", "m2", 500, state.Unread},
		{"a clone of this machine that was heard of since", "box", "b2", "n1", "m1", 2000, state.Unread},
		{"a machine of this name, who knows which", "box", "b0", "n1", "", 500, state.Gone},
		{"another machine, for it was heard of since", "box", "b2", "n1", "", 2000, state.Unread},
		{"another namespace of this boot", "box", "b1", "n2", "m1", 500, state.Unread},
		{"namespace not known", "box", "b1", "", "m1", 500, state.Unread},
		{"boot not known", "box", "", "n1", "m1", 500, state.Alive},
		{"boot not known, another machine", "box", "", "n1", "m2", 500, state.Unread},
		{"nothing known", "", "", "", "", 500, state.Unread},
	} {
		p := event.Process{Host: tt.host, Boot: tt.boot, NS: tt.ns, Machine: tt.machine, Pid: pid, Start: q.start}
		if got := here.Presence(p, tt.heard); got != tt.want {
			t.Errorf("%s: got %d, want %d", tt.name, got, tt.want)
		}
	}
	local := event.Process{Host: "localhost", Boot: "b0", NS: "n1", Pid: pid, Start: q.start}
	if got := (Machine{Host: "localhost", Boot: "b1", NS: "n1", Booted: 1000}).Presence(local, 0); got != state.Unread {
		t.Errorf("two machines may both be called localhost: got %d", got)
	}
}

func TestVerdict(t *testing.T) {
	p := event.Process{Pid: 7, Start: "100"}
	for _, tt := range []struct {
		name string
		p    event.Process
		q    proc
		l    state.Presence
		want state.Presence
	}{
		{"running", p, proc{start: "100"}, state.Alive, state.Alive},
		{"gone", p, proc{}, state.Gone, state.Gone},
		{"not readable", p, proc{}, state.Unread, state.Unread},
		{"zombie", p, proc{start: "100", dead: true}, state.Alive, state.Gone},
		{"reused", p, proc{start: "101"}, state.Alive, state.Gone},
		{"record without a start", event.Process{Pid: 7}, proc{start: "100"}, state.Alive, state.Unread},
		{"record without a start, gone", event.Process{Pid: 7}, proc{}, state.Gone, state.Gone},
		{"start not told", p, proc{}, state.Alive, state.Unread},
	} {
		if got := verdict(tt.p, tt.q, tt.l); got != tt.want {
			t.Errorf("%s: got %d, want %d", tt.name, got, tt.want)
		}
	}
}

func TestAliveOfNobody(t *testing.T) {
	here := ThisMachine()
	for _, pid := range []int{0, -1} {
		if got := here.Presence(event.Process{Host: here.Host, Boot: here.Boot, NS: here.NS, Pid: pid}, 0); got != state.Unread {
			t.Errorf("pid %d: got %d", pid, got)
		}
	}
	if _, ok := Process(-1, here); ok {
		t.Error("there is no process -1")
	}
}

func TestProcessIsOurselves(t *testing.T) {
	here := ThisMachine()
	p, ok := Process(os.Getpid(), here)
	if !ok {
		t.Skip("no process evidence on this platform")
	}
	if p.Pid != os.Getpid() || p.Start == "" || p.Host != here.Host {
		t.Errorf("got %+v", p)
	}
	if got := here.Presence(p, 0); got != state.Alive {
		t.Errorf("we run: got %d", got)
	}
	n, err := strconv.ParseInt(p.Start, 10, 64)
	if err != nil {
		t.Fatal(err)
	}
	p.Start = strconv.FormatInt(n-1, 10)
	if got := here.Presence(p, 0); got != state.Gone {
		t.Errorf("the pid had another owner: got %d", got)
	}
}
