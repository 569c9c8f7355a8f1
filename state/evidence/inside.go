package evidence

import (
	"errors"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"beckon/event"
	"beckon/event/agents"
	"beckon/event/plainfile"
	"beckon/state"

	"github.com/tidwall/gjson"
)

// deepest bounds the walk up from a process that an agent may have started. It is high, so
// that many parents do not hide the agent.
const deepest = 1 << 16

// errNoTerminal is OwnTerminal's error if this process has no controlling terminal, or is not
// in its foreground.
var errNoTerminal = errors.New("it has no terminal of its own")

// InClient reports whether a client of any known agent is among the ancestors of this process.
// The environment proves nothing: a command can clear it, and processes inherit it. A command
// cannot change its ancestors.
func InClient() bool {
	pid, _ := parent()
	within, _ := FromClient(pid)
	return within
}

// FromClient reports whether process pid is a client of any known agent or descends from one,
// and the name of the process: empty if there is no such process or it cannot be read.
func FromClient(pid int) (within bool, name string) {
	for range deepest {
		p, l := lookup(pid)
		if pid <= 1 || l != state.Alive {
			return false, name
		}
		if name == "" {
			name = p.comm
		}
		if isClient(p.comm) || runsAgent(pid) {
			return true, name
		}
		pid = p.ppid
	}
	return false, name
}

// ProgramVersion returns the version of the npm package that a program's file is in: the agent's
// own, or the platform's package that the agent downloads; "" if there is none or it cannot be read.
func ProgramVersion(a *agents.Agent, file string) string {
	const most = 4
	dir, err := filepath.EvalSymlinks(file)
	if err != nil || a == nil || a.Package == "" {
		return ""
	}
	for range most {
		dir = filepath.Dir(dir)
		var buf [64 << 10]byte
		text, _ := plainfile.Head(filepath.Join(dir, "package.json"), buf[:], 0)
		if !gjson.ValidBytes(text) {
			continue
		}
		name := gjson.GetBytes(text, "name").Str
		if name == a.Package || strings.HasPrefix(name, a.Package+"-") || strings.HasPrefix(name, a.Install.Program+"-") {
			return event.Cut(gjson.GetBytes(text, "version").Str, event.MaxID)
		}
	}
	return ""
}

// runsAgent reports whether a process is an agent whose name in the kernel does not show it:
// an interpreter that runs the agent, or a program that renames its threads.
func runsAgent(pid int) bool {
	return startsAgent(strings.Split(arguments(pid), "\x00"))
}

// startsAgent reports whether a command line starts an agent.
func startsAgent(words []string) bool {
	words = slices.DeleteFunc(words, func(w string) bool { return w == "" || w[0] == '-' })
	if len(words) > 1 && among("node bun deno", path.Base(words[0])) {
		words = words[1:]
	}
	return len(words) > 0 && slices.ContainsFunc(event.Agents(), func(a *agents.Agent) bool {
		name := strings.TrimSuffix(path.Base(words[0]), ".js")
		return name == a.Install.Program || a.Package != "" && strings.Contains(words[0], "/"+a.Package+"/")
	})
}

// daemonOf reports whether pid is an agent's background process that runs the hooks of several
// terminals. Such a hook inherits the process and terminal of whoever started the daemon.
func daemonOf(a *agents.Agent, pid int, getenv env) bool {
	if a == nil || a.Daemon == "" || pid <= 0 {
		return false
	}
	var buf [256]byte
	text, err := plainfile.Head(filepath.Join(a.Dir(getenv("HOME"), getenv), filepath.FromSlash(a.Daemon)), buf[:], 0)
	numbers := strings.FieldsFunc(string(text), func(r rune) bool { return r < '0' || r > '9' }) // by itself, or in JSON
	return err == nil && slices.Contains(numbers, strconv.Itoa(pid)) || server(arguments(pid))
}

// server reports whether a command line, whose words end in zero bytes, starts a server.
func server(args string) bool { return strings.Contains(args, "\x00app-server\x00") }

// relocate gives o the process and terminal of the daemon's client that has the session of e open:
// the only one in the session's directory, or the one that was started with its id. Without a
// certain one it leaves both empty: a wrong process is worse than none.
func relocate(o *event.Origin, e *event.Event) {
	daemon := o.Process
	o.Process, o.Terminal, o.Launcher = event.Process{}, event.Terminal{}, ""
	opener, others := 0, 0
	for pid, p := range processes(maxProcesses) {
		args := arguments(pid)
		if pid == daemon.Pid || p.dead || !clientOf(e.Agent).named(p.comm) || procLink(pid, "cwd") != e.Cwd || server(args) {
			continue
		}
		named := e.SessionID != "" && strings.Contains(args, e.SessionID)
		if named || opener == 0 {
			opener, daemon.Pid, daemon.Start = pid, pid, p.start
		}
		if others++; named {
			others = 1
			break
		}
	}
	if others == 1 {
		getenv := environ(opener)
		o.Process, o.Terminal, o.Launcher = daemon, Terminal(getenv), launcherID(getenv("BECKON_AGENT_ID"))
	}
}
