// Package meter counts what a server does, and writes it in the text format of Prometheus.
package meter

import (
	"cmp"
	"fmt"
	"io"
	"maps"
	"slices"
	"strconv"
	"sync"
	"time"

	"beckon/event"
	"beckon/state/store"
)

// buckets are the bounds of the hook latency histogram, in microseconds.
var buckets = [...]int64{500, 1000, 2000, 3000, 5000, 10_000, 20_000, 50_000, 100_000, 500_000, 1_000_000, 2_000_000}

// sample is how many of the newest hook latencies the percentiles cover.
const sample = 1024

// Meter holds counters, which start with the process.
type Meter struct {
	mu       sync.Mutex
	events   map[event.Kind]int64
	received int64
	lastTime event.Millis // newest event of any session, including those before the process
	lastName string
	hist     [len(buckets) + 1]int64
	histSum  int64
	histN    int64
	recent   [sample]int64
	sse      map[string]int64
	gaps     int64 // times a client got a snapshot instead of events
	dropped  map[string]int64
}

// New returns a meter that has counted nothing.
func New() *Meter {
	return &Meter{events: map[event.Kind]int64{}, sse: map[string]int64{}, dropped: map[string]int64{}}
}

// Line counts a journal line.
func (m *Meter) Line(l *store.Line) {
	e := l.Change.Event
	if e == nil {
		return
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	m.events[e.Kind]++
	m.received++
	if l.Us <= 0 {
		return
	}
	i, _ := slices.BinarySearch(buckets[:], l.Us)
	m.hist[i]++
	m.recent[m.histN%sample] = l.Us
	m.histSum += l.Us
	m.histN++
}

// Heard records a session's newest event.
func (m *Meter) Heard(at event.Millis, name string) {
	m.mu.Lock()
	if at > m.lastTime {
		m.lastTime, m.lastName = at, name
	}
	m.mu.Unlock()
}

// Newest returns the newest event of any session: its time, zero for none, and its name.
func (m *Meter) Newest() (at event.Millis, name string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.lastTime, m.lastName
}

// Sent counts an event of the streams.
func (m *Meter) Sent(name string) {
	m.mu.Lock()
	m.sse[name]++
	m.mu.Unlock()
}

// Gap counts a stream that fell behind.
func (m *Meter) Gap() {
	m.mu.Lock()
	m.gaps++
	m.mu.Unlock()
}

// Refused counts what was not served or not folded, by reason.
func (m *Meter) Refused(reason string) {
	m.mu.Lock()
	m.dropped[reason]++
	m.mu.Unlock()
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
	if m.histN == 0 {
		return m.received, nil
	}
	us := slices.Clone(m.recent[:min(m.histN, sample)])
	slices.Sort(us)
	at := func(p float64) float64 {
		return float64(us[int(p*float64(len(us)-1))]) / float64(time.Millisecond/time.Microsecond)
	}
	return m.received, &Latency{P50: at(0.5), P99: at(0.99), Hooks: m.histN}
}

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
