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

// offerNews is the data of offer_created, and an offer's part of a snapshot. The request
// itself is at /api/offers/ID, because a stream that fell behind must not hold all requests
// ever made.
type offerNews struct {
	ID        string       `json:"id"`
	Digest    string       `json:"digest"`
	Kind      request.Kind `json:"kind"`
	Record    string       `json:"record"` // the session, with its part
	SessionID string       `json:"session_id"`
	MadeAt    string       `json:"made_at"`
}

// compare orders offers by age, the oldest first.
func (o offerNews) compare(b offerNews) int { return strings.Compare(o.MadeAt+o.ID, b.MadeAt+b.ID) }

// offerEnd is the data of offer_ended.
type offerEnd struct {
	offerNews
	Answered *GivenBy `json:"answered,omitempty"`
	Taken    bool     `json:"taken,omitempty"` // the client was given the answer
	Why      string   `json:"why,omitempty"`
}

// awayNews is the data of away.
type awayNews struct {
	Away *Away `json:"away"`
}

// listWithOffers is the data of a snapshot.
type listWithOffers struct {
	render.List
	Offers []offerNews `json:"offers,omitempty"`
	Away   *Away       `json:"away,omitempty"`
}

// followOffers keeps the open offers current, and whether the user is away, until ctx ends. It
// looks whenever something changes, and at intervals: no file shows that a process has died.
func (f *Feed) followOffers(ctx context.Context) {
	if f.o.Unwatched {
		live.Watch(ctx, f.o.Timing.Poll, f.again, f.lookAtOffers)
		return
	}
	open := request.In(f.o.Store.Dir).OpenDir() // it does not exist before the first offer
	if err := os.MkdirAll(filepath.Dir(open), 0o700); err != nil {
		f.o.Log(err)
	}
	live.Watch(ctx, f.o.Timing.Recheck, f.again, f.lookAtOffers, filepath.Dir(open), open)
}

// OffersChanged says that this server has changed what the open offers are shown with.
func (f *Feed) OffersChanged() {
	select {
	case f.again <- struct{}{}:
	default:
	}
}

// lookAtOffers publishes new and ended offers, and whether the user is away. Only one goroutine
// calls it, and nothing else changes them, so it may read them at any time.
func (f *Feed) lookAtOffers() {
	dir, now := request.In(f.o.Store.Dir), time.Now()
	list, err := dir.List(now)
	if err != nil {
		f.o.Log(err)
		return
	}
	open := map[string]bool{}
	var came []offerNews
	for _, o := range list {
		open[o.ID] = true
		if _, known := f.offers[o.ID]; !known {
			came = append(came, offerNews{o.ID, o.Digest, o.Kind, o.Record, o.Session, respond.Time(o.Made.Time())})
		}
	}
	var ended []offerEnd
	for id, o := range f.offers {
		if !open[id] {
			ended = append(ended, endOf(dir, o))
		}
	}
	slices.SortFunc(ended, func(a, b offerEnd) int { return a.compare(b.offerNews) })
	is := AwayOf(dir, now)
	moved := (is == nil) != (f.away == nil) || is != nil && *is != *f.away
	if len(came)+len(ended) == 0 && !moved {
		return
	}
	f.change(now, func() {
		for _, e := range ended {
			delete(f.offers, e.ID)
			f.report(f.messageOf("offer_ended", e.offerNews), e)
		}
		for _, o := range came {
			f.offers[o.ID] = o
			f.report(f.messageOf("offer_created", o), o)
		}
		if moved {
			f.away = is
			f.report(message{name: "away"}, awayNews{is})
		}
	})
}

// messageOf returns an offer's event, with the row that it belongs to.
func (f *Feed) messageOf(name string, o offerNews) message {
	m := message{name: name, session: o.SessionID}
	for _, s := range f.rows {
		if s.row.Remote == nil && s.row.Record() == o.Record {
			m.seat, m.now = s.row.SeatID, s.row.State
		}
	}
	return m
}

// written is how long after an offer's end its reason may be written.
const written = 50 * time.Millisecond

// endOf returns the result of an offer. An answered one is not open any more, though its
// process may not have answered the client yet.
func endOf(dir request.Dir, o offerNews) offerEnd {
	e := offerEnd{offerNews: o}
	wait := written
	if a, ok := dir.Answered(o.ID); ok {
		e.Answered, wait = new(Given(&a)), 0
	}
	if out, known := dir.Outcome(o.ID, wait); known {
		e.Taken, e.Why = out.Taken, out.Why
	}
	return e
}

// offersOf returns the open offers that filter accepts, the oldest first.
func (f *Feed) offersOf(filter Filter) []offerNews {
	var list []offerNews
	for _, o := range f.offers {
		if m := f.messageOf("", o); filter.wants(&m) {
			list = append(list, o)
		}
	}
	slices.SortFunc(list, offerNews.compare)
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
