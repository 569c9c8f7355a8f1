package web

import (
	"io"
	"net/http"
	"runtime"
	"strings"

	"beckon/render/web/feed"
	"beckon/render/web/meter"
	"beckon/render/web/respond"
	"beckon/state"
)

// metrics serves GET /metrics in the text format of Prometheus, version 0.0.4.
func (s *Server) metrics(w http.ResponseWriter, _ *http.Request) {
	var b strings.Builder
	s.writeMetrics(&b)
	respond.Bytes(w, http.StatusOK, "text/plain; version=0.0.4; charset=utf-8", []byte(b.String()))
}

func (s *Server) writeMetrics(w io.Writer) {
	counts := map[string]int64{}
	for _, st := range state.States {
		counts[string(st)] = 0
	}
	sweeps, _ := s.feed.Sweeps()
	list := s.feed.List(feed.Filter{})
	for i := range list.Sessions {
		counts[string(list.Sessions[i].State)]++
	}
	meter.Labelled(w, "beckon_sessions", "gauge", "Live sessions by state.", "state", counts)
	meter.Single(w, "beckon_sse_clients", "gauge", "Open event streams.", int64(s.feed.Clients()))
	meter.Single(w, "beckon_goroutines", "gauge", "Goroutines of the server.", int64(runtime.NumGoroutine()))
	meter.Single(w, "beckon_reconciliations_total", "counter", "Sweeps over sessions and transcripts.", sweeps)
	notified := int64(0)
	if watching, _ := s.feed.Watching(); watching {
		notified = 1
	}
	meter.Single(w, "beckon_watching", "gauge", "1 while the system reports changed files, 0 while they are polled.", notified)
	meter.Single(w, "beckon_start_time_seconds", "gauge", "When the server began, Unix time.", s.begun.Unix())
	s.meter.Write(w)
}
