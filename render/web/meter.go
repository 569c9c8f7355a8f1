package web

import (
	"cmp"
	"fmt"
	"sync/atomic"

	"beckon/state/store"

	"github.com/VictoriaMetrics/metrics"
)

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
