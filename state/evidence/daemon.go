package evidence

import (
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"beckon/event"
	"beckon/event/agents"
	"beckon/event/plainfile"
)

// daemonOf reports whether pid is an agent's background process that runs the hooks of several
// terminals. Such a hook inherits the process and terminal of whoever started the daemon.
func daemonOf(a *agents.Agent, pid int, getenv env) bool {
	if a == nil || a.Daemon == "" || pid <= 0 {
		return false
	}
	var buf [256]byte
	text, err := plainfile.Head(filepath.Join(a.Dir(getenv("HOME"), getenv), filepath.FromSlash(a.Daemon)), buf[:], 0)
	return err == nil && hasNumber(text, pid) || servesOthers(pid)
}

// hasNumber reports whether n occurs in text, by itself or in JSON.
func hasNumber(text []byte, n int) bool {
	numbers := strings.FieldsFunc(string(text), func(r rune) bool { return r < '0' || r > '9' })
	return slices.Contains(numbers, strconv.Itoa(n))
}

// relocate gives o the process and terminal of the daemon's client in the session's directory.
// If there are several it does nothing: a wrong process is worse than none.
func relocate(o *event.Origin, agent, cwd string) {
	daemon := o.Process
	o.Process, o.Terminal, o.Launcher = event.Process{}, event.Terminal{}, ""
	if pid, start, getenv := onlyClient(clientOf(agent), daemon.Pid, cwd); pid != 0 {
		daemon.Pid, daemon.Start = pid, start
		o.Process, o.Terminal = daemon, Terminal(getenv)
		o.Launcher = launcherID(getenv("BECKON_AGENT_ID"))
	}
}
