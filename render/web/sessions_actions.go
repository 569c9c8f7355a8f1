package web

import (
	"context"
	"fmt"
	"net/http"
	"time"

	"beckon/render"
	"beckon/render/web/respond"
	"beckon/state"
	"beckon/state/store"
)

// seen serves POST /api/sessions/{id}/seen.
func (s *Server) seen(w http.ResponseWriter, r *http.Request) error {
	return s.act(w, r, func(body) (state.Action, error) { return state.Action{Kind: state.ActSeen}, nil })
}

// body is the body of a request for an action.
type body struct {
	Off   bool   `json:"off"`
	Until string `json:"until"` // in the format of render.Until
}

// backburner serves POST /api/sessions/{id}/backburner.
func (s *Server) backburner(w http.ResponseWriter, r *http.Request) error {
	return s.act(w, r, func(b body) (state.Action, error) {
		if b.Off {
			return state.Action{Kind: state.ActBackburnerOff}, nil
		}
		until, err := render.Until(b.Until, time.Now())
		if err != nil {
			return state.Action{}, badUntil(b.Until, err)
		}
		return state.Action{Kind: state.ActBackburner, Until: until}, nil
	})
}

func badUntil(until string, err error) error {
	return respond.NewFault(http.StatusBadRequest, "bad_until",
		fmt.Sprintf("until %q: %v", cut(until), err), `for example {"until": "2h"}`)
}

// act folds an action of the user on a session and responds with its row.
func (s *Server) act(w http.ResponseWriter, r *http.Request, action func(body) (state.Action, error)) error {
	b, err := s.actionBody(w, r)
	if err != nil {
		return err
	}
	a, err := action(b)
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
	key := store.KeyOf(v.Session.Record())
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

// actionBody parses a body that may be absent.
func (s *Server) actionBody(w http.ResponseWriter, r *http.Request) (b body, err error) {
	if r.ContentLength == 0 {
		return b, nil
	}
	err = s.read(w, r, &b, `for example {"until": "2h"}`)
	return b, err
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
