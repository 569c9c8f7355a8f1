package evidence

import "beckon/event"

// Origin reads where the hook of e runs: process, terminal, repository and project. getenv is
// the hook's environment. It is read on SessionStart, at first sight and when the directory has
// changed. The store fills in Seat and ProjectID.
func Origin(e *event.Event, getenv func(string) string) *event.Origin {
	here := ThisMachine()
	agent, g := e.Agent, Git(e.Cwd)
	o := &event.Origin{
		Process:  Agent(agent, here, getenv),
		Terminal: Terminal(getenv),
		Git:      g,
		Host:     here.Host,
		Launcher: launcherID(getenv("BECKON_AGENT_ID")),
		Project:  Project(e.Cwd, g),
	}
	a := event.AgentOf(agent)
	switch {
	case a != nil && a.Name == event.ClaudeCode:
		o.Entry = clean(getenv("CLAUDE_CODE_ENTRYPOINT"), event.MaxID)
	case daemonOf(a, o.Process.Pid, getenv):
		relocate(o, e)
	}
	return o
}

// maxLauncher bounds BECKON_AGENT_ID; a UUID has 36 characters.
const maxLauncher = 128

// launcherID returns s if it looks like an id, else nothing: a launcher's id becomes part of a
// session's identity, which half a sentence must not.
func launcherID(s string) string {
	if s == "" || len(s) > maxLauncher {
		return ""
	}
	for i := 0; i < len(s); i++ {
		c := s[i]
		alnum := c >= '0' && c <= '9' || c|0x20 >= 'a' && c|0x20 <= 'z'
		if !alnum && (i == 0 || c != '-' && c != '_' && c != '.' && c != ':') {
			return ""
		}
	}
	return s
}
