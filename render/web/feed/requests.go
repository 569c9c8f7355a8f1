package feed

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"beckon/render"
	"beckon/render/web/respond"
	"beckon/state/live"
	"beckon/state/request"
)

// requestNews is the data of offer_created, and a request's part of a snapshot. The request
// itself is at /api/offers/ID, because a stream that fell behind must not hold all requests
// ever made.
type requestNews struct {
	ID        string       `json:"id"`
	Digest    string       `json:"digest"`
	Kind      request.Kind `json:"kind"`
	Record    string       `json:"record"` // the session, with its part
	SessionID string       `json:"session_id"`
	MadeAt    string       `json:"made_at"`
}

// compare orders requests by age, the oldest first.
func (o requestNews) compare(b requestNews) int { return strings.Compare(o.MadeAt+o.ID, b.MadeAt+b.ID) }

// requestEnd is the data of offer_ended.
type requestEnd struct {
	requestNews
	Answered *GivenBy `json:"answered,omitempty"`
	Taken    bool     `json:"taken,omitempty"` // the client was given the answer
	Why      string   `json:"why,omitempty"`
}

// awayNews is the data of away.
type awayNews struct {
	Away *Away `json:"away"`
}

// listWithRequests is the data of a snapshot.
type listWithRequests struct {
	render.List
	Requests []requestNews `json:"offers,omitempty"`
	Away     *Away         `json:"away,omitempty"`
}

// followRequests keeps the open requests current, and whether the user is away, until ctx ends. It
// looks whenever something changes, and at intervals: no file shows that a process has died.
func (f *Feed) followRequests(ctx context.Context) {
	if f.o.Unwatched {
		live.Watch(ctx, f.o.Timing.Poll, f.again, f.lookAtRequests)
		return
	}
	open := request.In(f.o.Store.Dir).OpenDir() // it does not exist before the first request
	if err := os.MkdirAll(filepath.Dir(open), 0o700); err != nil {
		f.o.Log(err)
	}
	live.Watch(ctx, f.o.Timing.Recheck, f.again, f.lookAtRequests, filepath.Dir(open), open)
}

// RequestsChanged says that this server has changed what the open requests are shown with.
func (f *Feed) RequestsChanged() {
	select {
	case f.again <- struct{}{}:
	default:
	}
}

// lookAtRequests publishes new and ended requests, and whether the user is away. Only one goroutine
// calls it, and nothing else changes them, so it may read them at any time.
func (f *Feed) lookAtRequests() {
	dir, now := request.In(f.o.Store.Dir), time.Now()
	list, err := dir.List(now)
	if err != nil {
		f.o.Log(err)
		return
	}
	open := map[string]bool{}
	var came []requestNews
	for _, o := range list {
		open[o.ID] = true
		if _, known := f.requests[o.ID]; !known {
			came = append(came, requestNews{o.ID, o.Digest, o.Kind, o.Record, o.Session, respond.Time(o.Made.Time())})
		}
	}
	var ended []requestEnd
	for id, o := range f.requests {
		if !open[id] {
			ended = append(ended, endOf(dir, o))
		}
	}
	slices.SortFunc(ended, func(a, b requestEnd) int { return a.compare(b.requestNews) })
	is := AwayOf(dir, now)
	moved := (is == nil) != (f.away == nil) || is != nil && *is != *f.away
	if len(came)+len(ended) == 0 && !moved {
		return
	}
	f.change(now, func() {
		for _, e := range ended {
			delete(f.requests, e.ID)
			f.report(f.messageOf("offer_ended", e.requestNews), e)
		}
		for _, o := range came {
			f.requests[o.ID] = o
			f.report(f.messageOf("offer_created", o), o)
		}
		if moved {
			f.away = is
			f.report(message{name: "away"}, awayNews{is})
		}
	})
}

// messageOf returns a request's event, with the row that it belongs to.
func (f *Feed) messageOf(name string, o requestNews) message {
	m := message{name: name, session: o.SessionID}
	for _, s := range f.rows {
		if s.row.Remote == nil && s.row.Record() == o.Record {
			m.seat, m.now = s.row.SeatID, s.row.State
		}
	}
	return m
}

// written is how long after a request's end its reason may be written.
const written = 50 * time.Millisecond

// endOf returns the result of a request. An answered one is not open any more, though its
// process may not have answered the client yet.
func endOf(dir request.Dir, o requestNews) requestEnd {
	e := requestEnd{requestNews: o}
	wait := written
	if a, ok := dir.Answered(o.ID); ok {
		e.Answered, wait = new(Given(&a)), 0
	}
	if out, known := dir.Outcome(o.ID, wait); known {
		e.Taken, e.Why = out.Taken, out.Why
	}
	return e
}

// requestsOf returns the open requests that filter accepts, the oldest first.
func (f *Feed) requestsOf(filter Filter) []requestNews {
	var list []requestNews
	for _, o := range f.requests {
		if m := f.messageOf("", o); filter.wants(&m) {
			list = append(list, o)
		}
	}
	slices.SortFunc(list, requestNews.compare)
	return list
}

// Away says that the user is away.
type Away struct {
	Until string `json:"until,omitempty"` // empty: until they are back
}

// AwayOf returns whether the user is away, nil if not.
func AwayOf(d request.Dir, now time.Time) *Away {
	until, is := d.IsAway(now)
	switch {
	case !is:
		return nil
	case until.IsZero():
		return &Away{}
	}
	return &Away{respond.Time(until)}
}

// GivenBy is an answer without its texts.
type GivenBy struct {
	Word request.Word `json:"word"`
	By   string       `json:"by,omitempty"`
	From request.From `json:"from"`
}

// Given returns a without its texts.
func Given(a *request.Answer) GivenBy { return GivenBy{a.Word, a.By, a.From} }
