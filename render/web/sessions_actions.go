package web

import (
	"context"
	"fmt"
	"net/http"
	"time"

	"beckon/event"
	"beckon/render"
	"beckon/render/web/respond"
	"beckon/state"
	"beckon/state/store"
)

// seen serves POST /api/sessions/{id}/seen.
func (s *Server) seen(w http.ResponseWriter, r *http.Request) error {
	return s.act(w, r, func(body, event.Millis) state.Action { return state.Action{Kind: state.ActSeen} })
}

// backburner serves POST /api/sessions/{id}/backburner.
func (s *Server) backburner(w http.ResponseWriter, r *http.Request) error {
	return s.act(w, r, func(b body, until event.Millis) state.Action {
		if b.Off {
			return state.Action{Kind: state.ActBackburnerOff}
		}
		return state.Action{Kind: state.ActBackburner, Until: until}
	})
}

// act folds an action of the user on a session and responds with its row.
func (s *Server) act(w http.ResponseWriter, r *http.Request, action func(body, event.Millis) state.Action) error {
	b, until, err := s.actionBody(w, r)
	if err != nil {
		return err
	}
	v, err := s.named(r)
	if err != nil {
		return err
	}
	if v.Session.Seq == 0 {
		return respond.NewFault(http.StatusConflict, "no_hooks",
			"no hook of this session was heard yet, so nothing can be noted of it", "its next event makes it known")
	}
	a, key := action(b, until), store.KeyOf(v.Session.Record())
	_, err = s.o.Store.Fold(key, store.Update{Change: state.Change{At: s.tick(), Action: &a}})
	s.feed.Touch()
	if err == nil {
		v, err = s.named(r) // as it is now
	}
	if err != nil {
		return err
	}
	return s.session(w, r, v)
}

// body is the body of a request for an action.
type body struct {
	Off   bool   `json:"off"`
	Until string `json:"until"` // in the format of render.Until
}

// actionBody parses a body, which may be absent, and its time.
func (s *Server) actionBody(w http.ResponseWriter, r *http.Request) (b body, until event.Millis, err error) {
	if r.ContentLength != 0 {
		if err := s.read(w, r, &b, `for example {"until": "2h"}`); err != nil {
			return b, until, err
		}
	}
	if until, err = render.Until(b.Until, time.Now()); err != nil {
		err = respond.NewFault(http.StatusBadRequest, "bad_until",
			fmt.Sprintf("until %q: %v", cut(b.Until), err), `for example {"until": "2h"}`)
	}
	return b, until, err
}

// jumpTime is how long a jump may take.
const jumpTime = 10 * time.Second

// jump serves POST /api/sessions/{id}/jump.
func (s *Server) jump(w http.ResponseWriter, r *http.Request, v state.Seen) error {
	if s.o.Jump == nil {
		return respond.NewFault(http.StatusNotImplemented, "no_jump", "this server cannot jump", "")
	}
	ctx, cancel := context.WithTimeout(r.Context(), jumpTime)
	defer cancel()
	if err := s.o.Jump(ctx, v); err != nil {
		return respond.NewFault(http.StatusConflict, "cannot_jump", err.Error(), render.HintOf(err))
	}
	return respond.Done(w)
}
