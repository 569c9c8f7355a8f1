package web

import (
	"context"
	"net/http"
	"strconv"
	"time"

	"beckon/event"
	"beckon/event/policy/wire"
	"beckon/render/web/access"

	"golang.org/x/sync/semaphore"
)

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
