package web

import (
	"bytes"
	"net/http"
	"time"

	"beckon/event"
	"beckon/render"
	"beckon/render/term"
	"beckon/render/web/feed"
	"beckon/render/web/respond"
	"beckon/state"
)

func (s *Server) healthz(w http.ResponseWriter, _ *http.Request) error {
	return respond.OK(w, s.guard.Health(s.o.Version))
}

func (s *Server) readyz(w http.ResponseWriter, _ *http.Request) error {
	if !s.ready.Load() {
		return respond.NewFault(http.StatusServiceUnavailable, "not_ready",
			"the sessions are not read yet, or the server stops", "")
	}
	return respond.Done(w)
}

// hookState is the response of GET /hook/status, which the page shows, too.
type hookState struct {
	Enabled  bool    `json:"enabled"`
	Mode     string  `json:"mode"` // hooks_active or polling_fallback
	LastAt   *string `json:"last_event_at"`
	LastAgo  *string `json:"last_event_ago"`
	LastType *string `json:"last_event_type"`
	Received int64   `json:"events_received"`  // of all sessions, since the server started
	Interval float64 `json:"polling_interval"` // seconds, in this mode
	Config   struct {
		WithHooks float64 `json:"polling_interval_with_hooks"`
		Fallback  float64 `json:"polling_interval_fallback"`
		Timeout   float64 `json:"fallback_timeout"`
	} `json:"config"`
	Reconciled   int64         `json:"reconciliations"`
	ReconciledAt *string       `json:"last_reconciliation_at"`
	Watching     string        `json:"watching"`                     // fsnotify or polling
	FilePoll     float64       `json:"file_poll_interval,omitempty"` // as it is now
	Recheck      float64       `json:"recheck_interval"`             // of processes and the client's registry
	Latency      *feed.Latency `json:"latency"`
	Clients      int           `json:"sse_clients"`
	Sessions     int           `json:"sessions"`
	Unheard      int           `json:"unheard"` // sessions that work and send no hooks
	Since        string        `json:"since"`   // when the server began
}

// unheard reports whether a session works and no hook has reported it: neither its prompt nor,
// after a long silence, a call that is still running.
func unheard(r *render.Row, mode string) bool {
	heard := r.Source == state.FromHook || r.Source == state.FromMod
	return r.State.AtWork() && !heard && (r.Turn == nil || mode == feed.ModePolling && r.Tool == nil)
}

func (s *Server) hookStatus(w http.ResponseWriter, _ *http.Request) error {
	return respond.OK(w, s.hookState(time.Now()))
}

func (s *Server) hookState(now time.Time) hookState {
	t := s.o.Timing
	h := hookState{Enabled: !s.o.Closed}
	h.Received, h.Latency = s.meter.Hooks()
	last, name := s.meter.Newest()
	mode, every := t.Hybrid(last, now)
	h.Mode, h.Interval = mode, every.Seconds()
	if last != 0 {
		h.LastAt, h.LastType = new(respond.Time(last.Time())), &name
		h.LastAgo = new(term.Age(now.Sub(last.Time())) + " ago")
	}
	h.Config.WithHooks, h.Config.Fallback, h.Config.Timeout = t.Hooks.Seconds(), t.Silent.Seconds(), t.Silence.Seconds()
	var swept event.Millis
	if h.Reconciled, swept = s.feed.Sweeps(); swept != 0 {
		h.ReconciledAt = new(respond.Time(swept.Time()))
	}
	h.Watching, h.Recheck = "fsnotify", t.Recheck.Seconds()
	if watching, every := s.feed.Watching(); !watching {
		h.Watching, h.FilePoll = "polling", every.Seconds()
	}
	h.Clients, h.Since = s.feed.Clients(), respond.Time(s.begun)
	list := s.feed.List(feed.Filter{})
	h.Sessions = len(list.Sessions)
	for i := range list.Sessions {
		if unheard(&list.Sessions[i], mode) {
			h.Unheard++
		}
	}
	return h
}

// metrics serves GET /metrics in the text format of Prometheus, version 0.0.4.
func (s *Server) metrics(w http.ResponseWriter, _ *http.Request) error {
	states := map[state.State]int{}
	var waiting int
	var longest time.Duration
	list := s.feed.List(feed.Filter{})
	for i := range list.Sessions {
		row := &list.Sessions[i]
		states[row.State]++
		if row.NeedsYou {
			waiting++
			longest = max(longest, time.Since(row.Since))
		}
	}
	for _, st := range state.States {
		s.meter.Set(`beckon_sessions{state="`+string(st)+`"}`, states[st])
	}
	watching := 0
	if is, _ := s.feed.Watching(); is {
		watching = 1
	}
	sweeps, _ := s.feed.Sweeps()
	s.meter.Set("beckon_waiting_sessions", waiting)
	s.meter.Set("beckon_waiting_seconds", int(longest.Seconds()))
	s.meter.Set("beckon_sse_clients", s.feed.Clients())
	s.meter.Set("beckon_reconciliations_total", int(sweeps))
	s.meter.Set("beckon_watching", watching)
	var b bytes.Buffer
	s.meter.Write(&b)
	respond.Bytes(w, http.StatusOK, "text/plain; version=0.0.4; charset=utf-8", b.Bytes())
	return nil
}
