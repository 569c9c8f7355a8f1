package web

import (
	"context"
	"crypto/sha256"
	"errors"
	"net/http"
	"strconv"
	"sync"
	"time"

	"beckon/event"
)

// Policy answers what is posted to /hook from what the user decided.
type Policy interface {
	// Ask answers a question of protocol 1.0. An error says what is wrong with
	// the question.
	Ask(ctx context.Context, q Question) (answer []byte, err error)
	// Answer returns what the client is told of an event that it posted, in
	// the form of its http hooks; nil for nothing. note is called once the
	// event is folded, and notes in the session what was decided of it.
	Answer(ctx context.Context, q Question) (answer []byte, note func())
}

// Question is what is put to a Policy.
type Question struct {
	Body         []byte
	Agent, Event string       // as the address names them, empty when it does not
	At           event.Millis // the event's time
	Hops         int          // how many policies have handed it on
}

// hopsHeader is set on what a policy hands on (handler.HopsHeader).
const hopsHeader = "Beckon-Hops"

func questionOf(r *http.Request, body []byte) Question {
	q := r.URL.Query()
	hops, _ := strconv.Atoi(r.Header.Get(hopsHeader)) // none is none
	return Question{Body: body, Agent: q.Get("agent"), Event: q.Get("event"), Hops: max(hops, 0)}
}

const (
	// maxAsking is how many events are before a policy at once: each may run
	// commands.
	maxAsking = 32
	// maxWaiting is how many more may wait for that, and policyWait how long: a
	// policy has 25 s, and the answer must be out before writeTimeout.
	maxWaiting = 256
	policyWait = 4 * time.Second
	// askedFor is how long an answer is kept for who asks again.
	askedFor = time.Minute
	// maxAsked is how many answers are kept; further ones are not.
	maxAsked = 1024
)

// asked keeps the answers to the newest questions. Who did not wait long enough
// and asks again, with the same bytes, gets the answer to the first time: no
// command runs twice for one event.
type asked struct {
	mu  sync.Mutex
	all map[[sha256.Size]byte]*asking
}

// asking is one question, answered when done is closed.
type asking struct {
	at     time.Time
	done   chan struct{}
	answer []byte
	err    error
}

// join returns the question that is asked in body, and whether it is new.
func (a *asked) join(body []byte, now time.Time) (q *asking, first bool) {
	key := sha256.Sum256(body)
	a.mu.Lock()
	defer a.mu.Unlock()
	if q := a.all[key]; q != nil && now.Sub(q.at) < askedFor {
		return q, false
	}
	if len(a.all) >= maxAsked {
		for k, q := range a.all {
			if now.Sub(q.at) >= askedFor {
				delete(a.all, k)
			}
		}
	}
	q = &asking{at: now, done: make(chan struct{})}
	if len(a.all) < maxAsked {
		a.all[key] = q
	}
	return q, true
}

// forget lets a question that nobody could be asked be asked again.
func (a *asked) forget(body []byte) {
	a.mu.Lock()
	delete(a.all, sha256.Sum256(body))
	a.mu.Unlock()
}

// protocol answers a question of protocol 1.0 (seed 004, row D5). It is no event
// of this machine's: nothing is folded.
func (s *Server) protocol(w http.ResponseWriter, r *http.Request, body []byte, done func()) {
	if s.o.Policy == nil {
		writeHookError(w, http.StatusNotImplemented, "no policy is served here")
		return
	}
	q, first := s.asked.join(body, time.Now())
	if first {
		question := questionOf(r, body)
		s.work.Go(func() {
			defer close(q.done)
			// The asker may come back for the answer: its connection does not end this.
			if q.err = s.enterPolicy(s.ctx); q.err != nil {
				s.asked.forget(body)
				return
			}
			defer s.leavePolicy()
			q.answer, q.err = s.o.Policy.Ask(s.ctx, question)
		})
	}
	release(body, done)
	select {
	case <-q.done:
	case <-r.Context().Done():
		return
	}
	switch {
	case s.ctx.Err() != nil || errors.Is(q.err, errBusy):
		s.busyPolicy(w)
	case q.err != nil:
		writeHookError(w, http.StatusBadRequest, q.err.Error())
	default:
		writeBytes(w, http.StatusOK, "application/json", q.answer)
	}
}

// payload takes an event that the client posts as it is, and answers as the
// client's http hooks are answered. What a policy hands on was folded where it
// came from.
func (s *Server) payload(w http.ResponseWriter, r *http.Request, body []byte, done func(), start time.Time) {
	q := questionOf(r, body)
	e, err := event.Parse(q.Agent, q.Event, body)
	if fail := unfit(&e, err); fail != "" {
		writeHookError(w, http.StatusBadRequest, fail)
		return
	}
	e.At = s.ticks.next(e.SessionID)
	q.At = e.At
	fold := func() {
		if q.Hops == 0 {
			_, err = s.fold(&e, start)
		}
	}
	ends := e.Kind == event.Stop || e.Kind == event.SubagentStop
	if !ends {
		fold()
	}
	release(body, done)
	answer, note, busy := s.policyAnswer(r.Context(), q)
	if ends { // until there is an answer the client is at work (testdata/lab/POLICY.md)
		fold()
	}
	note()
	switch {
	case busy != nil: // not an empty answer: the client tells its user that nobody was asked
		s.busyPolicy(w)
	case len(answer) > 0:
		writeBytes(w, http.StatusOK, "application/json", answer)
	case err != nil:
		s.writeFoldError(w, err)
	default: // the client reads an object as a decision; an empty one is none
		writeJSON(w, http.StatusOK, struct{}{})
	}
}

// release gives a small body's place to others: a policy takes its time.
func release(body []byte, done func()) {
	if len(body) <= smallBody {
		done()
	}
}

func (s *Server) policyAnswer(ctx context.Context, q Question) (answer []byte, note func(), err error) {
	if s.o.Policy == nil {
		return nil, func() {}, nil
	}
	if err := s.enterPolicy(ctx); err != nil {
		return nil, func() {}, err
	}
	defer s.leavePolicy()
	answer, note = s.o.Policy.Answer(ctx, q)
	return answer, note, nil
}

// enterPolicy waits until there is room for one more event before the policy.
// Of those that wait there may only be so many: each holds its body.
func (s *Server) enterPolicy(ctx context.Context) error {
	defer s.waiting.Add(-1)
	if s.waiting.Add(1) > maxWaiting {
		return errBusy
	}
	late := time.NewTimer(policyWait)
	defer late.Stop()
	select {
	case s.asking <- struct{}{}:
		return nil
	case <-late.C:
		return errBusy
	case <-ctx.Done():
		return ctx.Err()
	}
}

// busyPolicy refuses an event that nobody can be asked about now.
func (s *Server) busyPolicy(w http.ResponseWriter) {
	s.meter.refused("policy_busy")
	w.Header().Set("Retry-After", "1")
	writeHookError(w, http.StatusServiceUnavailable, "too many events are before the policy, or the server stops")
}

func (s *Server) leavePolicy() { <-s.asking }
