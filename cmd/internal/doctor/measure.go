package doctor

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"beckon/cmd/internal/cli"
	"beckon/event"
	"beckon/event/run"
	"beckon/installer"
	"beckon/render/term"
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

// tryOut sends a real event through an entry's program.
func (d *doctor) tryOut(e installer.Entry) {
	took, least, err := roundTrip(e)
	switch {
	case err != nil:
		d.broken("round trip", e.Program, err)
	case least > slowTrip: // a slow machine is no fault of the installation
		d.add(warn, "round trip", slowAdvice, "slow: %s took at least %.1f ms", e.Program, millis(least))
	default:
		d.add(ok, "round trip", "", "an event reached its session in %.1f ms (median of %d)", millis(took), trips)
	}
}

// broken reports a program that an event does not get through.
func (d *doctor) broken(name, program string, err error) {
	d.add(fail, name, "run it by hand: echo '{}' | "+program, "%s: %v", program, err)
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
	p := run.Program{Argv: append([]string{e.Program}, e.Args...), Limit: tripWait,
		Env: []string{"BECKON_STATE_DIR=" + dir},
		Stdin: strings.NewReader(fmt.Sprintf(`{"session_id":%q,"hook_event_name":"SessionStart","source":"startup","cwd":%q}`,
			id, filepath.ToSlash(dir)))}
	out, err := p.Output(context.Background())
	switch {
	case err != nil:
		return cmp.Or(errors.Unwrap(err), err) // its name is said already
	case out != "":
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

// rank returns the index, in n > 0 sorted values, of the smallest that p of 100 do not exceed.
func rank(n, p int) int { return max(0, (n*p+99)/100-1) }

// latency reports how long hooks took by their own clocks, from their start until the event
// was written. The system's time to start and end the process is not included.
func (d *doctor) latency() {
	type run struct {
		at, us         int64
		event, session string
	}
	var runs []run
	sel := store.Select{Kind: "event", Since: event.MillisOf(time.Now().AddDate(0, 0, -hooksDays))}
	// History that cannot be read has none.
	_ = d.Store.Lines(sel, func(l *store.Line) {
		if l.Us > 0 { // one that waited for the lock was not measured
			runs = append(runs, run{int64(l.At), l.Us, l.Event.Name, l.Event.SessionID})
		}
	})
	if len(runs) == 0 {
		return
	}
	slices.SortStableFunc(runs, func(a, b run) int { return cmp.Compare(a.at, b.at) })
	runs = runs[max(0, len(runs)-hooksLooked):]
	slices.SortStableFunc(runs, func(a, b run) int { return cmp.Compare(a.us, b.us) })
	of := func(p int) float64 { return float64(runs[rank(len(runs), p)].us) / 1000 }
	slow := runs[len(runs)-1]
	found, advice := ok, ""
	if of(99) > millis(slowTrip) {
		found, advice = warn, slowAdvice
	}
	d.add(found, "latency", advice,
		"the newest %s took %.1f ms (median), 99 of 100 at most %.1f ms, the slowest %.1f ms (%s in %s, %s)",
		term.Plural(len(runs), "hook"), of(50), of(99), of(100), slow.event, cli.ShortID(slow.session),
		time.UnixMilli(slow.at).Format("2006-01-02 15:04:05")).Figures = figures{
		"hooks": len(runs), "p50_ms": of(50), "p99_ms": of(99),
		"slowest": figures{
			"ms": of(100), "event": slow.event, "session_id": slow.session, "at": event.Millis(slow.at).Time(),
		},
	}
}
