// Package evidence reads what hooks cannot report: which process an agent is and whether it
// still runs, where it sits (terminal, repository), what the client writes in its registry,
// and whether its transcript ends in a halt (read by package transcript). Package live joins
// evidence and sessions for every view; state.Resolve decides what they mean together.
//
// It guarantees: every read is bounded; what cannot be read, or has an unknown form, gives an empty or
// unknown value, never a guess; nothing it returns holds a secret of the environment. It hangs with a
// file system that hangs, so a caller with a deadline needs a timer beside it.
//
// The hook links this package: it imports neither os/exec nor net, and does no work at start.
package evidence

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"os"
	"strings"
	"unicode"

	"beckon/event"
	"beckon/event/transcript"
)

// Machine is where a reader or hook runs. Processes can be compared only within one machine.
type Machine struct {
	Host string // host name
	Boot string // boot id of the kernel; empty on Windows and if it cannot be read
	NS   string // pid namespace, "pid:[4026531836]"; Linux only

	// ID identifies the installation of the operating system across boots; where it has no id, as in many
	// containers, by the host's name.
	ID     string
	Booted event.Millis // when this boot began, by the wall clock; 0 if unknown
}

// ThisMachine reads the machine, which does not change while a process runs.
func ThisMachine() Machine {
	host, _ := os.Hostname()
	return Machine{
		Host:   clean(host, event.MaxID),
		Boot:   bootID(),
		NS:     pidNamespace(),
		ID:     digest(cmp.Or(machineID(), host)),
		Booted: booted(),
	}
}

// identifies reports whether a host's name identifies it: any machine may be called localhost.
func identifies(host string) bool {
	return host != "" && host != "localhost" && !strings.HasPrefix(host, "localhost.")
}

// digest returns what is kept of a machine's id, which is confidential.
func digest(id string) string {
	if !identifies(id) {
		return ""
	}
	sum := sha256.Sum256([]byte("beckon " + id))
	return hex.EncodeToString(sum[:8])
}

// clean returns s without control characters, as valid UTF-8, cut to max bytes. Everything from the
// environment or a file passes through it, so that a name cannot control a terminal.
func clean(s string, max int) string {
	visible := func(r rune) rune {
		if unicode.IsControl(r) {
			return '?'
		}
		return r
	}
	return event.Cut(strings.Map(visible, strings.ToValidUTF8(s, "\uFFFD")), max)
}

const letters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"

// digits reports whether s is a decimal number that fits an int64.
func digits(s string) bool { return s != "" && len(s) <= 18 && strings.Trim(s, "0123456789") == "" }

// Origin reads where the hook of e runs. getenv is the hook's environment. The store fills in Seat.
func Origin(e *event.Event, getenv func(string) string) *event.Origin {
	here := ThisMachine()
	agent, g := e.Agent, Git(e.Cwd)
	o := &event.Origin{
		Process:  Agent(agent, here, getenv),
		Terminal: Terminal(getenv),
		Git:      g,
		Host:     here.Host,
		Launcher: LauncherID(getenv("BECKON_AGENT_ID")),
		Project:  Project(e.Cwd, g),
	}
	o.ProjectID = ProjectID(g, o.Project)
	a := event.AgentOf(agent)
	switch {
	case a != nil && a.Name == event.ClaudeCode:
		o.Entry = clean(getenv("CLAUDE_CODE_ENTRYPOINT"), event.MaxID)
	case daemonOf(a, o.Process.Pid, getenv):
		relocate(o, e)
	}
	return o
}

// LauncherID returns s, which a launcher gave its session, if it looks like an id, else nothing.
func LauncherID(s string) string {
	const marks, most = "-_.:", 128
	if len(s) > most || strings.Trim(s, letters+marks) != "" || strings.TrimLeft(s, marks) != s {
		return ""
	}
	return s
}

// Local reports whether o's files are on this machine.
func Local(o *event.Origin) bool { return o.Host == "" || o.Host == ThisMachine().Host }

// Words returns the agent's last message in the transcript at path, and when it was written; nothing if
// the agent has gone on since, or if o is another machine, whose files are not this one's.
func Words(o *event.Origin, path string) (text string, at event.Millis) {
	return LastWords(o, path, transcript.MaxText)
}

// LastWords is Words cut to the last most bytes of the text.
func LastWords(o *event.Origin, path string, most int) (text string, at event.Millis) {
	if path == "" || !Local(o) {
		return "", 0
	}
	last, _ := transcript.LastWords(path, most) // one that cannot be read has nothing
	return last.Text, last.At
}
