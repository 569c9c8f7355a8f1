package web

import (
	"context"
	"crypto/sha256"
	"fmt"
	"net/http"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"beckon/event"
	"beckon/event/policy/wire"
	"beckon/render/web/access"
	"beckon/render/web/address"
	"beckon/render/web/respond"
	"beckon/state/offer"
	"beckon/state/store"
)

// Policy answers what is posted to /hook by the user's policy.
type Policy interface {
	// Ask answers a question of protocol 1.0. An error says what is wrong with the question.
	Ask(ctx context.Context, q Question) (answer []byte, err error)
	// Answer returns the answer for the client that posted an event, in the format of its http
	// hooks; nil for none. note must be called after the event is folded, and records the
	// decision in the session. held, unless it is nil, then asks the user, who may answer from
	// elsewhere.
	Answer(ctx context.Context, q Question) (answer []byte, note func(), held offer.Held)
}

// Question is a request to a Policy.
type Question = wire.Posted

func questionOf(r *http.Request, body []byte) Question {
	q := r.URL.Query()
	hops, _ := strconv.Atoi(r.Header.Get(wire.HopsHeader)) // no header counts as 0
	return Question{Body: body, Agent: q.Get("agent"), Event: q.Get("event"), Hops: max(hops, 0), Foreign: !access.OwnPeer(r), Peer: address.Host(r.RemoteAddr),
		Asks: r.Header.Get(wire.AcceptHeader) == wire.AcceptAsk}
}

// protocol answers a question of protocol 1.0. It is not an event of this machine, so nothing
// is folded.
func (s *Server) protocol(w http.ResponseWriter, r *http.Request, body []byte, done func()) {
	if s.o.Policy == nil {
		writeHookError(w, http.StatusNotImplemented, "no policy is served here")
		return
	}
	question := questionOf(r, body)
	key := askedKey(question)
	q, first := s.asked.join(key, time.Now())
	if first {
		s.work.Go(func() {
			defer close(q.done)
			// The asker may come back for the answer, so the end of its connection does not
			// end this.
			leave, err := s.deciding.enter(s.ctx)
			if q.err = err; err != nil && s.ctx.Err() != nil {
				return
			}
			if question.Busy = err != nil; question.Busy {
				s.asked.forget(key) // the next try may get a better answer
			}
			defer leave()
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
	case s.ctx.Err() != nil:
		s.stopping(w)
	case q.err != nil:
		writeHookError(w, http.StatusBadRequest, q.err.Error())
	default:
		respond.Bytes(w, http.StatusOK, "application/json", q.answer)
	}
}

// payload handles an event in the client's own format, and answers like the client's http
// hooks. An event passed on by another policy was folded where it came from.
func (s *Server) payload(w http.ResponseWriter, r *http.Request, body []byte, done func(), start time.Time) {
	q := questionOf(r, body)
	var bad bool
	if q.Wait, bad = waitOf(r); bad {
		writeHookError(w, http.StatusBadRequest, "wait is a number of seconds, up to 86400")
		return
	}
	e, err := event.Parse(q.Agent, q.Event, body)
	if fail := s.unfit(&e, err); fail != "" {
		writeHookError(w, http.StatusBadRequest, fail)
		return
	}
	e.At = s.ticks.next(e.SessionID)
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
	release(body, done)
	answer, note, held := s.policyAnswer(r.Context(), e.Kind, q)
	if ends { // until there is an answer the client is at work (testdata/lab/POLICY.md)
		fold()
	}
	note()
	if held != nil && len(body) <= smallBody && s.held(w, r, held, &res.After) {
		return
	}
	switch {
	case s.ctx.Err() != nil: // not an empty answer: the client tells its user that nobody was asked
		s.stopping(w)
	case len(answer) > 0:
		respond.Bytes(w, http.StatusOK, "application/json", answer)
	case err != nil:
		s.writeFoldError(w, err)
	default: // the client reads an object as a decision; an empty one decides nothing
		respond.JSON(w, http.StatusOK, struct{}{})
	}
}

// release frees a small body's place while a policy decides.
func release(body []byte, done func()) {
	if len(body) <= smallBody {
		done()
	}
}

func (s *Server) policyAnswer(ctx context.Context, kind event.Kind, q Question) (answer []byte, note func(), held offer.Held) {
	if s.o.Policy == nil {
		return nil, func() {}, nil
	}
	d := s.noting
	if kind == event.PreToolUse || kind == event.PermissionRequest {
		d = s.deciding
	}
	leave, err := d.enter(ctx)
	defer leave()
	if q.Busy = err != nil; q.Busy {
		s.meter.Refused("policy_busy")
	}
	return s.o.Policy.Answer(ctx, q)
}

// stopping refuses an event because the server stops.
func (s *Server) stopping(w http.ResponseWriter) {
	w.Header().Set("Retry-After", "1")
	writeHookError(w, http.StatusServiceUnavailable, "the server stops")
}

const (
	// askedFor is how long an answer is kept for a client that asks again.
	askedFor = time.Minute
	// maxAsked is how many answers are kept; further ones are not.
	maxAsked = 1024
)

// asked keeps the answers to the newest questions. A client that timed out and asks again,
// with the same bytes and from as near, gets the first answer: no command runs twice for one
// event. The owner's answer, which may depend on their projects' policies, is not given to
// anyone else.
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

// askedKey hashes everything that the answer to a question depends on.
func askedKey(q Question) [sha256.Size]byte {
	head := fmt.Sprintf("%q %q %d %t %t ", q.Agent, q.Event, q.Hops, q.Foreign, q.Asks)
	body := sha256.Sum256(q.Body)
	return sha256.Sum256(append([]byte(head), body[:]...))
}

// join returns the question for a key, and whether it is new.
func (a *asked) join(key [sha256.Size]byte, now time.Time) (q *asking, first bool) {
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

// forget allows a question that could not be answered to be asked again.
func (a *asked) forget(key [sha256.Size]byte) {
	a.mu.Lock()
	delete(a.all, key)
	a.mu.Unlock()
}

const (
	// maxDeciding and maxNoting are how many events a policy handles at once: each may run
	// commands.
	maxDeciding = 32
	maxNoting   = 16
	// maxWaiting is how many more of each may wait, with a body of smallBody each, and
	// policyWait how long: a policy has 25 s, and the answer must be out before writeTimeout.
	maxWaiting = 32
	policyWait = 4 * time.Second
)

// desk limits how many events a policy handles at once.
type desk struct {
	slots   chan struct{}
	waiting atomic.Int32
}

func newDesk(slots int) *desk { return &desk{slots: make(chan struct{}, slots)} }

// enter waits until there is room for one more event. The number of waiters is limited,
// because each holds its body. leave must be called in any case.
func (d *desk) enter(ctx context.Context) (leave func(), err error) {
	nothing, away := func() {}, func() { <-d.slots }
	select {
	case d.slots <- struct{}{}:
		return away, nil
	default:
	}
	defer d.waiting.Add(-1)
	if d.waiting.Add(1) > maxWaiting {
		return nothing, errBusy
	}
	late := time.NewTimer(policyWait)
	defer late.Stop()
	select {
	case d.slots <- struct{}{}:
		return away, nil
	case <-late.C:
		return nothing, errBusy
	case <-ctx.Done():
		return nothing, ctx.Err()
	}
}
