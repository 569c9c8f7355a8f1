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

// daemonOf reports whether pid is the background process by which an agent runs the
// hooks of several terminals. Such a hook has the process and terminal of whoever
// started the daemon.
func daemonOf(a *agents.Agent, pid int, getenv env) bool {
	if a == nil || a.Daemon == "" || pid <= 0 {
		return false
	}
	var buf [256]byte
	text, err := plainfile.Head(filepath.Join(a.Dir(getenv("HOME"), getenv), filepath.FromSlash(a.Daemon)), buf[:], 0)
	return err == nil && hasNumber(text, pid) || servesOthers(pid)
}

// hasNumber reports whether n stands in text, as a number or in JSON.
func hasNumber(text []byte, n int) bool {
	numbers := strings.FieldsFunc(string(text), func(r rune) bool { return r < '0' || r > '9' })
	return slices.Contains(numbers, strconv.Itoa(n))
}

// relocate gives o the process and the terminal that a user of the daemon sits at:
// of the agent's processes in the session's directory, if there is one. Of several
// it is not known which, and a wrong one is worse than none.
func relocate(o *event.Origin, agent, cwd string) {
	daemon := o.Process
	o.Process, o.Terminal, o.Launcher = event.Process{}, event.Terminal{}, ""
	if pid, start, getenv := onlyClient(clientOf(agent), daemon.Pid, cwd); pid != 0 {
		daemon.Pid, daemon.Start = pid, start
		o.Process, o.Terminal = daemon, Terminal(getenv)
		o.Launcher = launcherID(getenv("BECKON_AGENT_ID"))
	}
}
