package web

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"net/http"
	"strconv"
	"time"

	"beckon/event"
	"beckon/render"
	"beckon/render/web/access"
	"beckon/state"
	"beckon/state/history"
	"beckon/state/store"
)

type turnsPage struct {
	SessionID string            `json:"session_id"`
	Turns     []render.TurnLine `json:"turns"` // the newest, oldest first
}

// turns serves what was said in a session, including its transcript.
func (s *Server) turns(r *http.Request, v state.Seen) (any, error) {
	limit, err := number(r, "limit", pageDefault, pageMax)
	if err != nil {
		return nil, err
	}
	err = history.Sweep(s.o.Store, &v.Session)
	all, e := history.Turns(s.o.Store, history.Query{Key: store.KeyOf(v.Session.Record()), Since: v.Session.Created})
	return turnsPage{v.Session.ID, render.TurnLines(&v.Session, all[max(0, len(all)-limit):])}, errors.Join(err, e)
}

// Limits of a page of history.
const (
	pageDefault = 200
	pageMax     = 1000
)

type journalPage struct {
	SessionID string        `json:"session_id"`
	Lines     []journalLine `json:"lines"`
	Next      int64         `json:"next,omitempty"` // for ?after= of the next request
}

// journalLine is one line of a session's history.
type journalLine struct {
	Seq         int64           `json:"seq"`
	At          string          `json:"at"`
	Kind        string          `json:"kind"`
	Us          int64           `json:"us,omitempty"`
	Event       *event.Event    `json:"event,omitempty"`
	Observation *state.Observed `json:"observation,omitempty"`
	Action      *state.Action   `json:"action,omitempty"`
	Turn        *state.Turn     `json:"turn,omitempty"`
	Blocks      []block         `json:"blocks,omitempty"` // the Markdown of what the agent said in the turn
}

func lineOf(l *store.Line) journalLine {
	out := journalLine{l.Seq, access.Time(l.At.Time()), l.Kind, l.Us, l.Event, l.Observation, l.Action, l.Turn, nil}
	if l.Turn != nil && l.Turn.Actor != state.SpeakerUser {
		out.Blocks = blocksOf(l.Turn.Text)
	}
	return out
}

// journal serves the lines of a session's history after ?after=, at most
// ?limit= of them: the oldest, or with ?last=true the newest.
func (s *Server) journal(r *http.Request, v state.Seen) (any, error) {
	after, err := number(r, "after", 0, math.MaxInt)
	limit, e := number(r, "limit", pageDefault, pageMax)
	if err = cmp.Or(err, e); err != nil {
		return nil, err
	}
	page := journalPage{SessionID: v.Session.ID, Lines: []journalLine{}}
	sel := store.Select{Key: store.KeyOf(v.Session.Record()), Since: v.Session.Created, After: int64(after)}
	err = s.o.Store.Lines(sel, func(l *store.Line) { page.Lines = append(page.Lines, lineOf(l)) })
	switch more := len(page.Lines) - limit; {
	case more > 0 && r.URL.Query().Get("last") == "true":
		page.Lines = page.Lines[more:]
	case more > 0:
		page.Lines = page.Lines[:limit]
		page.Next = page.Lines[limit-1].Seq
	}
	return page, err
}

// number returns a number from the query, between 1, or usual if that is less, and most; usual if it
// is not there.
func number(r *http.Request, name string, usual, most int) (int, error) {
	text := r.URL.Query().Get(name)
	if text == "" {
		return usual, nil
	}
	n, err := strconv.Atoi(text)
	if least := min(usual, 1); err != nil || n < least || n > most {
		return 0, access.NewFault(http.StatusBadRequest, "bad_"+name,
			fmt.Sprintf("%s=%q is not between %d and %d", name, cut(text), least, most), "")
	}
	return n, nil
}

const (
	daysDefault = 7
	daysMax     = 400
)

func (s *Server) getStats(_ http.ResponseWriter, r *http.Request) (any, error) {
	days, err := number(r, "days", daysDefault, daysMax)
	if err != nil {
		return nil, err
	}
	s.reading.Lock()
	defer s.reading.Unlock()
	return s.o.Stats(days)
}

func (s *Server) getTimeline(_ http.ResponseWriter, r *http.Request) (any, error) {
	date := r.URL.Query().Get("date")
	if _, err := time.Parse(time.DateOnly, date); err != nil && date != "" {
		return nil, access.NewFault(http.StatusBadRequest, "bad_date",
			fmt.Sprintf("date=%q is not a day like 2026-01-31", cut(date)), "")
	}
	s.reading.Lock()
	defer s.reading.Unlock()
	return s.o.Timeline(date)
}

func (s *Server) getDigest(http.ResponseWriter, *http.Request) (any, error) {
	s.reading.Lock()
	defer s.reading.Unlock()
	return s.o.Digest()
}

func (s *Server) getConfig(http.ResponseWriter, *http.Request) (any, error) { return s.o.Config() }
