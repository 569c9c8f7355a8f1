package web

import (
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"beckon/event"
	"beckon/state/store"
)

// buckets are the bounds of the hook latency histogram, in microseconds.
var buckets = [...]int64{500, 1000, 2000, 3000, 5000, 10_000, 20_000, 50_000, 100_000, 500_000, 1_000_000, 2_000_000}

// sample is how many of the newest hook latencies the percentiles cover.
const sample = 1024

// meter holds counters, which start with the process.
type meter struct {
	gaps atomic.Int64 // times a client got a snapshot instead of events

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
	dropped  map[string]int64
}

func newMeter() *meter {
	return &meter{events: map[event.Kind]int64{}, sse: map[string]int64{}, dropped: map[string]int64{}}
}

// line counts a journal line.
func (m *meter) line(l *store.Line) {
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

// last records a session's newest event.
func (m *meter) last(at event.Millis, name string) {
	m.mu.Lock()
	if at > m.lastTime {
		m.lastTime, m.lastName = at, name
	}
	m.mu.Unlock()
}

func (m *meter) lastAt() event.Millis {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.lastTime
}

func (m *meter) sent(name string) {
	m.mu.Lock()
	m.sse[name]++
	m.mu.Unlock()
}

// refused counts what was not served or not folded, by reason.
func (m *meter) refused(reason string) {
	m.mu.Lock()
	m.dropped[reason]++
	m.mu.Unlock()
}

// latency is how long the newest hooks took.
type latency struct {
	P50   float64 `json:"p50_ms"`
	P99   float64 `json:"p99_ms"`
	Hooks int64   `json:"hooks"` // measured since the server started
}

func (m *meter) latencyLocked() *latency {
	if m.histN == 0 {
		return nil
	}
	us := slices.Clone(m.recent[:min(m.histN, sample)])
	slices.Sort(us)
	at := func(p float64) float64 {
		return float64(us[int(p*float64(len(us)-1))]) / float64(time.Millisecond/time.Microsecond)
	}
	return &latency{P50: at(0.5), P99: at(0.99), Hooks: m.histN}
}
