package feed

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"sync"

	"beckon/event"
	"beckon/state/store"

	"github.com/VictoriaMetrics/metrics"
)

// buckets are the bounds of the hook latency histogram, in seconds.
var buckets = []float64{.0005, .001, .002, .003, .005, .01, .02, .05, .1, .5, 1, 2}

// sample is how many of the newest hook latencies the percentiles cover.
const sample = 1024

// Meter counts what a server does, from its start on.
type Meter struct {
	set  *metrics.Set
	took *metrics.PrometheusHistogram

	mu       sync.Mutex
	received int64
	lastTime event.Millis // newest event of any session, including those before the process
	lastName string
	measured int64
	recent   [sample]int64 // latencies, in microseconds
}

// NewMeter returns a Meter that has counted nothing.
func NewMeter() *Meter {
	metrics.ExposeMetadata(true)
	set := metrics.NewSet()
	return &Meter{set: set, took: set.NewPrometheusHistogramExt("beckon_hook_duration_seconds", buckets)}
}

// line counts a line of history.
func (m *Meter) line(l *store.Line) {
	e := l.Change.Event
	if e == nil {
		return
	}
	m.Count("beckon_events_total", "kind", cmp.Or(string(e.Kind), "unknown"))
	m.mu.Lock()
	defer m.mu.Unlock()
	m.received++
	if l.Us > 0 {
		m.took.Update(float64(l.Us) / 1e6)
		m.recent[m.measured%sample] = l.Us
		m.measured++
	}
}

// Count counts one more in a metric with a label, which may be empty.
func (m *Meter) Count(metric, label, value string) {
	if label != "" {
		metric = fmt.Sprintf("%s{%s=%q}", metric, label, value)
	}
	m.set.GetOrCreateCounter(metric).Inc()
}

// Refused counts a request that was not served, by reason.
func (m *Meter) Refused(reason string) { m.Count("beckon_refused_total", "reason", reason) }

// Set sets a gauge.
func (m *Meter) Set(gauge string, value int) { m.set.GetOrCreateGauge(gauge, nil).Set(float64(value)) }

// Write writes all in the text format of Prometheus.
func (m *Meter) Write(w io.Writer) { m.set.WritePrometheus(w) }

// newest records a session's newest event.
func (m *Meter) newest(at event.Millis, name string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if at > m.lastTime {
		m.lastTime, m.lastName = at, name
	}
}

// Newest returns the newest event of any session: its time, zero for none, and its name.
func (m *Meter) Newest() (at event.Millis, name string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.lastTime, m.lastName
}

// Latency is how long the newest hooks took.
type Latency struct {
	P50   float64 `json:"p50_ms"`
	P99   float64 `json:"p99_ms"`
	Hooks int64   `json:"hooks"` // measured since the server started
}

// Hooks returns how many events were counted, and how long the newest took, nil if unknown.
func (m *Meter) Hooks() (received int64, l *Latency) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.measured == 0 {
		return m.received, nil
	}
	us := slices.Sorted(slices.Values(m.recent[:min(m.measured, sample)]))
	at := func(p float64) float64 { return float64(us[int(p*float64(len(us)-1))]) / 1000 }
	return m.received, &Latency{P50: at(0.5), P99: at(0.99), Hooks: m.measured}
}
