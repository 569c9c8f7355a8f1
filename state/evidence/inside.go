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

// deepest bounds the walk up from a process, high enough that many parents do not hide the agent.
const deepest = 1 << 16

var errNoTerminal = errors.New("it has no terminal of its own")

// InClient reports whether a client of any known agent is among the ancestors of this process, which a
// command cannot change as it can its environment.
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
		if runsAgent(pid, p.comm) {
			return true, name
		}
		pid = p.ppid
	}
	return false, name
}

// PackageVersion returns the version of the npm package of a process: of its program, or of the script
// that an interpreter was given; "" if it cannot be read.
func PackageVersion(agent string, pid int) string {
	for _, file := range append(strings.Split(arguments(pid), "\x00"), procLink(pid, "exe")) {
		if path.IsAbs(file) {
			if v := ProgramVersion(event.AgentOf(agent), file); v != "" {
				return v
			}
		}
	}
	return ""
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
		text, _ := plainfile.Head(filepath.Join(dir, "package.json"), buf[:])
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

// runsAgent reports whether a process is an agent, by its name in the kernel or, as of an interpreter or
// a program that renames its threads, by its command line.
func runsAgent(pid int, comm string) bool {
	is := func(a *agents.Agent) bool { return named(a, comm) }
	return slices.ContainsFunc(event.Agents(), is) || startsAgent(strings.Split(arguments(pid), "\x00"))
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

// daemonOf reports whether pid is an agent's background process, whose hooks have the process and
// terminal of whoever started it.
func daemonOf(a *agents.Agent, pid int, getenv env) bool {
	if a == nil || a.Daemon == "" || pid <= 0 {
		return false
	}
	var buf [256]byte
	file := filepath.Join(a.Dir(getenv("HOME"), getenv), filepath.FromSlash(a.Daemon))
	text, _ := plainfile.Head(file, buf[:])
	// The number stands by itself, or in JSON.
	numbers := strings.FieldsFunc(string(text), func(r rune) bool { return r < '0' || r > '9' })
	return slices.Contains(numbers, strconv.Itoa(pid)) || server(arguments(pid))
}

// server reports whether a command line, whose words end in zero bytes, starts a server.
func server(args string) bool { return strings.Contains(args, "\x00app-server\x00") }

// relocate gives o the process and terminal of the daemon's client that has the session of e open.
// Without a certain one it leaves both empty: a wrong process is worse than none.
func relocate(o *event.Origin, e *event.Event) {
	daemon := o.Process
	o.Process, o.Terminal, o.Launcher = event.Process{}, event.Terminal{}, ""
	var all []sitting
	for pid, p := range processes(maxProcesses) {
		args, sits := arguments(pid), procLink(pid, "cwd") == e.Cwd
		if pid != daemon.Pid && !p.dead && named(event.AgentOf(e.Agent), p.comm) && sits && !server(args) {
			began, _ := startWall(p.start)
			all = append(all, sitting{pid, p.start, began, args})
		}
	}
	if t := opener(all, e); t != nil {
		daemon.Pid, daemon.Start = t.pid, t.start
		getenv := environ(t.pid)
		o.Process, o.Terminal, o.Launcher = daemon, Terminal(getenv), LauncherID(getenv("BECKON_AGENT_ID"))
	}
}

// sitting is a client of a daemon.
type sitting struct {
	pid   int
	start string
	began event.Millis // by the wall clock
	args  string
}

// opening is how long, in milliseconds, a client takes at most to open its session.
const opening = 10_000

// opener returns which of the clients in a session's directory has it open: the only one, else the one that
// was started with its id, else the one that started right before the session, and no other nearly as late.
func opener(all []sitting, e *event.Event) *sitting {
	if len(all) == 1 {
		return &all[0]
	}
	named := func(t sitting) bool { return e.SessionID != "" && strings.Contains(t.args, e.SessionID) }
	if i := slices.IndexFunc(all, named); i >= 0 {
		return &all[i]
	}
	born := madeAt(e.SessionID)
	if born == 0 || e.Source == "resume" {
		return nil
	}
	before := slices.DeleteFunc(all, func(t sitting) bool { return t.began > born })
	slices.SortFunc(before, func(a, b sitting) int { return int(b.began - a.began) })
	if len(before) == 0 || born-before[0].began > opening ||
		len(before) > 1 && born-before[1].began < 3*(born-before[0].began) {
		return nil
	}
	return &before[0]
}

// madeAt returns the time in a UUID of version 7, 0 for any other id.
func madeAt(id string) event.Millis {
	if len(id) != 36 || id[8] != '-' || id[14] != '7' {
		return 0
	}
	ms, _ := strconv.ParseInt(id[:8]+id[9:13], 16, 64)
	return event.Millis(ms)
}
