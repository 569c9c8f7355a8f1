package evidence

import (
	"cmp"
	"os"
	"runtime"
	"strconv"
	"strings"

	"beckon/event"
	"beckon/event/agents"
	"beckon/state"
)

// Presence is ThisMachine().Presence.
func Presence(p event.Process, at event.Millis) state.Presence { return ThisMachine().Presence(p, at) }

// Presence reports whether p, last heard from at heard, still runs. A boot of this machine has ended every
// process that was heard before it, and a pid with another start time has been reused: Gone. A reader on
// another machine or in another pid namespace knows nothing (Unread). A stopped process (SIGSTOP) is
// Alive, a zombie Gone. A record without a start time can be found Gone, never Alive.
func (here Machine) Presence(p event.Process, heard event.Millis) state.Presence {
	same, booting := p.Host == here.Host && identifies(p.Host), p.Boot != "" && here.Boot != ""
	if p.Machine != "" {
		same = p.Machine == here.ID
	}
	switch {
	case p.Pid <= 0:
		return state.Unread
	case booting && p.Boot != here.Boot: // a clone of this machine may have its id, but was heard since
		if same && heard < here.Booted {
			return state.Gone
		}
		return state.Unread
	case !booting && !same, p.NS != here.NS: // equal boots mean one kernel, whatever its name is now
		return state.Unread
	}
	q, l := lookup(p.Pid)
	return verdict(p, q, l)
}

// verdict compares a record with the process that lookup found at its pid.
func verdict(p event.Process, q proc, l state.Presence) state.Presence {
	switch {
	case l != state.Alive:
		return l
	case q.dead:
		return state.Gone
	case p.Start == "" || q.start == "":
		return state.Unread
	case p.Start != q.start:
		return state.Gone
	}
	return state.Alive
}

// Process returns the identity of the process that has pid now, as seen from here, and whether it runs.
func Process(pid int, here Machine) (event.Process, bool) {
	p, l := lookup(pid)
	if pid <= 0 || l != state.Alive || p.dead {
		return event.Process{}, false
	}
	return identity(pid, p.start, here), true
}

// A child of an agent whose dialog opened counts, times in milliseconds, if it starts later than aside
// after that, else it is another hook of the same event; and runs for longer than lasting, as hooks do not.
const aside, lasting = 500, 1500

const (
	maxProcesses = 4096     // examined in a search
	maxArguments = 4 << 10  // of one process
	maxEnviron   = 64 << 10 // of one process
)

// arguments returns a process's command line; each word ends with a zero byte.
func arguments(pid int) string { return procFile(pid, "cmdline", maxArguments) }

// environ returns the environment of another process.
func environ(pid int) env {
	return func(name string) string {
		for v := range strings.SplitSeq(procFile(pid, "environ", maxEnviron), "\x00") {
			if value, ok := strings.CutPrefix(v, name+"="); ok {
				return value
			}
		}
		return ""
	}
}

// TerminalOf returns the terminal of another process.
func TerminalOf(pid int) event.Terminal { return Terminal(environ(pid)) }

// Spawned reports whether a child of process p has run for a while that started after a dialog
// of p opened: the call that it asked about runs.
func (here Machine) Spawned(p event.Process, opened, now event.Millis) bool {
	if now < opened+aside+lasting || here.Presence(p, opened) != state.Alive {
		return false
	}
	for _, q := range processes(maxProcesses) {
		began, ok := startWall(q.start)
		if ok && q.ppid == p.Pid && !q.dead && began > opened+aside && now-began >= lasting {
			return true
		}
	}
	return false
}

func identity(pid int, start string, here Machine) event.Process {
	return event.Process{Host: here.Host, Boot: here.Boot, NS: here.NS, Pid: pid, Machine: here.ID, Start: start}
}

// proc is a process as the kernel shows it.
type proc struct {
	ppid  int
	comm  string // name, as the kernel keeps it; lower case and without .exe on Windows
	start string // see event.Process.Start
	dead  bool   // it has exited and waits to be reaped

	// Its process group, controlling terminal, and that terminal's foreground group; Linux only.
	group, terminal, front int
}

// claude is Claude Code.
var claude = agents.Known[0]

// named reports whether comm is the kernel's name for a process of the agent: its program's. A native
// install of Claude Code runs as its version ("2.1.329"), the name of its file.
func named(a *agents.Agent, comm string) bool {
	own := a == claude && (among("claude claude.exe claude-code", comm) || isVersion(comm))
	return own || a != nil && comm != "" && comm == a.Install.Program
}

// isVersion reports whether comm looks like "2.1.329" or "2.1.329-beta".
func isVersion(comm string) bool {
	numbers, _, _ := strings.Cut(comm, "-")
	parts := strings.Split(numbers, ".")
	return len(parts) == 3 && digits(parts[0]) && digits(parts[1]) && digits(parts[2])
}

// Agent returns the process of the agent that this hook belongs to: its nearest ancestor that
// has the pid in the client's own variable (CLAUDE_PID) or the client's name, else the first
// ancestor that is not a shell. It returns the zero Process if there is none.
//
// Everything that the agent starts inherits the variable, and a tmux server keeps it, so it counts only
// for an ancestor that is no shell or supervisor, and a nearer client comes first. A hook whose client
// has died is a child of init or a supervisor, which is never taken for an agent.
func Agent(agent string, here Machine, getenv func(string) string) event.Process {
	if pid, start, _ := ancestor(agent, getenv); pid != 0 {
		return identity(pid, start, here)
	}
	return event.Process{}
}

// parent returns the hook's parent. Windows keeps the pid of a parent that has died, and reuses
// it: there it returns the hook's own start time, too. Elsewhere a reaper adopts orphans at once.
func parent() (pid int, start string) {
	if runtime.GOOS != "windows" {
		return os.Getppid(), ""
	}
	p, _ := lookup(os.Getpid())
	return p.ppid, p.start
}

// ancestor returns the pid and start time of Agent, and whether the process is known to be the client.
func ancestor(agent string, getenv func(string) string) (pid int, start string, known bool) {
	a, claimed := event.AgentOf(agent), 0
	if a == claude {
		claimed, _ = strconv.Atoi(getenv("CLAUDE_PID"))
	}
	pid, start = parent()
	return nearest(lookup, pid, start, a, claimed)
}

// Other returns the agent's process if it is certainly not owner, the process of earlier hooks; else
// the zero Process: a wrapper of hooks is another process each time. Of owner as the hook's parent,
// the usual case, only the pid is compared: another client that has it by now begins a session.
func Other(agent string, owner event.Process, getenv func(string) string) event.Process {
	if pid, _ := parent(); pid == owner.Pid {
		return event.Process{}
	}
	pid, start, known := ancestor(agent, getenv)
	same := pid == owner.Pid && (start == owner.Start || owner.Start == "") && pidNamespace() == owner.NS
	if !known || same || daemonOf(event.AgentOf(agent), pid, getenv) {
		return event.Process{}
	}
	return identity(pid, start, ThisMachine())
}

// maxAncestors bounds the walk; real chains are under ten.
const maxAncestors = 32

// nearest walks up from pid, the hook's parent, and reports whether the process it found is known to be
// the client. limit is the hook's own start time where the parent's pid may be reused, else empty.
func nearest(
	look func(int) (proc, state.Presence), pid int, limit string, a *agents.Agent, claimed int,
) (found int, began string, known bool) {
	firstPid, firstStart, below := 0, "", true
	for range maxAncestors {
		if pid <= 0 {
			break
		}
		p, l := look(pid)
		if l != state.Alive || limit != "" && cmp.Or(len(p.start)-len(limit), strings.Compare(p.start, limit)) > 0 {
			break // a parent cannot be newer than its child: its pid was reused
		}
		passing := transparent(p.comm)
		if named(a, p.comm) || pid == claimed && !passing && !keeper(p.comm) {
			return pid, p.start, true
		}
		if below && !passing {
			below = false
			// What runs a script may be an agent even as pid 1 of a container.
			if !keeper(p.comm) && (pid != 1 || among("node node-MainThread MainThread bun deno", p.comm)) {
				firstPid, firstStart = pid, p.start
			}
		}
		pid, limit = p.ppid, p.start
	}
	return firstPid, firstStart, false
}

// among reports whether a word is in a list, whose words have spaces between them.
func among(list, word string) bool {
	return word != "" && !strings.Contains(word, " ") && strings.Contains(" "+list+" ", " "+word+" ")
}

// transparent reports whether comm is a shell or a command that only runs another one: its own
// parent started the hook.
func transparent(comm string) bool {
	return among("sh bash dash zsh ash ksh mksh fish csh tcsh busybox nu pwsh powershell cmd env timeout nice ionice "+
		"nohup setsid stdbuf sudo doas time", comm)
}

// keeper reports whether the process only supervises others, so that a hook that is its child
// has lost its client.
func keeper(comm string) bool {
	return among("systemd init launchd login su tini dumb-init docker-init conmon cron crond tmux screen SCREEN zellij "+
		"explorer services svchost", comm) || comm == "tmux: server" ||
		strings.HasPrefix(comm, "sshd") || strings.HasPrefix(comm, "containerd-shim")
}
