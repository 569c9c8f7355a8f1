package web

import (
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"slices"
	"strconv"
	"time"

	"beckon/event"
	"beckon/render"
	"beckon/render/web/feed"
	"beckon/render/web/respond"
	"beckon/state"
	"beckon/state/history"
	"beckon/state/live"
	"beckon/state/store"
)

// cut shortens a client's text before it is repeated in a response.
func cut(s string) string { return event.Cut(s, 64) }

// sessions serves GET /api/sessions: the rows of `list --json`, with ?all=true those of `list
// --json --all`, and with ?state= and ?session= some of them. The time at work alone does not
// count as a change.
func (s *Server) sessions(w http.ResponseWriter, r *http.Request) error {
	f, err := feed.ParseFilter(r)
	if err != nil {
		return err
	}
	list := s.feed.List(f)
	if all := r.URL.Query().Get("all"); all == "true" || all == "1" {
		if list, err = s.everything(f); err != nil {
			return err
		}
	}
	rows, err := respond.Encode(list.Sessions)
	if err != nil {
		return err
	}
	if err := s.busy.fill(list.Sessions, list.GeneratedAt); err != nil {
		s.o.Log(err)
	}
	return respond.Tagged(w, r, rows, list)
}

// everything also lists ended and archived sessions.
func (s *Server) everything(f feed.Filter) (render.List, error) {
	all, err := live.NewReader(s.o.Store, s.o.Registry).Look(true)
	list := render.List{Schema: render.ListSchema, GeneratedAt: all.Now.Time(), Sessions: []render.Row{}}
	for _, row := range render.Rows(all.Seen, true) {
		if f.Shows(&row) {
			list.Sessions = append(list.Sessions, row)
		}
	}
	return list, err
}

// named returns the session that a request names: by a session's id, or by a seat's, which
// means its newest session.
func (s *Server) named(r *http.Request) (state.Seen, error) {
	id := r.PathValue("id")
	if row, ok := s.feed.Find(id); ok {
		id = row.Record()
	}
	reader := live.NewReader(s.o.Store, s.o.Registry)
	loaded, err := s.o.Store.Load(store.KeyOf(id))
	if err == nil && loaded.Record() == id {
		return reader.One(loaded, reader.Now()), nil
	}
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return state.Seen{}, err
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
	return state.Seen{}, respond.NewFault(http.StatusNotFound, "no_such_session", fmt.Sprintf("no session or seat %q", cut(id)), "GET /api/sessions?all=true lists them")
}

// session serves GET /api/sessions/{id}: one row.
func (s *Server) session(w http.ResponseWriter, r *http.Request, v state.Seen) error {
	rows := render.Rows([]state.Seen{v}, true)
	b, err := respond.Encode(rows)
	if err != nil {
		return err
	}
	if v.Session.Seq > 0 {
		if today, err := s.busy.read(&rows[0], time.Now()); err == nil {
			rows[0].Busy = &today.seconds
		} else {
			s.o.Log(err)
		}
	}
	return respond.Tagged(w, r, b, rows[0])
}

// turnsPage is the response of GET /api/sessions/{id}/turns.
type turnsPage struct {
	SessionID string            `json:"session_id"`
	Turns     []render.TurnLine `json:"turns"` // the newest, oldest first
}

// turns serves what was said in a session, including its transcript.
func (s *Server) turns(w http.ResponseWriter, r *http.Request, v state.Seen) error {
	_, limit, err := pageOf(r)
	if err != nil {
		return err
	}
	err = history.Sweep(s.o.Store, &v.Session)
	all, e := history.Turns(s.o.Store, store.KeyOf(v.Session.Record()))
	if err = errors.Join(err, e); err != nil {
		return err
	}
	return respond.Whole(w, r, turnsPage{v.Session.ID, render.TurnLines(&v.Session, all[max(0, len(all)-limit):])})
}

// Limits of a page of the journal.
const (
	pageDefault = 200
	pageMax     = 1000
)

// journalPage is the response of GET /api/sessions/{id}/journal.
type journalPage struct {
	SessionID string        `json:"session_id"`
	Lines     []journalLine `json:"lines"`
	Next      int64         `json:"next,omitempty"` // for ?after= of the next request
}

// journalLine is one line of a journal.
type journalLine struct {
	Seq         int64           `json:"seq"`
	At          string          `json:"at"`
	Kind        string          `json:"kind"`
	Us          int64           `json:"us,omitempty"`
	Event       *event.Event    `json:"event,omitempty"`
	Observation *state.Observed `json:"observation,omitempty"`
	Action      *state.Action   `json:"action,omitempty"`
	Turn        *state.Turn     `json:"turn,omitempty"`
}

func lineOf(l store.Line) journalLine {
	c := l.Change
	return journalLine{Seq: c.Seq, At: respond.Time(c.At.Time()), Kind: l.Kind(), Us: l.Us, Event: c.Event, Observation: c.Observation, Action: c.Action, Turn: c.Turn}
}

// journal serves the lines of a session's journal after ?after=, at most
// ?limit= of them: the oldest, or with ?last=true the newest.
func (s *Server) journal(w http.ResponseWriter, r *http.Request, v state.Seen) error {
	after, limit, err := pageOf(r)
	if err != nil {
		return err
	}
	page := journalPage{SessionID: v.Session.ID, Lines: []journalLine{}}
	take := page.oldest
	if r.URL.Query().Get("last") == "true" {
		take = page.newest
	}
	err = s.o.Store.Lines(store.KeyOf(v.Session.Record()), after, func(l store.Line) { take(lineOf(l), limit) })
	if err != nil {
		return err
	}
	return respond.Whole(w, r, page)
}

func (p *journalPage) oldest(l journalLine, limit int) {
	if len(p.Lines) < limit {
		p.Lines = append(p.Lines, l)
	} else {
		p.Next = p.Lines[limit-1].Seq
	}
}

// newest drops the oldest line; append copies the rest now and then.
func (p *journalPage) newest(l journalLine, limit int) {
	if len(p.Lines) == limit {
		p.Lines = p.Lines[1:]
	}
	p.Lines = append(p.Lines, l)
}

func pageOf(r *http.Request) (after int64, limit int, err error) {
	limit = pageDefault
	q := r.URL.Query()
	if a := q.Get("after"); a != "" {
		if after, err = strconv.ParseInt(a, 10, 64); err != nil || after < 0 {
			return 0, 0, respond.NewFault(http.StatusBadRequest, "bad_after", fmt.Sprintf("after=%q is not a sequence number", cut(a)), "")
		}
	}
	if l := q.Get("limit"); l != "" {
		if limit, err = strconv.Atoi(l); err != nil || limit < 1 || limit > pageMax {
			return 0, 0, respond.NewFault(http.StatusBadRequest, "bad_limit", fmt.Sprintf("limit=%q is not between 1 and %d", cut(l), pageMax), "")
		}
	}
	return after, limit, nil
}
