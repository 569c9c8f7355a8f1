package web

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"io"
	"mime"
	"net/http"
	"regexp"
	"strconv"
	"strings"
	"time"

	"beckon/event"
	"beckon/event/policy/wire"
	"beckon/render/web/access"
	"beckon/state"
	"beckon/state/evidence"
	"beckon/state/store"

	"github.com/tidwall/gjson"
	"golang.org/x/sync/semaphore"
)

// hookAnswer is a response of the hook endpoints: ok, ignored or error.
type hookAnswer struct {
	Status  string `json:"status"`
	Message string `json:"message,omitempty"`
	Reason  string `json:"reason,omitempty"` // events are ignored
}

// badHook is an event that cannot be taken.
func badHook(message string) error {
	return access.NewFault(http.StatusBadRequest, "bad_hook", message, "")
}

// hook serves POST /hook in three formats: a question of the protocol ({"version", "event":
// {...}, "data"}), the envelope ({"agent", "event", "hookInput", ...}), and the agent's own
// payload, as posted by its http hooks. ?agent= and ?event= name the agent and the event of
// payloads that do not.
func (s *Server) hook(w http.ResponseWriter, r *http.Request, body []byte, v gjson.Result) (any, error) {
	// The formats are told apart by members that the others cannot have.
	q := r.URL.Query()
	switch e := v.Get("event"); {
	case e.IsObject() && v.Get("version").Exists(): // a question is not an event: it is answered in any case
		return s.protocol(w, r, body)
	case s.o.Closed:
		return ignored, nil
	case v.Get("hook_event_name").Type != gjson.String && e.Type == gjson.String:
		return s.envelope(body)
	case v.Get("hook_event_name").Type == gjson.String, q.Get("event") != "", q.Get("agent") != "":
		return s.payload(w, r, body)
	}
	return nil, badHook("Missing required fields: event")
}

// ignored is the response if events are not accepted: it is not an error, because the sender need do
// nothing.
var ignored = hookAnswer{Status: "ignored", Reason: "hooks_disabled"}

// envelope handles an event in the unified envelope.
func (s *Server) envelope(body []byte) (any, error) {
	e, err := event.ParseEnvelope(body)
	if err := s.unfit(&e, err); err != nil {
		return nil, err
	}
	_, err = s.fold(&e)
	return access.Done, err
}

// unfit returns why an event cannot be folded, nil if it can. An event that names no session
// then belongs to the one of its terminal or directory.
func (s *Server) unfit(e *event.Event, err error) error {
	if err != nil {
		return badHook("Invalid JSON")
	}
	ok, err := s.o.Store.Identify(e, evidence.ThisMachine().Host)
	s.o.Log(err)
	if !ok {
		return badHook("Missing required fields: session_id")
	}
	return nil
}

// errLater is returned for an event that waits for its session's lock: it is not lost, but its
// effect is not known yet.
var errLater = errors.New("session is busy; the event is kept and will be folded")

// fold folds an event as the hook binary would.
func (s *Server) fold(e *event.Event) (store.Result, error) {
	start := time.Now()
	if e.At == 0 {
		e.At = event.MillisOf(start)
	}
	key := store.KeyOf(e.SessionID)
	res, err := s.o.Store.Fold(key, store.Update{
		Change:  state.Change{At: e.At, Event: e},
		Elapsed: func() int64 { return time.Since(start).Microseconds() },
		Origin:  func(o event.Origin) event.Origin { return s.complete(e, o) },
		Alive:   evidence.Presence,
		Words:   evidence.Words,
	})
	s.feed.Touch()
	if errors.Is(err, store.ErrBusy) {
		return res, errLater
	}
	s.o.Log(err)
	return res, err
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

const (
	maxBody = 16 << 20
	// smallBody is the largest body of an event that is read at any time. Larger ones wait for a part of
	// maxBody, so that the memory for them is bounded, for largeWait; their senders then have largeTime.
	// Over loopback the largest takes a few milliseconds.
	smallBody = 16 << 10
	largeWait = 2 * time.Second
	largeTime = 5 * time.Second
	// maxQuestion is the largest body of a request of the API.
	maxQuestion = 256 << 10
)

// What may be wrong with a body.
var (
	errTooLarge = access.NewFault(http.StatusRequestEntityTooLarge, "bad_body", "body is too large", "")
	errNotJSON  = access.NewFault(http.StatusBadRequest, "bad_body", "Content-Type must be application/json", "")
	errBusy     = access.NewFault(http.StatusServiceUnavailable, "bad_body", "too many requests at once", "")
	errBody     = access.NewFault(http.StatusRequestTimeout, "bad_body", "body could not be read", "")
)

func isJSON(r *http.Request) bool {
	t, _, err := mime.ParseMediaType(r.Header.Get("Content-Type"))
	return err == nil && (t == "application/json" || strings.HasSuffix(t, "+json"))
}

// posted returns a handler of JSON objects that are posted to the hook endpoints. invalid is what it
// says of other bodies.
func (s *Server) posted(
	invalid string, h func(w http.ResponseWriter, r *http.Request, body []byte, v gjson.Result) (any, error),
) handler {
	return func(w http.ResponseWriter, r *http.Request) (any, error) {
		size := r.ContentLength
		switch {
		case !isJSON(r):
			return nil, errNotJSON
		case size > maxBody:
			return nil, errTooLarge
		case size < 0:
			size = maxBody
		}
		if size > smallBody {
			ctx, cancel := context.WithTimeout(r.Context(), largeWait)
			defer cancel()
			if s.large.Acquire(ctx, size) != nil {
				return nil, errBusy
			}
			defer s.large.Release(size)
			_ = http.NewResponseController(w).SetReadDeadline(time.Now().Add(largeTime))
		}
		body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxBody))
		if _, tooLarge := errors.AsType[*http.MaxBytesError](err); tooLarge {
			return nil, errTooLarge
		}
		if err != nil {
			return nil, errBody
		}
		short, err := event.Check(body)
		v := gjson.ParseBytes(short)
		if err != nil || !v.IsObject() {
			return nil, access.NewFault(http.StatusBadRequest, "bad_body", invalid, "")
		}
		return h(w, r, body, v)
	}
}

// read parses the body of a request of the API into v.
func read(r *http.Request, v any, example string) error {
	if !isJSON(r) {
		return errNotJSON
	}
	d := json.NewDecoder(http.MaxBytesReader(nil, r.Body, maxQuestion))
	d.DisallowUnknownFields()
	err := d.Decode(v)
	if _, tooLarge := errors.AsType[*http.MaxBytesError](err); tooLarge {
		return errTooLarge
	}
	if err != nil {
		return access.NewFault(http.StatusBadRequest, "bad_body", "the body is not what this path takes", example)
	}
	return nil
}

// Policy answers what is posted to /hook by the user's policy.
type Policy interface {
	// Ask answers a question of protocol 1.0. An error says what is wrong with the question.
	Ask(ctx context.Context, q Question) (answer []byte, err error)
	// Answer returns the answer for the client that posted an event, in the format of its http
	// hooks; nil for none. note must be called after the event is folded, and records the
	// decision in the session.
	Answer(ctx context.Context, q Question) (answer []byte, note func())
}

// Question is a request to a Policy.
type Question = wire.Posted

func questionOf(r *http.Request, body []byte) Question {
	q := r.URL.Query()
	hops, _ := strconv.Atoi(r.Header.Get(wire.HopsHeader)) // no header counts as 0
	return Question{
		Body:    body,
		Agent:   q.Get("agent"),
		Event:   q.Get("event"),
		Hops:    max(hops, 0),
		Foreign: !access.OwnPeer(r),
	}
}

// protocol answers a question of protocol 1.0. It is not an event of this machine, so nothing
// is folded.
func (s *Server) protocol(w http.ResponseWriter, r *http.Request, body []byte) (any, error) {
	q := questionOf(r, body)
	defer s.enter(r.Context(), s.deciding, &q)()
	answer, err := s.o.Policy.Ask(r.Context(), q)
	switch {
	case s.ctx.Err() != nil:
		return nil, errStopping
	case err != nil:
		return nil, badHook(err.Error())
	}
	access.Bytes(w, http.StatusOK, "application/json", answer)
	return nil, nil
}

// payload handles an event in the client's own format, and answers like the client's http
// hooks. An event passed on by another policy was folded where it came from.
func (s *Server) payload(w http.ResponseWriter, r *http.Request, body []byte) (any, error) {
	q := questionOf(r, body)
	e, err := event.Parse(q.Agent, q.Event, body)
	if err := s.unfit(&e, err); err != nil {
		return nil, err
	}
	e.At = event.MillisOf(time.Now())
	q.At = e.At
	fold := func() {
		if q.Hops == 0 {
			_, err = s.fold(&e)
		}
	}
	ends := e.Kind == event.Stop || e.Kind == event.SubagentStop
	if !ends {
		fold()
	}
	answer, note := s.policyAnswer(r.Context(), e.Kind, q)
	if ends { // until there is an answer the client is at work (testdata/lab/HOOKS.md)
		fold()
	}
	note()
	switch {
	case s.ctx.Err() != nil: // not an empty answer: the client tells its user that nobody was asked
		return nil, errStopping
	case len(answer) > 0:
		access.Bytes(w, http.StatusOK, "application/json", answer)
		return nil, nil
	}
	return struct{}{}, err // the client reads an object as a decision; an empty one decides nothing
}

func (s *Server) policyAnswer(ctx context.Context, kind event.Kind, q Question) (answer []byte, note func()) {
	places := s.noting
	if kind == event.PreToolUse || kind == event.PermissionRequest {
		places = s.deciding
	}
	defer s.enter(ctx, places, &q)()
	return s.o.Policy.Answer(ctx, q)
}

var errStopping = access.NewFault(http.StatusServiceUnavailable, "stopping", "the server stops", "")

const (
	// maxDeciding and maxNoting are how many events a policy handles at once: each may run
	// commands.
	maxDeciding = 32
	maxNoting   = 16
	// policyWait is how long others wait: a policy has 25 s, and the answer must be out before
	// writeTimeout.
	policyWait = 4 * time.Second
)

// enter waits for a place at l. If there is none for policyWait, q says so. leave must be called in any
// case.
func (s *Server) enter(ctx context.Context, l *semaphore.Weighted, q *Question) (leave func()) {
	ctx, cancel := context.WithTimeout(ctx, policyWait)
	defer cancel()
	if l.Acquire(ctx, 1) != nil {
		q.Busy = true
		s.feed.meter.refused("policy_busy")
		return func() {}
	}
	return func() { l.Release(1) }
}
