package web

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"net/http"
	"slices"
	"strconv"
	"time"

	"beckon/event"
	"beckon/event/typed"
	"beckon/render"
	"beckon/render/web/access"
	"beckon/state"
	"beckon/state/history"
	"beckon/state/live"
	"beckon/state/store"
)

// cut shortens a client's text before it is repeated in a response.
func cut(s string) string { return event.Cut(s, 64) }

// sessions serves GET /api/sessions: the rows of `list --json`, with ?all=true those of `list
// --json --all`.
func (s *Server) sessions(_ http.ResponseWriter, r *http.Request) (any, error) {
	list := s.feed.list()
	seen, _, _ := s.feed.local()
	if all := r.URL.Query().Get("all"); all == "true" || all == "1" { // also ended and archived ones
		snap, err := live.NewReader(s.o.Store, s.o.Registry).Look(true)
		if err != nil {
			return nil, err
		}
		list.GeneratedAt, list.Sessions, seen = snap.Now.Time(), render.Rows(snap.Seen, true), snap.Seen
	}
	// Events do not contain how long a session was at work, since it changes every second.
	s.o.Log(render.AddBusy(list.Sessions, s.o.Store, seen, event.MillisOf(list.GeneratedAt)))
	return list, nil
}

// named returns the session that a request names: by a session's id, or by a seat's, which
// means its newest session.
func (s *Server) named(r *http.Request) (state.Seen, error) {
	id := r.PathValue("id")
	rows := s.feed.list().Sessions // of a session that two processes run, the one that needs the user most
	if i := slices.IndexFunc(rows, func(r render.Row) bool {
		return r.Remote == nil && (r.Record() == id || r.SessionID == id || r.SeatID == id) // others may claim any id
	}); i >= 0 {
		id = rows[i].Record()
	}
	reader := live.NewReader(s.o.Store, s.o.Registry)
	if loaded, err := s.o.Store.Load(store.KeyOf(id)); err == nil && loaded.Record() == id {
		return reader.One(loaded, reader.Now()), nil
	}
	all, err := reader.Look(true) // a seat whose sessions are over, or a session that only the client's registry knows
	if err != nil {
		return state.Seen{}, err
	}
	if i := slices.IndexFunc(all.Seen, func(v state.Seen) bool { return v.Session.Record() == id }); i >= 0 {
		return all.Seen[i], nil
	}
	if i, ok := state.Fronts(all.Seen)[id]; ok {
		return all.Seen[i], nil
	}
	return state.Seen{}, access.NewFault(http.StatusNotFound, "no_such_session",
		fmt.Sprintf("no session or seat %q", cut(id)), "GET /api/sessions?all=true lists them")
}

// session serves GET /api/sessions/{id}: one row.
func (s *Server) session(_ *http.Request, v state.Seen) (any, error) {
	rows := render.Rows([]state.Seen{v}, true)
	if v.Session.Seq > 0 {
		s.o.Log(render.AddBusy(rows, s.o.Store, []state.Seen{v}, event.MillisOf(time.Now())))
	}
	return rows[0], nil
}

// undo serves POST /api/undo.
func (s *Server) undo(http.ResponseWriter, *http.Request) (any, error) {
	all, err := live.NewReader(s.o.Store, s.o.Registry).Look(true)
	if err != nil {
		return nil, err
	}
	_, marked := state.NewestMark(all.Seen)
	if marked == nil {
		return nil, access.NewFault(http.StatusConflict, "nothing_to_undo", "there is nothing to undo", "")
	}
	err = s.o.Act(state.Action{Kind: state.ActUndo}, marked...)
	s.feed.Touch()
	return access.Done, err
}

// act returns a handler that folds an action of the user on a session and responds with its row.
func (s *Server) act(kind state.ActionKind) handler {
	return s.ofSession(func(r *http.Request, v state.Seen) (any, error) {
		b, until, err := actionBody(r)
		a := state.Action{Kind: kind}
		switch {
		case err != nil:
			return nil, err
		case kind == state.ActLabel:
			a.Label = render.OneLine(b.Label)
		case kind == state.ActBackburner && b.Off:
			a.Kind = state.ActBackburnerOff
		case kind == state.ActBackburner:
			a.Until = until
		}
		if v.Session.Seq == 0 {
			return nil, access.NewFault(http.StatusConflict, "no_hooks",
				"no hook of this session was heard yet, so nothing can be noted of it", "its next event makes it known")
		}
		err = s.o.Act(a, v)
		s.feed.Touch()
		if err == nil {
			v, err = s.named(r) // as it is now
		}
		if err != nil {
			return nil, err
		}
		return s.session(r, v)
	})
}

// body is the body of a request for an action.
type body struct {
	Off   bool   `json:"off"`
	Until string `json:"until"` // in the format of render.Until
	Label string `json:"label"`
}

// actionBody parses a body, which may be absent, and its time.
func actionBody(r *http.Request) (b body, until event.Millis, err error) {
	if r.ContentLength != 0 {
		if err := read(r, &b, `for example {"until": "2h"}`); err != nil {
			return b, until, err
		}
	}
	if until, err = render.Until(b.Until, time.Now()); err != nil {
		err = access.NewFault(http.StatusBadRequest, "bad_until",
			fmt.Sprintf("until %q: %v", cut(b.Until), err), `for example {"until": "2h"}`)
	}
	return b, until, err
}

// jumpTime is how long a jump may take.
const jumpTime = 10 * time.Second

func (s *Server) jump(r *http.Request, v state.Seen) (any, error) {
	ctx, cancel := context.WithTimeout(r.Context(), jumpTime)
	defer cancel()
	if err := s.o.Jump(ctx, v); err != nil {
		return nil, access.NewFault(http.StatusConflict, "cannot_jump", err.Error(), typed.HintOf(err))
	}
	return access.Done, nil
}

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
	At          time.Time       `json:"at"`
	Kind        string          `json:"kind"`
	Us          int64           `json:"us,omitempty"`
	Event       *event.Event    `json:"event,omitempty"`
	Observation *state.Observed `json:"observation,omitempty"`
	Action      *state.Action   `json:"action,omitempty"`
	Turn        *state.Turn     `json:"turn,omitempty"`
	Blocks      []block         `json:"blocks,omitempty"` // the Markdown of what the agent said in the turn
}

func lineOf(l *store.Line) journalLine {
	out := journalLine{l.Seq, l.At.Time(), l.Kind, l.Us, l.Event, l.Observation, l.Action, l.Turn, nil}
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
	// readWait is how long a request waits while others read: then there is time to respond.
	readWait = 10 * time.Second
)

var errReading = access.NewFault(http.StatusServiceUnavailable, "busy", "others read all that was recorded", "")

// readAll calls f, which reads all that was recorded, when nobody else does, and not for a client that
// has gone.
func (s *Server) readAll(r *http.Request, f func() (any, error)) (any, error) {
	ctx, cancel := context.WithTimeout(r.Context(), readWait)
	defer cancel()
	if s.reading.Acquire(ctx, 1) != nil {
		return nil, errReading
	}
	defer s.reading.Release(1)
	return f()
}

func (s *Server) getStats(_ http.ResponseWriter, r *http.Request) (any, error) {
	days, err := number(r, "days", daysDefault, daysMax)
	if err != nil {
		return nil, err
	}
	return s.readAll(r, func() (any, error) { return s.o.Stats(days) })
}

func (s *Server) getTimeline(_ http.ResponseWriter, r *http.Request) (any, error) {
	date := r.URL.Query().Get("date")
	if _, err := time.Parse(time.DateOnly, date); err != nil && date != "" {
		return nil, access.NewFault(http.StatusBadRequest, "bad_date",
			fmt.Sprintf("date=%q is not a day like 2026-01-31", cut(date)), "")
	}
	return s.readAll(r, func() (any, error) { return s.o.Timeline(date) })
}

func (s *Server) getDigest(_ http.ResponseWriter, r *http.Request) (any, error) {
	return s.readAll(r, s.o.Digest)
}

func (s *Server) getConfig(http.ResponseWriter, *http.Request) (any, error) { return s.o.Config() }
