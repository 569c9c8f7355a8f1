package web

import (
	"cmp"
	"regexp"
	"sync"

	"beckon/event"
	"beckon/state"
	"beckon/state/evidence"

	"github.com/tidwall/gjson"
)

// paneID matches tmux's name of a pane, which may become part of a command line.
var paneID = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^%[0-9]{1,9}$`) })

// place reads from a tracked hook's body where it ran. No directory is refused: sessions in
// /tmp, and of unregistered projects, count as well.
func (s *Server) place(e *event.Event, v gjson.Result) {
	if e.Cwd == "" {
		e.Cwd = text(v.Get("working_directory"), event.MaxPath)
	}
	o := event.Origin{Launcher: launcher(text(v.Get("headspace_session_id"), 128))}
	if o.Launcher == "" {
		o.Launcher = launcher(text(v.Get("launcher_id"), 128))
	}
	if pane := text(v.Get("tmux_pane"), event.MaxID); paneID().MatchString(pane) {
		o.Terminal = event.Terminal{Kind: "tmux", ID: pane, Tmux: event.Tmux{Pane: pane}}
	}
	o.Terminal.Tmux.Session = text(v.Get("tmux_session"), event.MaxID)
	if o != (event.Origin{}) {
		e.Origin = &o
	}
}

// launcherID matches the ids that a launcher may give its session.
var launcherID = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9_.:-]*$`) })

func launcher(id string) string {
	if !launcherID().MatchString(id) {
		return ""
	}
	return id
}

func text(v gjson.Result, limit int) string {
	if v.Type != gjson.String {
		return ""
	}
	return event.Cut(v.Str, limit)
}

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

// taskOf returns the task's state in a tracker's words: that of the open task, else idle. A
// prompt commands and starts the work in one step, and the end of a session completes what was
// open.
func taskOf(s *state.Session) state.TaskState {
	switch t := s.Task; {
	case s.End.At != 0:
		return state.TaskComplete
	case t.State == state.TaskCommanded:
		return state.TaskProcessing
	case t.Open():
		return t.State
	}
	return state.TaskIdle
}
