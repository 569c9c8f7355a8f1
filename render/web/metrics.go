package web

import (
	"bytes"
	"net/http"
	"runtime"
	"time"

	"beckon/render/web/feed"
	"beckon/render/web/respond"
	"beckon/state"
)

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
	s.meter.Set("beckon_goroutines", runtime.NumGoroutine())
	s.meter.Set("beckon_reconciliations_total", int(sweeps))
	s.meter.Set("beckon_watching", watching)
	s.meter.Set("beckon_start_time_seconds", int(s.begun.Unix()))
	var b bytes.Buffer
	s.meter.Write(&b)
	respond.Bytes(w, http.StatusOK, "text/plain; version=0.0.4; charset=utf-8", b.Bytes())
	return nil
}
