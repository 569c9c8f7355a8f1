package web

import (
	"cmp"
	"fmt"
	"io"
	"maps"
	"net/http"
	"runtime"
	"slices"
	"strconv"
	"strings"

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
	list := s.hub.list(filter{})
	for i := range list.Sessions {
		counts[string(list.Sessions[i].State)]++
	}
	head(w, "beckon_sessions", "gauge", "Live sessions by state.")
	labelled(w, "beckon_sessions", "state", counts)
	single(w, "beckon_sse_clients", "gauge", "Open event streams.", int64(s.hub.count()))
	single(w, "beckon_goroutines", "gauge", "Goroutines of the server.", int64(runtime.NumGoroutine()))
	single(w, "beckon_reconciliations_total", "counter", "Sweeps over sessions and transcripts.", s.board.sweep.runs.Load())
	single(w, "beckon_sse_gaps_total", "counter", "Times an event stream fell behind and got a snapshot.", s.meter.gaps.Load())
	notified := int64(0)
	if watching, _ := s.board.follow.Watching(); watching {
		notified = 1
	}
	single(w, "beckon_watching", "gauge", "1 while the system reports changed files, 0 while they are polled.", notified)
	single(w, "beckon_start_time_seconds", "gauge", "When the server began, Unix time.", s.begun.Unix())
	s.meter.write(w)
}

func (m *meter) write(w io.Writer) {
	m.mu.Lock()
	defer m.mu.Unlock()
	events := map[string]int64{}
	for k, n := range m.events {
		events[cmp.Or(string(k), "unknown")] += n
	}
	head(w, "beckon_events_total", "counter", "Events of all sessions since the server began, by kind.")
	labelled(w, "beckon_events_total", "kind", events)
	head(w, "beckon_sse_events_total", "counter", "Events published to streams, by name.")
	labelled(w, "beckon_sse_events_total", "event", m.sse)
	head(w, "beckon_dropped_total", "counter", "Requests refused and prompts not folded, by reason.")
	labelled(w, "beckon_dropped_total", "reason", m.dropped)
	m.writeHistogram(w)
}

func (m *meter) writeHistogram(w io.Writer) {
	const name = "beckon_hook_duration_seconds"
	head(w, name, "histogram", "What hooks took until their event was written.")
	var sum int64
	for i, bound := range buckets {
		sum += m.hist[i]
		fmt.Fprintf(w, "%s_bucket{le=%q} %d\n", name, strconv.FormatFloat(float64(bound)/1e6, 'g', -1, 64), sum)
	}
	fmt.Fprintf(w, "%s_bucket{le=\"+Inf\"} %d\n%s_sum %g\n%s_count %d\n", name, m.histN, name, float64(m.histSum)/1e6, name, m.histN)
}

func head(w io.Writer, name, kind, help string) {
	fmt.Fprintf(w, "# HELP %s %s\n# TYPE %s %s\n", name, help, name, kind)
}

func single(w io.Writer, name, kind, help string, v int64) {
	head(w, name, kind, help)
	fmt.Fprintf(w, "%s %d\n", name, v)
}

// labelled writes one line per label, sorted. Labels are words of this program.
func labelled(w io.Writer, name, label string, values map[string]int64) {
	for _, v := range slices.Sorted(maps.Keys(values)) {
		fmt.Fprintf(w, "%s{%s=%q} %d\n", name, label, v, values[v])
	}
}
