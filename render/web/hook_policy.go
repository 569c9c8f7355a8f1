package web

import (
	"context"
	"net/http"
	"strconv"
	"time"

	"beckon/event"
	"beckon/event/policy/wire"
	"beckon/render/web/access"
	"beckon/render/web/respond"
	"beckon/state"
	"beckon/state/request"
	"beckon/state/store"

	"golang.org/x/sync/semaphore"
)

// Policy answers what is posted to /hook by the user's policy.
type Policy interface {
	// Ask answers a question of protocol 1.0. An error says what is wrong with the question.
	Ask(ctx context.Context, q Question) (answer []byte, err error)
	// Answer returns the answer for the client that posted an event, in the format of its http
	// hooks; nil for none. note must be called after the event is folded, and records the
	// decision in the session. held, unless it is nil, then asks the user, who may answer from
	// elsewhere.
	Answer(ctx context.Context, q Question) (answer []byte, note func(), held request.Waiting)
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
		Peer:    access.Host(r.RemoteAddr),
		Asks:    r.Header.Get(wire.AcceptHeader) == wire.AcceptAsk,
	}
}

// protocol answers a question of protocol 1.0. It is not an event of this machine, so nothing
// is folded.
func (s *Server) protocol(w http.ResponseWriter, r *http.Request, body []byte) error {
	if s.o.Policy == nil {
		return respond.NewFault(http.StatusNotImplemented, "no_policy", "no policy is served here", "")
	}
	q := questionOf(r, body)
	leave, err := enter(r.Context(), s.deciding)
	defer leave()
	q.Busy = err != nil
	answer, err := s.o.Policy.Ask(r.Context(), q)
	switch {
	case s.ctx.Err() != nil:
		return stopping(w)
	case err != nil:
		return badHook(err.Error())
	}
	respond.Bytes(w, http.StatusOK, "application/json", answer)
	return nil
}

// payload handles an event in the client's own format, and answers like the client's http
// hooks. An event passed on by another policy was folded where it came from.
func (s *Server) payload(w http.ResponseWriter, r *http.Request, body []byte) error {
	start := time.Now()
	q := questionOf(r, body)
	var bad bool
	if q.Wait, bad = waitOf(r); bad {
		return badHook("wait is a number of seconds, up to 86400")
	}
	e, err := event.Parse(q.Agent, q.Event, body)
	if err := s.unfit(&e, err); err != nil {
		return err
	}
	e.At = event.MillisOf(time.Now())
	q.At = e.At
	var res store.Result
	fold := func() {
		if q.Hops == 0 {
			res, err = s.fold(&e, start)
		}
	}
	ends := e.Kind == event.Stop || e.Kind == event.SubagentStop
	if !ends {
		fold()
	}
	answer, note, held := s.policyAnswer(r.Context(), e.Kind, q)
	if ends { // until there is an answer the client is at work (testdata/lab/HOOKS.md)
		fold()
	}
	note()
	if held != nil && len(body) <= maxQuestion && s.held(w, r, held, &res.After) {
		return nil
	}
	switch {
	case s.ctx.Err() != nil: // not an empty answer: the client tells its user that nobody was asked
		return stopping(w)
	case len(answer) > 0:
		respond.Bytes(w, http.StatusOK, "application/json", answer)
		return nil
	case err != nil:
		return err
	}
	return respond.OK(w, struct{}{}) // the client reads an object as a decision; an empty one decides nothing
}

func (s *Server) policyAnswer(ctx context.Context, kind event.Kind, q Question) (
	answer []byte, note func(), held request.Waiting,
) {
	if s.o.Policy == nil {
		return nil, func() {}, nil
	}
	places := s.noting
	if kind == event.PreToolUse || kind == event.PermissionRequest {
		places = s.deciding
	}
	leave, err := enter(ctx, places)
	defer leave()
	if q.Busy = err != nil; q.Busy {
		s.feed.meter.refused("policy_busy")
	}
	return s.o.Policy.Answer(ctx, q)
}

// stopping refuses an event because the server stops.
func stopping(w http.ResponseWriter) error {
	w.Header().Set("Retry-After", "1")
	return respond.NewFault(http.StatusServiceUnavailable, "stopping", "the server stops", "")
}

const (
	// maxDeciding and maxNoting are how many events a policy handles at once: each may run
	// commands.
	maxDeciding = 32
	maxNoting   = 16
	// policyWait is how long others wait: a policy has 25 s, and the answer must be out before
	// writeTimeout.
	policyWait = 4 * time.Second
)

// enter waits for a place at l, and returns an error if there is none for policyWait. leave must be
// called in any case.
func enter(ctx context.Context, l *semaphore.Weighted) (leave func(), err error) {
	ctx, cancel := context.WithTimeout(ctx, policyWait)
	defer cancel()
	if err := l.Acquire(ctx, 1); err != nil {
		return func() {}, err
	}
	return func() { l.Release(1) }, nil
}

const (
	// maxWaiting is how many requests may wait for a person at once; further ones get a response
	// at once, and their questions stay where they are asked.
	maxWaiting = 64
	// maxWait is the longest wait that a sender may announce, and margin how much earlier it
	// gets a response.
	maxWait = 24 * time.Hour
	margin  = time.Second
	// answerWait is how long a sender may take to read its response.
	answerWait = 10 * time.Second
)

// waitOf returns how long the sender of r announces to wait for a person's answer.
func waitOf(r *http.Request) (wait time.Duration, bad bool) {
	text := r.URL.Query().Get("wait")
	if text == "" {
		return 0, false
	}
	n, err := strconv.Atoi(text)
	wait = time.Duration(n) * time.Second
	if err != nil || n < 0 || n > int(maxWait.Seconds()) {
		return 0, true
	}
	return max(0, wait-margin), false
}

// held holds a request until the user has answered it, and reports whether they did.
func (s *Server) held(
	w http.ResponseWriter, r *http.Request, held request.Waiting, session *state.Session,
) (answered bool) {
	defer s.holding.Add(-1)
	if s.holding.Add(1) > maxWaiting {
		s.feed.meter.refused("too_many_held")
		return false
	}
	rc := http.NewResponseController(w)
	_ = rc.SetReadDeadline(time.Time{}) // the one for ordinary requests
	_ = rc.SetWriteDeadline(time.Time{})
	late := func() { _ = rc.SetWriteDeadline(time.Now().Add(answerWait)) }
	defer late() // for a caller that answers instead of the user
	held(r.Context(), session, func(answer []byte) error {
		if err := r.Context().Err(); err != nil {
			return err
		}
		late()
		answered = true
		respond.Bytes(w, http.StatusOK, "application/json", answer)
		return rc.Flush()
	})
	return answered
}
