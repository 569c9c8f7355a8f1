package web

import (
	"bytes"
	"cmp"
	"fmt"
	"net/http"
	"sync/atomic"
	"time"

	"beckon/render/term"
	"beckon/render/web/access"
	"beckon/state"
	"beckon/state/store"

	"github.com/VictoriaMetrics/metrics"
)

func (s *Server) healthz(http.ResponseWriter, *http.Request) (any, error) {
	return s.guard.Health(s.o.Version), nil
}

// hookState is the response of GET /hook/status, which the page shows, too.
type hookState struct {
	Enabled  bool       `json:"enabled"`
	Mode     string     `json:"mode"` // hooks_active or polling_fallback
	LastAt   *time.Time `json:"last_event_at"`
	LastAgo  *string    `json:"last_event_ago"`
	LastType *string    `json:"last_event_type"`
	Received int64      `json:"events_received"`  // of all sessions, since the server started
	Interval float64    `json:"polling_interval"` // seconds, in this mode
	Config   struct {
		WithHooks float64 `json:"polling_interval_with_hooks"`
		Fallback  float64 `json:"polling_interval_fallback"`
		Timeout   float64 `json:"fallback_timeout"`
	} `json:"config"`
	Reconciled int64  `json:"reconciliations"`
	Watching   string `json:"watching"` // fsnotify or polling
	Clients    int    `json:"sse_clients"`
	Sessions   int    `json:"sessions"`
}

func (s *Server) hookStatus(http.ResponseWriter, *http.Request) (any, error) {
	t, now := s.o.Timing, time.Now()
	h := hookState{Enabled: !s.o.Closed}
	h.Received = s.feed.meter.received.Load()
	_, _, last := s.feed.local()
	mode, every := t.hybrid(last.At, now)
	h.Mode, h.Interval = mode, every.Seconds()
	if last.At != 0 {
		h.LastAt, h.LastType = new(last.At.Time()), &last.Reason
		h.LastAgo = new(term.Age(now.Sub(last.At.Time())) + " ago")
	}
	h.Config.WithHooks, h.Config.Fallback, h.Config.Timeout = t.Hooks.Seconds(), t.Silent.Seconds(), t.Silence.Seconds()
	h.Reconciled = s.feed.sweeps.Load()
	h.Watching = "fsnotify"
	if !s.feed.Watching() {
		h.Watching = "polling"
	}
	h.Clients = s.feed.clients()
	h.Sessions = len(s.feed.list().Sessions)
	return h, nil
}

// metrics serves GET /metrics in the text format of Prometheus, version 0.0.4.
func (s *Server) metrics(w http.ResponseWriter, _ *http.Request) (any, error) {
	states := map[state.State]int{}
	var waiting int
	var longest time.Duration
	list := s.feed.list()
	for i := range list.Sessions {
		row := &list.Sessions[i]
		states[row.State]++
		if row.NeedsYou {
			waiting++
			longest = max(longest, time.Since(row.Since))
		}
	}
	for _, st := range state.States {
		s.feed.meter.set(`beckon_sessions{state="`+string(st)+`"}`, states[st])
	}
	s.feed.meter.set("beckon_waiting_sessions", waiting)
	s.feed.meter.set("beckon_waiting_seconds", int(longest.Seconds()))
	s.feed.meter.set("beckon_sse_clients", s.feed.clients())
	var b bytes.Buffer
	s.feed.meter.WritePrometheus(&b)
	access.Bytes(w, http.StatusOK, "text/plain; version=0.0.4; charset=utf-8", b.Bytes())
	return nil, nil
}

// buckets are the bounds of the hook latency histogram, in seconds.
var buckets = []float64{.0005, .001, .002, .003, .005, .01, .02, .05, .1, .5, 1, 2}

// meter counts what a server does, from its start on.
type meter struct {
	*metrics.Set
	took     *metrics.PrometheusHistogram
	received *atomic.Int64 // events, of all sessions
}

func newMeter() meter {
	metrics.ExposeMetadata(true)
	set := metrics.NewSet()
	return meter{set, set.NewPrometheusHistogramExt("beckon_hook_duration_seconds", buckets), new(atomic.Int64)}
}

// line counts a line of history.
func (m meter) line(l *store.Line) {
	if e := l.Event; e != nil {
		m.count("beckon_events_total", "kind", cmp.Or(string(e.Kind), "unknown"))
		m.received.Add(1)
		if l.Us > 0 {
			m.took.Update(float64(l.Us) / 1e6)
		}
	}
}

// count counts one more in a metric with a label.
func (m meter) count(metric, label, value string) {
	m.GetOrCreateCounter(fmt.Sprintf("%s{%s=%q}", metric, label, value)).Inc()
}

// refused counts a request that was not served, by reason.
func (m meter) refused(reason string) { m.count("beckon_refused_total", "reason", reason) }

// set sets a gauge.
func (m meter) set(gauge string, value int) { m.GetOrCreateGauge(gauge, nil).Set(float64(value)) }
