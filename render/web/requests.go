package web

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	cards "beckon/render/card"
	"beckon/render/web/access"
	"beckon/state/evidence"
	"beckon/state/live"
	"beckon/state/request"
	"beckon/state/request/pin"
)

// offered is an open request in the API's format, with its card.
type offered struct {
	request.Request
	Card cards.Card `json:"card"`
	// Drawn identifies the card. A client that allows something sends it to say what was
	// shown, because the file behind a diff or a plan may change meanwhile.
	Drawn string `json:"drawn"`
	// Blocks are the plan's Markdown, which the card has as lines.
	Blocks []block `json:"blocks,omitempty"`
}

type requestList struct {
	Schema int `json:"schema"`
	answering
	Away     *away     `json:"away,omitempty"`
	Requests []offered `json:"offers"`
}

type oneRequest struct {
	answering
	Request offered `json:"offer"`
}

// answering says how the caller may answer.
type answering struct {
	From request.From `json:"from,omitempty"` // page or remote; empty when they may not
	Why  string       `json:"why,omitempty"`  // they may not
}

func (s *Server) mayAnswer(r *http.Request) (a answering) {
	var err error
	if a.From, err = s.guard.Answerer(r); err != nil {
		a.Why = err.Error()
	}
	return a
}

func (s *Server) dir() request.Dir { return request.In(s.o.Store.Dir) }

func drawn(o *request.Request) offered {
	c := cards.Of(o, evidence.ThisMachine().Host)
	b, _ := json.Marshal(c) // texts alone
	out := offered{Request: *o, Card: c, Drawn: request.Digest(b)}
	var plan strings.Builder
	for _, l := range c.Lines[:c.Plan] {
		plan.WriteString(l.Text + "\n")
	}
	out.Blocks = blocksOf(plan.String())
	return out
}

// requests serves GET /api/offers: the open requests with their cards.
func (s *Server) requests(_ http.ResponseWriter, r *http.Request) (any, error) {
	now := time.Now()
	list, err := s.dir().List(now)
	out := requestList{Schema: 1, answering: s.mayAnswer(r), Away: awayAt(s.dir(), now), Requests: []offered{}}
	for i := range list {
		out.Requests = append(out.Requests, drawn(&list[i]))
	}
	return out, err
}

func (s *Server) request(_ http.ResponseWriter, r *http.Request) (any, error) {
	o, err := s.dir().Load(r.PathValue("id"))
	if err != nil {
		return nil, notGiven(err)
	}
	return oneRequest{s.mayAnswer(r), drawn(&o)}, nil
}

type reaction struct {
	Digest  string       `json:"digest"`          // of the request that was shown
	Drawn   string       `json:"drawn,omitempty"` // its card; allow needs it
	Word    request.Word `json:"word"`
	Message string       `json:"message,omitempty"`
	Always  int          `json:"always,omitempty"`
	PIN     string       `json:"pin,omitempty"`     // the user's, if they have one
	Choices []chosen     `json:"choices,omitempty"` // one for each question, in their order
}

// chosen answers one question: by options, from 1, by text, or by both.
type chosen struct {
	Options []int  `json:"options,omitempty"`
	Text    string `json:"text,omitempty"`
}

// became is the result of an answer that the client got.
type became struct {
	Taken bool `json:"taken"`
}

func (s *Server) react(r *http.Request, from request.From) (any, error) {
	var b reaction
	if err := read(r, &b, `for example {"digest": "...", "drawn": "...", "word": "allow"}`); err != nil {
		return nil, err
	}
	o, err := s.dir().Load(r.PathValue("id"))
	if err == nil && b.Digest != o.Digest {
		err = request.ErrChanged
	}
	if err != nil {
		return nil, notGiven(err)
	}
	a, err := b.answer(drawn(&o))
	if err != nil {
		return nil, err
	}
	a.From, a.By = from, s.o.User
	if _, err = s.dir().Answer(&o, a, func() (request.Key, error) { return pin.Unlock(s.dir(), b.PIN) }); err != nil {
		return nil, notGiven(err)
	}
	return became{true}, nil
}

// answer returns the answer in b to the present card.
func (b *reaction) answer(o offered) (a request.Answer, err error) {
	a = request.Answer{Word: b.Word, Message: b.Message, Always: b.Always}
	if err := o.Card.May(b.Word); err != nil {
		return a, access.NewFault(http.StatusForbidden, "not_whole", err.Error(), "")
	}
	if b.Word == request.Allow && o.Drawn != b.Drawn {
		return a, access.NewFault(http.StatusPreconditionFailed, "changed",
			"what it would do has changed since it was shown", "look at it again")
	}
	questions := o.Choices()
	if len(questions) == 0 || b.Word != request.Allow {
		return a, nil
	}
	if len(b.Choices) != len(questions) {
		return a, badAnswer(fmt.Errorf("there are %d questions, and %d answers", len(questions), len(b.Choices)))
	}
	a.Choices = map[string]string{}
	for i, q := range questions {
		c := b.Choices[i]
		text, err := q.Pick(c.Options...)
		if err != nil {
			return a, badAnswer(err)
		}
		if c.Text != "" && text != "" {
			text += ", "
		}
		a.Choices[q.Question] = text + c.Text
	}
	return a, nil
}

func badAnswer(err error) error {
	return access.NewFault(http.StatusBadRequest, "bad_answer", err.Error(), "")
}

// refusals are the errors of an answer that was not given, as the API has them.
var refusals = []struct {
	err        error
	status     int
	code, hint string
}{
	{request.ErrNone, http.StatusNotFound, "no_such_offer", "GET /api/offers lists them"},
	{request.ErrChanged, http.StatusPreconditionFailed, "changed", "look at it again"},
	{request.ErrPIN, http.StatusForbidden, "pin", `give it as "pin"`},
	{pin.ErrWrong, http.StatusForbidden, "wrong_pin", ""},
	{request.ErrAlways, http.StatusForbidden, "always_elsewhere", ""},
}

// notGiven says why an answer was not given.
func notGiven(err error) error {
	if taken, is := errors.AsType[*request.TakenError](err); is {
		fault := access.NewFault(http.StatusConflict, "taken", taken.Error(), "")
		fault.Answered = givenBy{taken.By.Word, taken.By.By, taken.By.From}
		return fault
	}
	for _, r := range refusals {
		if errors.Is(err, r.err) {
			return access.NewFault(r.status, r.code, err.Error(), r.hint)
		}
	}
	if request.Late(err) {
		return access.NewFault(http.StatusGone, "over", err.Error(), "")
	}
	return badAnswer(err)
}

// stop serves POST /api/sessions/{id}/stop: the session's turn ends at its next call.
func (s *Server) stop(r *http.Request, from request.From) (any, error) {
	v, err := s.named(r)
	if err != nil {
		return nil, err
	}
	err = s.dir().Halt(&v, from, s.o.User)
	if errors.Is(err, request.ErrIdle) {
		err = access.NewFault(http.StatusConflict, "not_at_work", err.Error(), "")
	}
	return access.Done, err
}

// goAway serves POST /api/away: subagents' requests are held from then on, or, with off, no
// longer.
func (s *Server) goAway(r *http.Request, _ request.From) (any, error) {
	b, until, err := actionBody(r)
	if err != nil {
		return nil, err
	}
	if b.Off {
		_, err = s.dir().Back()
	} else {
		err = s.dir().GoAway(until)
	}
	return access.Done, err
}

// requestNews is the data of offer_created, and a request's part of a snapshot. The request
// itself is at /api/offers/ID.
type requestNews struct {
	ID        string       `json:"id"`
	Digest    string       `json:"digest"`
	Kind      request.Kind `json:"kind"`
	Record    string       `json:"record"` // the session, with its part
	SessionID string       `json:"session_id"`
	MadeAt    time.Time    `json:"made_at"`
}

// requestEnd is the data of offer_ended.
type requestEnd struct {
	requestNews
	Answered *givenBy `json:"answered,omitempty"`
	Taken    bool     `json:"taken,omitempty"` // the client was given the answer
	Why      string   `json:"why,omitempty"`
}

// givenBy is an answer without its texts.
type givenBy struct {
	Word request.Word `json:"word"`
	By   string       `json:"by,omitempty"`
	From request.From `json:"from"`
}

// away says that the user is away.
type away struct {
	Until time.Time `json:"until,omitzero"` // zero: until they are back
}

// awayNews is the data of away.
type awayNews struct {
	Away *away `json:"away"`
}

// awayAt returns whether the user is away, nil if not.
func awayAt(d request.Dir, now time.Time) *away {
	if until, is := d.IsAway(now); is {
		return &away{until.UTC()}
	}
	return nil
}

// followRequests keeps the open requests current, and whether the user is away, until ctx ends. It
// looks whenever something changes, and at intervals: no file shows that a process has died.
func (f *feed) followRequests(ctx context.Context) {
	open := request.In(f.o.Store.Dir).OpenDir() // it does not exist before the first request
	f.o.Log(os.MkdirAll(filepath.Dir(open), 0o700))
	live.Watch(ctx, f.o.Timing.Recheck, f.lookAtRequests, filepath.Dir(open), open)
}

// lookAtRequests publishes new and ended requests, and whether the user is away. Only one goroutine
// calls it, and nothing else changes them, so it may read them at any time.
func (f *feed) lookAtRequests() {
	dir, now := request.In(f.o.Store.Dir), time.Now()
	list, err := dir.List(now)
	if err != nil {
		f.o.Log(err)
		return
	}
	var open []requestNews
	for _, o := range list {
		open = append(open, requestNews{o.ID, o.Digest, o.Kind, o.Record, o.Session, o.Made.Time()})
	}
	var ended []requestEnd
	for _, o := range f.requests {
		if !slices.Contains(open, o) {
			ended = append(ended, endOf(dir, o))
		}
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, e := range ended {
		f.report("offer_ended", e)
	}
	for _, o := range open {
		if !slices.Contains(f.requests, o) {
			f.report("offer_created", o)
		}
	}
	is := awayAt(dir, now)
	if (is == nil) != (f.away == nil) || is != nil && *is != *f.away {
		f.report("away", awayNews{is})
	}
	f.requests, f.away = open, is
}

// written is how long after a request's end its reason may be written.
const written = 50 * time.Millisecond

// endOf returns the result of a request. An answered one is not open any more, though its
// process may not have answered the client yet.
func endOf(dir request.Dir, o requestNews) requestEnd {
	e := requestEnd{requestNews: o}
	wait := written
	if a, ok := dir.Answered(o.ID); ok {
		e.Answered, wait = &givenBy{a.Word, a.By, a.From}, 0
	}
	if out, known := dir.Outcome(o.ID, wait); known {
		e.Taken, e.Why = out.Taken, out.Why
	}
	return e
}
