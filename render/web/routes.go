package web

import (
	"errors"
	"net/http"

	"beckon/render/web/respond"
	"beckon/state"
	"beckon/state/offer"
)

// handler returns everything that is served, behind the guard.
func (s *Server) handler() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("POST /hook", s.hook)
	mux.HandleFunc("POST /hook/{name}", s.trackedHook)
	mux.HandleFunc("GET /hook/status", s.hookStatus)
	mux.HandleFunc("GET /api/sessions", s.api(s.sessions))
	mux.HandleFunc("GET /api/sessions/{id}", s.ofSession(s.session))
	mux.HandleFunc("GET /api/sessions/{id}/turns", s.ofSession(s.turns))
	mux.HandleFunc("GET /api/sessions/{id}/journal", s.ofSession(s.journal))
	mux.HandleFunc("POST /api/sessions/{id}/seen", s.api(s.seen))
	mux.HandleFunc("POST /api/sessions/{id}/backburner", s.api(s.backburner))
	mux.HandleFunc("POST /api/sessions/{id}/jump", s.ofSession(s.jump))
	mux.HandleFunc("POST /api/sessions/{id}/stop", s.ofAnswerer(s.stop))
	mux.HandleFunc("POST /api/sessions/{id}/reply", s.ofAnswerer(s.reply))
	mux.HandleFunc("GET /api/hosts/{host}/sessions/{id}/offers", s.far(s.farOffers))
	mux.HandleFunc("POST /api/hosts/{host}/sessions/{id}/offers/{offer}", s.far(s.farReact))
	mux.HandleFunc("POST /api/hosts/{host}/sessions/{id}/reply", s.far(s.farReply))
	mux.HandleFunc("POST /api/hosts/{host}/sessions/{id}/stop", s.far(s.farStop))
	mux.HandleFunc("GET /api/offers", s.api(s.offers))
	mux.HandleFunc("GET /api/offers/{id}", s.api(s.offer))
	mux.HandleFunc("POST /api/offers/{id}", s.ofAnswerer(s.react))
	mux.HandleFunc("POST /api/away", s.ofAnswerer(s.goAway))
	s.door.Routes(mux)
	mux.HandleFunc("GET /api/stats", s.api(s.getStats))
	mux.HandleFunc("GET /api/timeline", s.api(s.getTimeline))
	mux.HandleFunc("GET /api/digest", s.api(s.getDigest))
	mux.HandleFunc("GET /api/config", s.api(s.getConfig))
	mux.HandleFunc("GET /events", s.api(s.events))
	mux.HandleFunc("GET /metrics", s.metrics)
	mux.HandleFunc("GET /healthz", s.healthz)
	mux.HandleFunc("GET /readyz", s.readyz)
	if s.o.Page != nil {
		for _, p := range []string{"GET /{$}", "GET /session/", "GET /assets/"} {
			mux.Handle(p, s.o.Page)
		}
	}
	return s.conns.count(s.door.Guard(route(mux)))
}

// events serves GET /events. A stream is not counted as a connection: the feed limits them.
func (s *Server) events(w http.ResponseWriter, r *http.Request) error {
	return s.feed.Stream(w, r, s.door.Over(r), func() { s.conns.stream(r) })
}

// api returns a handler that responds, or with the error.
func (s *Server) api(h func(http.ResponseWriter, *http.Request) error) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		err := h(w, r)
		if err == nil {
			return
		}
		f, ok := errors.AsType[*respond.Fault](err)
		if !ok {
			s.o.Log(err)
			f = respond.NewFault(http.StatusInternalServerError, "internal", "internal processing error", "beckon fsck checks the state files")
		}
		respond.Error(w, f)
	}
}

// ofSession is api for requests about a session in their path.
func (s *Server) ofSession(h func(http.ResponseWriter, *http.Request, state.Seen) error) http.HandlerFunc {
	return s.api(func(w http.ResponseWriter, r *http.Request) error {
		v, err := s.named(r)
		if err != nil {
			return err
		}
		return h(w, r, v)
	})
}

// ofAnswerer is api for clients that may answer, with where they answer from.
func (s *Server) ofAnswerer(h func(http.ResponseWriter, *http.Request, offer.From) error) http.HandlerFunc {
	return s.api(func(w http.ResponseWriter, r *http.Request) error {
		from, err := s.door.Answerer(r)
		if err != nil {
			return err
		}
		return h(w, r, from)
	})
}

// route responds in JSON where the mux would respond in plain text.
func route(mux *http.ServeMux) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		h, pattern := mux.Handler(r)
		if pattern != "" {
			mux.ServeHTTP(w, r)
			return
		}
		probe := probe{header: http.Header{}, status: http.StatusOK}
		h.ServeHTTP(&probe, r)
		if probe.status == http.StatusMethodNotAllowed {
			w.Header().Set("Allow", probe.header.Get("Allow"))
			respond.Error(w, respond.NewFault(probe.status, "bad_method", "that method is not for this path", "allowed: "+probe.header.Get("Allow")))
			return
		}
		respond.Error(w, respond.NewFault(http.StatusNotFound, "not_found", "there is nothing here", "see /api/sessions, /events, /hook/status"))
	})
}

// probe records the mux's response.
type probe struct {
	header http.Header
	status int
}

func (p *probe) Header() http.Header         { return p.header }
func (p *probe) Write(b []byte) (int, error) { return len(b), nil }
func (p *probe) WriteHeader(status int)      { p.status = status }
