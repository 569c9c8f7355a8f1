package web

import (
	"net/http"
	"runtime"
	"strings"
	"time"

	"beckon/render/web/feed"
	"beckon/render/web/respond"
	"beckon/state"
)

// metrics serves GET /metrics in the text format of Prometheus, version 0.0.4.
func (s *Server) metrics(w http.ResponseWriter, _ *http.Request) error {
	states := map[string]int64{}
	for _, st := range state.States {
		states[string(st)] = 0
	}
	var waiting, longest int64
	list := s.feed.List(feed.Filter{})
	for i := range list.Sessions {
		row := &list.Sessions[i]
		states[string(row.State)]++
		if row.NeedsYou {
			waiting++
			longest = max(longest, int64(time.Since(row.Since).Seconds()))
		}
	}
	sweeps, _ := s.feed.Sweeps()
	notified := int64(0)
	if watching, _ := s.feed.Watching(); watching {
		notified = 1
	}
	var b strings.Builder
	for _, x := range []metric{
		{name: "beckon_sessions", kind: "gauge", help: "Live sessions by state.", label: "state", by: states},
		{name: "beckon_waiting_sessions", kind: "gauge", help: "Sessions that need their user.", value: waiting},
		{name: "beckon_waiting_seconds", kind: "gauge",
			help: "How long the one that needs its user for longest has waited.", value: longest},
		{name: "beckon_sse_clients", kind: "gauge", help: "Open event streams.", value: int64(s.feed.Clients())},
		{name: "beckon_goroutines", kind: "gauge", help: "Goroutines of the server.", value: int64(runtime.NumGoroutine())},
		{name: "beckon_reconciliations_total", kind: "counter", help: "Sweeps over sessions and transcripts.", value: sweeps},
		{name: "beckon_watching", kind: "gauge",
			help: "1 while the system reports changed files, 0 while they are polled.", value: notified},
		{name: "beckon_start_time_seconds", kind: "gauge", help: "When the server began, Unix time.", value: s.begun.Unix()},
	} {
		x.write(&b)
	}
	s.meter.write(&b)
	respond.Bytes(w, http.StatusOK, "text/plain; version=0.0.4; charset=utf-8", []byte(b.String()))
	return nil
}
