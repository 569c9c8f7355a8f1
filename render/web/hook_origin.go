package web

import (
	"cmp"

	"beckon/event"
	"beckon/state/evidence"
)

// complete adds to o what this machine knows: the repository of the directory, and the
// process, if the client's registry has the session. It knows nothing about another host.
func (s *Server) complete(e *event.Event, o event.Origin) event.Origin {
	here := evidence.ThisMachine()
	if o.Host == "" || o.Host == here.Host {
		o.Host = here.Host
		read := evidence.Git(e.Cwd)
		read.Branch = cmp.Or(o.Git.Branch, read.Branch)
		read.Repo = cmp.Or(o.Git.Repo, read.Repo)
		o.Git = read
		o.Project = evidence.Project(e.Cwd, o.Git)
		if o.Process.Pid == 0 {
			o.Process = s.process(e.SessionID, here)
		}
	}
	o.ProjectID = evidence.ProjectID(o.Git, o.Project)
	return o
}

// process returns the agent's process for its session id.
func (s *Server) process(session string, here evidence.Machine) event.Process {
	if s.o.Registry == "" {
		return event.Process{}
	}
	records, _ := evidence.Registry(s.o.Registry, "") // an unreadable directory counts as empty
	for _, r := range records {
		if r.SessionID != session {
			continue
		}
		if p, ok := evidence.Process(r.Pid, here); ok && evidence.Match(r, p) {
			return p
		}
	}
	return event.Process{}
}
