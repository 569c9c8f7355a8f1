// Package meter counts what a server does, and writes it in the text format of Prometheus.
package meter

import (
	"slices"
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
