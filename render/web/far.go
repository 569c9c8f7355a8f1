package web

import (
	"context"
	"net/http"
	"slices"
	"time"

	"beckon/render"
	cards "beckon/render/card"
	"beckon/state/offer"
)

// Far speaks to the sessions of other machines, as far as those let this one. What it
// returns beside an error is what was done, in words.
type Far struct {
	Ask    func(context.Context, render.Row) ([]FarOffer, error) // what the session asks now
	Answer func(context.Context, render.Row, offer.Answer) (string, error)
	Say    func(ctx context.Context, r render.Row, words string) (string, error)
	Stop   func(context.Context, render.Row) (string, error)
}

// FarOffer is what a session of another machine asks, with its card.
type FarOffer struct {
	offer.Offer
	Card cards.Card
}

// farTime is how long another machine may take.
const farTime = 20 * time.Second

// far returns the session that a request names, for whom may answer it. An answer
// travels as one from elsewhere, whoever gives it: what it allows, it allows once.
func (s *Server) far(w http.ResponseWriter, r *http.Request) (row render.Row, ok bool) {
	if _, fail := s.answerer(r); fail != nil {
		writeError(w, fail)
		return row, false
	}
	row, ok = s.hub.elsewhere(r.PathValue("host"), r.PathValue("id"))
	switch {
	case !ok:
		writeError(w, &fault{http.StatusNotFound, "no_such_session", "no session of that name is on that machine", "GET /api/sessions lists those of this one, a snapshot of /events all"})
	case s.o.Far == nil || row.Remote.Link == "":
		writeError(w, &fault{http.StatusConflict, "no_answers", "that machine is asked by ssh, which carries no answers", "beckon jump goes there"})
	case row.Remote.Stale:
		writeError(w, &fault{http.StatusConflict, "not_heard", row.Remote.Name + " is not heard", ""})
	default:
		return row, true
	}
	return row, false
}

// elsewhere returns the row of another machine's session, by its seat or, without
// one, its record.
func (h *hub) elsewhere(host, id string) (render.Row, bool) {
	h.mu.RLock()
	defer h.mu.RUnlock()
	s := h.rows[farKey(host, id)]
	if s == nil {
		return render.Row{}, false
	}
	return s.row, true
}

// farKey is a key that no seat of this machine and no other machine has: names have no
// control characters.
func farKey(host, id string) string { return "elsewhere\x00" + host + "\x00" + id }

// farOffers serves GET /api/hosts/{host}/sessions/{id}/offers.
func (s *Server) farOffers(w http.ResponseWriter, r *http.Request) {
	row, ok := s.far(w, r)
	if !ok {
		return
	}
	list, ok := s.askFar(w, r, row)
	if !ok {
		return
	}
	out := offerList{Schema: 1, answering: answering{From: offer.Remote}, Offers: []offered{}}
	for i := range list {
		out.Offers = append(out.Offers, drawnAs(&list[i].Offer, list[i].Card))
	}
	writeJSON(w, http.StatusOK, out)
}

func (s *Server) askFar(w http.ResponseWriter, r *http.Request, row render.Row) (list []FarOffer, ok bool) {
	ctx, cancel := context.WithTimeout(r.Context(), farTime)
	defer cancel()
	list, err := s.o.Far.Ask(ctx, row)
	if err != nil {
		writeError(w, notThere(&row, err))
	}
	return list, err == nil
}

// notThere is what another machine did not do. What it says of that is a stranger's.
func notThere(row *render.Row, err error) *fault {
	return &fault{http.StatusBadGateway, "not_answered", render.OneLine(row.Remote.Name + ": " + err.Error()), ""}
}

// farReact serves POST /api/hosts/{host}/sessions/{id}/offers/{offer}. The machine is
// asked once more what its session asks, so that what is answered is what was drawn.
func (s *Server) farReact(w http.ResponseWriter, r *http.Request) {
	row, ok := s.far(w, r)
	if !ok {
		return
	}
	var b reaction
	if fail := s.read(w, r, &b, `for example {"digest": "...", "drawn": "...", "word": "allow"}`); fail != nil {
		writeError(w, fail)
		return
	}
	list, ok := s.askFar(w, r, row)
	if !ok {
		return
	}
	i := slices.IndexFunc(list, func(o FarOffer) bool { return o.ID == r.PathValue("offer") })
	switch {
	case i < 0:
		writeError(w, &fault{http.StatusGone, "over", "it is not asked any more", ""})
		return
	case list[i].Digest != b.Digest:
		writeError(w, errRedrawn)
		return
	case b.Always != 0:
		writeError(w, &fault{http.StatusForbidden, "always_elsewhere", offer.ErrAlways.Error(), ""})
		return
	}
	a, fail := b.answer(drawnAs(&list[i].Offer, list[i].Card))
	if fail != nil {
		writeError(w, fail)
		return
	}
	s.farDo(w, r, row, func(ctx context.Context) (string, error) { return s.o.Far.Answer(ctx, row, a) })
}

// farReply serves POST /api/hosts/{host}/sessions/{id}/reply.
func (s *Server) farReply(w http.ResponseWriter, r *http.Request) {
	row, ok := s.far(w, r)
	if !ok {
		return
	}
	said, fail := s.said(w, r)
	if fail != nil {
		writeError(w, fail)
		return
	}
	s.farDo(w, r, row, func(ctx context.Context) (string, error) { return s.o.Far.Say(ctx, row, said.Reply) })
}

// farStop serves POST /api/hosts/{host}/sessions/{id}/stop.
func (s *Server) farStop(w http.ResponseWriter, r *http.Request) {
	if row, ok := s.far(w, r); ok {
		s.farDo(w, r, row, func(ctx context.Context) (string, error) { return s.o.Far.Stop(ctx, row) })
	}
}

func (s *Server) farDo(w http.ResponseWriter, r *http.Request, row render.Row, do func(context.Context) (string, error)) {
	// Who goes away meanwhile has told what they want all the same.
	ctx, cancel := context.WithTimeout(context.WithoutCancel(r.Context()), farTime)
	defer cancel()
	done, err := do(ctx)
	if err != nil {
		writeError(w, notThere(&row, err))
		return
	}
	writeJSON(w, http.StatusOK, became{Taken: true, Why: render.OneLine(done)})
}
