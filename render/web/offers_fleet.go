package web

import (
	"context"
	"net/http"
	"slices"
	"time"

	"beckon/render"
	cards "beckon/render/card"
	"beckon/render/web/respond"
	"beckon/state/offer"
)

// farTime is how long another machine may take.
const farTime = 20 * time.Second

// far is ofAnswerer for a session of another machine. Every answer counts as one from
// elsewhere: it allows only once.
func (s *Server) far(h func(http.ResponseWriter, *http.Request, render.Row) error) func(http.ResponseWriter, *http.Request) error {
	return s.ofAnswerer(func(w http.ResponseWriter, r *http.Request, _ offer.From) error {
		row, ok := s.feed.Elsewhere(r.PathValue("host"), r.PathValue("id"))
		switch {
		case !ok:
			return respond.NewFault(http.StatusNotFound, "no_such_session", "no session of that name is on that machine", "GET /api/sessions lists those of this one, a snapshot of /events all")
		case s.o.Far == nil || row.Remote.Link == "":
			return respond.NewFault(http.StatusConflict, "no_answers", "that machine is asked by ssh, which carries no answers", "beckon jump goes there")
		case row.Remote.Stale:
			return respond.NewFault(http.StatusConflict, "not_heard", row.Remote.Name+" is not heard", "")
		}
		return h(w, r, row)
	})
}

// farOffers serves GET /api/hosts/{host}/sessions/{id}/offers.
func (s *Server) farOffers(w http.ResponseWriter, r *http.Request, row render.Row) error {
	list, err := s.askFar(r, row)
	if err != nil {
		return err
	}
	out := offerList{Schema: 1, answering: answering{From: offer.Remote}, Offers: []offered{}}
	for i := range list {
		out.Offers = append(out.Offers, drawnAs(&list[i].Offer, list[i].Card))
	}
	return respond.OK(w, out)
}

func (s *Server) askFar(r *http.Request, row render.Row) ([]cards.Offered, error) {
	ctx, cancel := context.WithTimeout(r.Context(), farTime)
	defer cancel()
	list, err := s.o.Far.Ask(ctx, row)
	if err != nil {
		return nil, notThere(&row, err)
	}
	return list, nil
}

// notThere returns the error for what another machine did not do. Its words are a stranger's.
func notThere(row *render.Row, err error) error {
	return respond.NewFault(http.StatusBadGateway, "not_answered", render.OneLine(row.Remote.Name+": "+err.Error()), "")
}

// farReact serves POST /api/hosts/{host}/sessions/{id}/offers/{offer}. It asks the machine for
// its session's request again, so that the answer is to what was shown.
func (s *Server) farReact(w http.ResponseWriter, r *http.Request, row render.Row) error {
	var b reaction
	if err := s.read(w, r, &b, `for example {"digest": "...", "drawn": "...", "word": "allow"}`); err != nil {
		return err
	}
	list, err := s.askFar(r, row)
	if err != nil {
		return err
	}
	i := slices.IndexFunc(list, func(o cards.Offered) bool { return o.ID == r.PathValue("offer") })
	switch {
	case i < 0:
		return respond.NewFault(http.StatusGone, "over", "it is not asked any more", "")
	case list[i].Digest != b.Digest:
		return errRedrawn
	case b.Always != 0:
		return respond.NewFault(http.StatusForbidden, "always_elsewhere", offer.ErrAlways.Error(), "")
	}
	a, err := b.answer(drawnAs(&list[i].Offer, list[i].Card))
	if err != nil {
		return err
	}
	return s.farDo(w, r, row, func(ctx context.Context) (string, error) { return s.o.Far.Answer(ctx, row, list[i], a) })
}

// farReply serves POST /api/hosts/{host}/sessions/{id}/reply.
func (s *Server) farReply(w http.ResponseWriter, r *http.Request, row render.Row) error {
	said, err := s.said(w, r)
	if err != nil {
		return err
	}
	return s.farDo(w, r, row, func(ctx context.Context) (string, error) { return s.o.Far.Say(ctx, row, said.Reply) })
}

// farStop serves POST /api/hosts/{host}/sessions/{id}/stop.
func (s *Server) farStop(w http.ResponseWriter, r *http.Request, row render.Row) error {
	return s.farDo(w, r, row, func(ctx context.Context) (string, error) { return s.o.Far.Stop(ctx, row) })
}

func (s *Server) farDo(w http.ResponseWriter, r *http.Request, row render.Row, do func(context.Context) (string, error)) error {
	// The order stands even if the caller goes away meanwhile.
	ctx, cancel := context.WithTimeout(context.WithoutCancel(r.Context()), farTime)
	defer cancel()
	done, err := do(ctx)
	if err != nil {
		return notThere(&row, err)
	}
	return respond.OK(w, became{Taken: true, Why: render.OneLine(done)})
}
