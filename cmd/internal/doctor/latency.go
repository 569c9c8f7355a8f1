package doctor

import (
	"time"

	"beckon/cmd/internal/cli"
	"beckon/event"
	"beckon/render/term"
	"beckon/state/stats"
	"beckon/state/store"
)

const (
	hooksLooked = 2000 // newest hook runs whose latencies are shown
	hooksDays   = 7    // of which days
	launches    = 40   // of each program, in turn, at most
	// launchTime ends the measurement: a number is not worth slowing a busy machine down.
	launchTime = 2 * time.Second
	fewest     = 4 // rounds, however long they take
)

// figures are the numbers behind a check, for programs. Times are in milliseconds.
type figures struct {
	Hooks   int      `json:"hooks"` // how many runs, or launches of each program
	P50     float64  `json:"p50_ms"`
	P99     float64  `json:"p99_ms"`
	Slowest *slowest `json:"slowest,omitempty"`

	Idle      float64 `json:"nothing_ms,omitempty"` // median of the hook program when it does nothing
	Empty     float64 `json:"empty_ms,omitempty"`   // median of EmptyPath
	EmptyPath string  `json:"empty_program,omitempty"`
}

// slowest is the slowest of the hook runs.
type slowest struct {
	Ms      float64   `json:"ms"`
	Event   string    `json:"event"`
	Session string    `json:"session_id"`
	At      time.Time `json:"at"`
}

// latency reports how long hooks took by their own clocks, from their start until the event
// was written. The system's time to start and end the process is not included; launchCost
// measures that.
func (d *doctor) latency() {
	l := stats.LatencyOf(d.hooks(), hooksLooked)
	if l.Hooks == 0 {
		return
	}
	slow := slowest{micro(l.Slowest.Us), l.Slowest.Event, l.Slowest.Session, l.Slowest.At.Time()}
	level, advice := resultOK, ""
	switch {
	case micro(l.P50) > millis(slowTrip):
		level, advice = resultError, slowAdvice
	case micro(l.P99) > millis(slowTrip):
		level, advice = resultWarning, slowAdvice
	}
	d.add(
		level,
		"latency",
		advice,
		"the newest %s took %.1f ms (median), 99 of 100 at most %.1f ms, the slowest %.1f ms (%s in %s, %s)",
		term.Plural(
			l.Hooks,
			"hook",
		),
		micro(l.P50),
		micro(l.P99),
		slow.Ms,
		slow.Event,
		cli.ShortID(slow.Session),
		slow.At.Local().Format("2006-01-02 15:04:05"),
	)
	d.newest().Figures = &figures{Hooks: l.Hooks, P50: micro(l.P50), P99: micro(l.P99), Slowest: &slow}
}

const slowAdvice = "is the program or the state directory on a slow or remote disk?"

func micro(us int64) float64 { return float64(us) / 1000 }

// hooks gathers the hook runs of the last days.
func (d *doctor) hooks() (list []stats.Hook) {
	sel := store.Select{Kind: "event", Since: event.MillisOf(time.Now().AddDate(0, 0, -hooksDays))}
	// History that cannot be read has none.
	_ = d.Store.Lines(sel, func(l *store.Line) {
		list = append(list, stats.Hook{At: l.Change.At, Us: l.Us, Event: l.Change.Event.Name,
			Session: l.Change.Event.SessionID})
	})
	return list
}
