package meter

import (
	"cmp"
	"fmt"
	"io"
	"maps"
	"slices"
	"strconv"
)

// Write writes all counters.
func (m *Meter) Write(w io.Writer) {
	m.mu.Lock()
	defer m.mu.Unlock()
	events := map[string]int64{}
	for k, n := range m.events {
		events[cmp.Or(string(k), "unknown")] += n
	}
	Labelled(w, "beckon_events_total", "counter", "Events of all sessions since the server began, by kind.", "kind", events)
	Labelled(w, "beckon_sse_events_total", "counter", "Events published to streams, by name.", "event", m.sse)
	Labelled(w, "beckon_dropped_total", "counter", "Requests refused and prompts not folded, by reason.", "reason", m.dropped)
	Single(w, "beckon_sse_gaps_total", "counter", "Times an event stream fell behind and got a snapshot.", m.gaps)
	m.writeHistogram(w)
}

func (m *Meter) writeHistogram(w io.Writer) {
	const name = "beckon_hook_duration_seconds"
	head(w, name, "histogram", "What hooks took until their event was written.")
	var sum int64
	for i, bound := range buckets {
		sum += m.hist[i]
		fmt.Fprintf(w, "%s_bucket{le=%q} %d\n", name, strconv.FormatFloat(float64(bound)/1e6, 'g', -1, 64), sum)
	}
	fmt.Fprintf(w, "%s_bucket{le=\"+Inf\"} %d\n%s_sum %g\n%s_count %d\n", name, m.histN, name, float64(m.histSum)/1e6, name, m.histN)
}

// Single writes a metric without labels.
func Single(w io.Writer, name, kind, help string, v int64) {
	head(w, name, kind, help)
	fmt.Fprintf(w, "%s %d\n", name, v)
}

// Labelled writes a metric with one line per label, sorted. Labels are words of this program.
func Labelled(w io.Writer, name, kind, help, label string, values map[string]int64) {
	head(w, name, kind, help)
	for _, v := range slices.Sorted(maps.Keys(values)) {
		fmt.Fprintf(w, "%s{%s=%q} %d\n", name, label, v, values[v])
	}
}

func head(w io.Writer, name, kind, help string) {
	fmt.Fprintf(w, "# HELP %s %s\n# TYPE %s %s\n", name, help, name, kind)
}
