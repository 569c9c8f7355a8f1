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

// relocate gives o the process and terminal of the daemon's client that has the session of e
// open. Without a certain one it leaves both empty: a wrong process is worse than none.
func relocate(o *event.Origin, e *event.Event) {
	daemon := o.Process
	o.Process, o.Terminal, o.Launcher = event.Process{}, event.Terminal{}, ""
	if t := opener(clientsIn(e.Cwd, clientOf(e.Agent), daemon.Pid), e); t != nil {
		daemon.Pid, daemon.Start = t.pid, t.start
		o.Process, o.Terminal = daemon, Terminal(t.getenv)
		o.Launcher = launcherID(t.getenv("BECKON_AGENT_ID"))
	}
}

// sitting is a client of a daemon, in its terminal.
type sitting struct {
	pid    int
	start  string
	began  event.Millis // by the wall clock
	args   string
	getenv env
}

// opening is how long, in milliseconds, a client takes at most to open its session.
const opening = 10_000

// opener returns which of the clients in a session's directory has it open: the only one, else
// the one that was started with its id, else the one that started right before the session,
// and no other nearly as late.
func opener(all []sitting, e *event.Event) *sitting {
	if len(all) == 1 {
		return &all[0]
	}
	if i := slices.IndexFunc(all, func(t sitting) bool { return e.SessionID != "" && strings.Contains(t.args, e.SessionID) }); i >= 0 {
		return &all[i]
	}
	born, ok := madeAt(e.SessionID)
	if !ok || e.Source == "resume" {
		return nil
	}
	before := slices.DeleteFunc(all, func(t sitting) bool { return t.began > born })
	slices.SortFunc(before, func(a, b sitting) int { return int(b.began - a.began) })
	switch {
	case len(before) == 0 || born-before[0].began > opening:
		return nil
	case len(before) > 1 && born-before[1].began < 3*(born-before[0].began):
		return nil
	}
	return &before[0]
}

// madeAt returns the time in a UUID of version 7.
func madeAt(id string) (event.Millis, bool) {
	if len(id) != 36 || id[8] != '-' || id[14] != '7' {
		return 0, false
	}
	ms, err := strconv.ParseInt(id[:8]+id[9:13], 16, 64)
	return event.Millis(ms), err == nil
}
