package web

import (
	"cmp"
	"errors"
	"net/http"
	"time"

	"beckon/event"
	"beckon/render/web/respond"
	"beckon/state"
	"beckon/state/evidence"
	"beckon/state/store"

	"github.com/tidwall/gjson"
)

// okAnswer is the response to the envelope.
type okAnswer struct {
	Status  string `json:"status"`
	Message string `json:"message,omitempty"`
}

// hook serves POST /hook in three formats: a question of the protocol ({"version", "event":
// {...}, "data"}), the envelope ({"agent", "event", "hookInput", ...}), and the agent's own
// payload, as posted by its http hooks. ?agent= and ?event= name the agent and the event of
// payloads that do not.
func (s *Server) hook(w http.ResponseWriter, r *http.Request) {
	start := time.Now()
	body, v, done, ok := s.hookBody(w, r, "Invalid JSON")
	defer done()
	if !ok {
		return
	}
	// The formats are told apart by members that the others cannot have.
	q := r.URL.Query()
	switch e := v.Get("event"); {
	case e.IsObject() && v.Get("version").Exists(): // a question is not an event: it is answered in any case
		s.protocol(w, r, body, done)
	case s.closed(w):
	case v.Get("hook_event_name").Type != gjson.String && e.Type == gjson.String:
		s.envelope(w, body, start)
	case v.Get("hook_event_name").Type == gjson.String, q.Get("event") != "", q.Get("agent") != "":
		s.payload(w, r, body, done, start)
	default:
		writeHookError(w, http.StatusBadRequest, "Missing required fields: event")
	}
}

// hookBody reads a body and its members. If that fails it sends the response; done must be
// called in any case.
func (s *Server) hookBody(w http.ResponseWriter, r *http.Request, invalid string) (body []byte, v gjson.Result, done func(), ok bool) {
	body, done, wrong := s.body(w, r)
	if wrong != nil {
		s.meter.Refused("bad_body")
		writeHookError(w, wrong.Status, wrong.Message)
		return nil, v, done, false
	}
	short, err := event.Check(body)
	if err == nil {
		v = gjson.ParseBytes(short)
	}
	if err != nil || !v.IsObject() {
		s.meter.Refused("bad_body")
		writeHookError(w, http.StatusBadRequest, invalid)
		return nil, v, done, false
	}
	return body, v, done, true
}

// ignored is the response if events are not accepted: it is not an error, because the sender
// need do nothing.
type ignored struct {
	Status string `json:"status"`
	Reason string `json:"reason"`
}

// closed responds if events are not accepted, and reports whether it did.
func (s *Server) closed(w http.ResponseWriter) bool {
	if s.o.Closed {
		respond.JSON(w, http.StatusOK, ignored{"ignored", "hooks_disabled"})
	}
	return s.o.Closed
}

// envelope handles an event in the unified envelope.
func (s *Server) envelope(w http.ResponseWriter, body []byte, start time.Time) {
	e, err := event.ParseEnvelope(body)
	if fail := s.unfit(&e, err); fail != "" {
		writeHookError(w, http.StatusBadRequest, fail)
		return
	}
	if _, err = s.fold(&e, start); err != nil {
		s.writeFoldError(w, err)
		return
	}
	_ = respond.Done(w)
}

// unfit returns why an event cannot be folded, "" if it can. An event that names no session
// then belongs to the one of its terminal or directory.
func (s *Server) unfit(e *event.Event, err error) string {
	if err != nil {
		return "Invalid JSON"
	}
	ok, err := s.o.Store.Identify(e, evidence.ThisMachine().Host)
	if err != nil {
		s.o.Log(err)
	}
	if !ok {
		return "Missing required fields: session_id"
	}
	return ""
}

// errLater is returned for an event that waits for its session's lock: it is not lost, but its
// effect is not known yet.
var errLater = errors.New("session is busy; the event is kept and will be folded")

// fold folds an event as the hook binary would.
func (s *Server) fold(e *event.Event, start time.Time) (store.Result, error) {
	if e.At == 0 {
		e.At = s.tick()
	}
	key := store.KeyOf(e.SessionID)
	res, err := s.o.Store.Fold(key, store.Update{
		Change:   state.Change{At: e.At, Event: e},
		Elapsed:  func() int64 { return time.Since(start).Microseconds() },
		Complete: func(o event.Origin) event.Origin { return s.complete(e, o) },
		Alive:    evidence.Presence,
		Words:    evidence.Words,
	})
	s.feed.Touch(key)
	if errors.Is(err, store.ErrBusy) {
		return res, errLater
	}
	if err != nil {
		s.o.Log(err)
	}
	return res, err
}

// stepBack is how far the clock may have been set back for times to go on from the newest one,
// in milliseconds.
const stepBack = 1000

// tick returns the time of an event or action that has just arrived. Two in the same
// millisecond would have no order.
func (s *Server) tick() event.Millis {
	for {
		now, last := time.Now().UnixMilli(), s.last.Load()
		next := max(now, last+1)
		if last-now > stepBack {
			next = now
		}
		if s.last.CompareAndSwap(last, next) {
			return event.Millis(next)
		}
	}
}

func (s *Server) writeFoldError(w http.ResponseWriter, err error) {
	switch {
	case errors.Is(err, errLater):
		respond.JSON(w, http.StatusAccepted, okAnswer{"ok", err.Error()})
	default: // no detail: it may name files
		writeHookError(w, http.StatusInternalServerError, "Internal processing error")
	}
}

// writeHookError writes an error in the format of the hook endpoints.
func writeHookError(w http.ResponseWriter, status int, message string) {
	respond.JSON(w, status, okAnswer{"error", message})
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
	records, _ := evidence.Registry(s.o.Registry) // an unreadable directory counts as empty
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
