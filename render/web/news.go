package web

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"time"

	"beckon/render/web/access"
	"beckon/state/live"
	"beckon/state/request"
)

// requestNews is the data of offer_created, and a request's part of a snapshot. The request
// itself is at /api/offers/ID.
type requestNews struct {
	ID        string       `json:"id"`
	Digest    string       `json:"digest"`
	Kind      request.Kind `json:"kind"`
	Record    string       `json:"record"` // the session, with its part
	SessionID string       `json:"session_id"`
	MadeAt    string       `json:"made_at"`
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
	Until string `json:"until,omitempty"` // empty: until they are back
}

// awayNews is the data of away.
type awayNews struct {
	Away *away `json:"away"`
}

// awayAt returns whether the user is away, nil if not.
func awayAt(d request.Dir, now time.Time) *away {
	until, is := d.IsAway(now)
	switch {
	case !is:
		return nil
	case until.IsZero():
		return &away{}
	}
	return &away{access.Time(until)}
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
		open = append(open, requestNews{o.ID, o.Digest, o.Kind, o.Record, o.Session, access.Time(o.Made.Time())})
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
