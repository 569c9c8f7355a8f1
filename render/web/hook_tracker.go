package web

import (
	"cmp"
	"net/http"
	"regexp"
	"strings"

	"beckon/event"
	"beckon/render/web/access"
	"beckon/state"
	"beckon/state/evidence"
	"beckon/state/store"

	"github.com/tidwall/gjson"
)

// tracked are the trackers' endpoints, one for each event.
var tracked = map[string]event.Kind{
	"session-start":      event.SessionStart,
	"session-end":        event.SessionEnd,
	"user-prompt-submit": event.UserPromptSubmit,
	"stop":               event.Stop,
	"notification":       event.Notification,
	"pre-tool-use":       event.PreToolUse,
	"post-tool-use":      event.PostToolUse,
	"permission-request": event.PermissionRequest,
}

// answer is the response of the eight endpoints, with the members that the senders expect, each some
// of them. States are those of the task, in lower case.
type answer struct {
	Status  string          `json:"status"`
	AgentID string          `json:"agent_id"` // the seat
	IsNew   bool            `json:"is_new_agent"`
	Method  store.Method    `json:"correlation_method"`
	State   state.TaskState `json:"state"`
	Changed bool            `json:"state_changed"`
	New     state.TaskState `json:"new_state"`
}

func (s *Server) trackedHook(_ http.ResponseWriter, r *http.Request, body []byte, v gjson.Result) (any, error) {
	kind, ok := tracked[r.PathValue("name")]
	if !ok {
		return nil, access.NewFault(http.StatusNotFound, "not_found", "No such hook", "")
	}
	if s.o.Closed {
		return ignored, nil
	}
	e, err := event.Parse("", string(kind), body)
	if err == nil && e.Kind != kind {
		return nil, badHook("hook_event_name says otherwise than the path")
	}
	if err != nil || strings.TrimSpace(e.SessionID) == "" {
		return nil, badHook("Missing required fields: session_id")
	}
	e.Name = string(kind)
	place(&e, v)
	res, err := s.fold(&e)
	before, after := taskOf(&res.Before), taskOf(&res.After)
	return answer{
		Status:  "ok",
		AgentID: res.After.Seat,
		IsNew:   res.New && res.Method == store.Created,
		Method:  cmp.Or(res.Method, store.BySessionID),
		State:   after,
		Changed: before != after,
		New:     after,
	}, err
}

// paneID is a pane of tmux, which may become part of a command line.
var paneID = regexp.MustCompile(`^%[0-9]{1,9}$`)

// place reads from a tracked hook's body where it ran. No directory is refused: sessions in
// /tmp, and of unregistered projects, count as well.
func place(e *event.Event, v gjson.Result) {
	e.Cwd = cmp.Or(e.Cwd, event.Cut(v.Get("working_directory").Str, event.MaxPath))
	o := event.Origin{Launcher: evidence.LauncherID(cmp.Or(v.Get("headspace_session_id").Str, v.Get("launcher_id").Str))}
	if pane := v.Get("tmux_pane").Str; paneID.MatchString(pane) {
		o.Terminal = event.Terminal{Kind: "tmux", ID: pane, Tmux: event.Tmux{Pane: pane}}
	}
	o.Terminal.Tmux.Session = event.Cut(v.Get("tmux_session").Str, event.MaxID)
	if o != (event.Origin{}) {
		e.Origin = &o
	}
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
