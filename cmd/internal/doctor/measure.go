package doctor

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"beckon/cmd/internal/cli"
	"beckon/event"
	"beckon/installer"
	"beckon/render/term"
	"beckon/state/stats"
	"beckon/state/store"
)

const (
	trips    = 5 // runs of the round trip; the median is shown
	tripWait = 10 * time.Second
	// slowTrip is when a hook becomes noticeable: the client waits for it at every call.
	slowTrip   = 100 * time.Millisecond
	slowAdvice = "is the program or the state directory on a slow or remote disk?"

	hooksLooked = 2000 // newest hook runs whose latencies are shown
	hooksDays   = 7    // of which days
)

// figures are the numbers behind a check, for programs: how many runs, and times in milliseconds.
type figures map[string]any

func millis(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }

// roundTrips sends a real event through every installed program.
func (d *doctor) roundTrips() {
	var done []string
	for _, f := range d.settings {
		for _, e := range f.Entries {
			if e.Event != string(event.SessionStart) || slices.Contains(done, e.Program) {
				continue
			}
			done = append(done, e.Program)
			took, least, err := roundTrip(e)
			switch {
			case err != nil:
				d.broken("round trip", e.Program, err)
			case least > slowTrip: // a slow machine is no fault of the installation
				d.warn("round trip", slowAdvice, "slow: %s took at least %.1f ms", e.Program, millis(least))
			default:
				d.ok("round trip", "an event reached its session in %.1f ms (median of %d)", millis(took), trips)
			}
		}
	}
}

// broken reports a program that an event does not get through.
func (d *doctor) broken(name, program string, err error) {
	d.fail(name, "run it by hand: echo '{}' | "+program, "%s: %v", program, err)
}

// roundTrip runs an entry's command with an event of its own session and looks for the result in
// a scratch state directory. It returns the median and the least of its times.
func roundTrip(e installer.Entry) (median, least time.Duration, err error) {
	dir, err := os.MkdirTemp("", "beckon-doctor-")
	if err != nil {
		return 0, 0, err
	}
	defer os.RemoveAll(dir)
	times := make([]time.Duration, trips)
	for i := range times {
		began := time.Now()
		if err := trip(e, dir, fmt.Sprintf("doctor-%d", i)); err != nil {
			return 0, 0, err
		}
		times[i] = time.Since(began)
	}
	slices.Sort(times)
	return times[len(times)/2], times[0], nil
}

// trip sends one event, and looks for its session in dir.
func trip(e installer.Entry, dir, id string) error {
	ctx, cancel := context.WithTimeout(context.Background(), tripWait)
	defer cancel()
	cmd := exec.CommandContext(ctx, e.Program, e.Args...)
	cmd.Env = append(os.Environ(), "BECKON_STATE_DIR="+dir)
	cmd.Stdin = strings.NewReader(fmt.Sprintf(
		`{"session_id":%q,"hook_event_name":"SessionStart","source":"startup","cwd":%q}`, id, filepath.ToSlash(dir)))
	out, err := cmd.CombinedOutput()
	switch {
	case ctx.Err() != nil:
		return fmt.Errorf("it did not end within %s", tripWait)
	case err != nil:
		return fmt.Errorf("running it: %w", err)
	case len(out) > 0:
		return fmt.Errorf("it printed %d bytes: a hook must be silent", len(out))
	}
	s, err := store.Open(dir).Load(store.KeyOf(id))
	if err == nil && s.Start.Reason != "startup" {
		err = errors.New("its session does not say what was sent")
	}
	if err != nil {
		return fmt.Errorf("it ran, and left no session: %w", err)
	}
	return nil
}

// latency reports how long hooks took by their own clocks, from their start until the event
// was written. The system's time to start and end the process is not included.
func (d *doctor) latency() {
	var runs []stats.Hook
	sel := store.Select{Kind: "event", Since: event.MillisOf(time.Now().AddDate(0, 0, -hooksDays))}
	// History that cannot be read has none.
	_ = d.Store.Lines(sel, func(l *store.Line) {
		e := l.Event
		runs = append(runs, stats.Hook{At: l.At, Us: l.Us, Event: e.Name, Session: e.SessionID})
	})
	l := stats.LatencyOf(runs, hooksLooked)
	if l.Hooks == 0 {
		return
	}
	ms := func(us int64) float64 { return float64(us) / 1000 }
	slow := l.Slowest
	found, advice := resultOK, ""
	if ms(l.P99) > millis(slowTrip) {
		found, advice = resultWarning, slowAdvice
	}
	d.add(found, "latency", advice,
		"the newest %s took %.1f ms (median), 99 of 100 at most %.1f ms, the slowest %.1f ms (%s in %s, %s)",
		term.Plural(l.Hooks, "hook"), ms(l.P50), ms(l.P99), ms(slow.Us), slow.Event, cli.ShortID(slow.Session),
		slow.At.Time().Local().Format(time.DateTime)).Figures = figures{
		"hooks": l.Hooks, "p50_ms": ms(l.P50), "p99_ms": ms(l.P99),
		"slowest": figures{"ms": ms(slow.Us), "event": slow.Event, "session_id": slow.Session, "at": slow.At.Time()},
	}
}
