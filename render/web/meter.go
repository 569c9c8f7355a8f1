package web

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

// meter counts what the server does, from its start on.
type meter struct {
	mu       sync.Mutex
	events   map[string]int64
	sent     map[string]int64
	refused  map[string]int64
	gaps     int64
	received int64
	lastTime event.Millis // newest event of any session, including those before the process
	lastName string
	hist     [len(buckets) + 1]int64
	histSum  int64
	histN    int64
	recent   [sample]int64
}

func newMeter() *meter {
	return &meter{events: map[string]int64{}, sent: map[string]int64{}, refused: map[string]int64{}}
}

// Line counts a line of history.
func (m *meter) Line(l *store.Line) {
	e := l.Change.Event
	if e == nil {
		return
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	m.events[cmp.Or(string(e.Kind), "unknown")]++
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
func (m *meter) Heard(at event.Millis, name string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if at > m.lastTime {
		m.lastTime, m.lastName = at, name
	}
}

// Newest returns the newest event of any session: its time, zero for none, and its name.
func (m *meter) Newest() (at event.Millis, name string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.lastTime, m.lastName
}

// Sent counts an event of the streams, Gap a stream that missed some, and Refused what was not
// served, by reason.
func (m *meter) Sent(name string)      { m.count(m.sent, name) }
func (m *meter) Refused(reason string) { m.count(m.refused, reason) }

func (m *meter) count(in map[string]int64, name string) {
	m.mu.Lock()
	in[name]++
	m.mu.Unlock()
}

func (m *meter) Gap() {
	m.mu.Lock()
	m.gaps++
	m.mu.Unlock()
}

// latency is how long the newest hooks took.
type latency struct {
	P50   float64 `json:"p50_ms"`
	P99   float64 `json:"p99_ms"`
	Hooks int64   `json:"hooks"` // measured since the server started
}

// hooks returns how many events were counted, and how long the newest took, nil if unknown.
func (m *meter) hooks() (received int64, l *latency) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.histN == 0 {
		return m.received, nil
	}
	us := slices.Sorted(slices.Values(m.recent[:min(m.histN, sample)]))
	at := func(p float64) float64 {
		return float64(us[int(p*float64(len(us)-1))]) / float64(time.Millisecond/time.Microsecond)
	}
	return m.received, &latency{P50: at(0.5), P99: at(0.99), Hooks: m.histN}
}

// metric is one of /metrics, in the text format of Prometheus.
type metric struct {
	name, kind, help string
	label            string // of by
	by               map[string]int64
	value            int64 // without a label
}

func (x metric) write(w io.Writer) {
	fmt.Fprintf(w, "# HELP %s %s\n# TYPE %s %s\n", x.name, x.help, x.name, x.kind)
	if x.label == "" && x.kind != "histogram" {
		fmt.Fprintf(w, "%s %d\n", x.name, x.value)
	}
	for _, v := range slices.Sorted(maps.Keys(x.by)) {
		fmt.Fprintf(w, "%s{%s=%q} %d\n", x.name, x.label, v, x.by[v])
	}
}

// write writes the counters.
func (m *meter) write(w io.Writer) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, x := range []metric{
		{name: "beckon_events_total", kind: "counter",
			help: "Events of all sessions since the server began, by kind.", label: "kind", by: m.events},
		{name: "beckon_sse_events_total", kind: "counter",
			help: "Events published to streams, by name.", label: "event", by: m.sent},
		{name: "beckon_refused_total", kind: "counter", help: "Requests refused, by reason.", label: "reason", by: m.refused},
		{name: "beckon_sse_gaps_total", kind: "counter",
			help: "Times an event stream missed events and got a snapshot.", value: m.gaps},
		{name: hookDuration, kind: "histogram", help: "What hooks took until their event was written."},
	} {
		x.write(w)
	}
	var sum int64
	for i, bound := range buckets {
		sum += m.hist[i]
		fmt.Fprintf(w, "%s_bucket{le=%q} %d\n", hookDuration, strconv.FormatFloat(float64(bound)/1e6, 'g', -1, 64), sum)
	}
	fmt.Fprintf(w, "%[1]s_bucket{le=\"+Inf\"} %[2]d\n%[1]s_sum %[3]g\n%[1]s_count %[2]d\n",
		hookDuration, m.histN, float64(m.histSum)/1e6)
}

const hookDuration = "beckon_hook_duration_seconds"
