package evidence

import (
	"errors"
	"path/filepath"
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

// PackageVersion returns the version of the npm package that a process of this machine runs
// from; "" if there is none or it cannot be read.
func PackageVersion(agent string, pid int) string {
	for _, file := range programs(pid) {
		if v := ProgramVersion(event.AgentOf(agent), file); v != "" {
			return v
		}
	}
	return ""
}

// ProgramVersion is PackageVersion for a program's file. It looks for the package in the
// directories above: the agent's own, or the platform's package that the agent downloads.
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
