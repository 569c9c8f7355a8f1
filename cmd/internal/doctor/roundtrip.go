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

	"beckon/event"
	"beckon/installer"
	"beckon/state/store"
)

const (
	trips = 5 // runs of the round trip; the median is shown
	// slowTrip is when a hook becomes noticeable: the client waits for it at every call.
	slowTrip = 100 * time.Millisecond
	tripWait = 10 * time.Second
)

// roundTrips sends a real event through every installed program, into a scratch
// directory so that no stray session is left behind.
func (d *doctor) roundTrips() {
	var done []string
	for _, f := range d.report.Files {
		for _, e := range f.Entries {
			if e.Event != string(event.SessionStart) || slices.Contains(done, e.Program) {
				continue
			}
			done = append(done, e.Program)
			took, least, err := roundTrip(e)
			switch {
			case err != nil:
				d.add(resultError, "round trip", "run it by hand: echo '{}' | "+e.Program, "%s: %v", e.Program, err)
			case least > slowTrip: // other load only adds time
				d.add(resultError, "round trip", slowAdvice, "slow: %s took at least %.1f ms", e.Program, millis(least))
			default:
				d.add(resultOK, "round trip", "", "an event reached its session in %.1f ms (median of %d)", millis(took), trips)
				d.launchCost(e.Program)
			}
		}
	}
}

func millis(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }

// roundTrip runs an entry's command with an event of its own session and looks for the result
// in its state directory. It returns the median and the least of its times.
func roundTrip(e installer.Entry) (median, least time.Duration, err error) {
	dir, err := os.MkdirTemp("", "beckon-doctor-")
	if err != nil {
		return 0, 0, err
	}
	defer os.RemoveAll(dir)
	times := make([]time.Duration, trips)
	for i := range times {
		id := fmt.Sprintf("doctor-%d", i)
		if times[i], err = runEntry(e, dir, id); err != nil {
			return 0, 0, err
		}
		s, err := store.Open(dir).Load(store.KeyOf(id))
		if err != nil {
			return 0, 0, fmt.Errorf("it ran, and left no session: %w", err)
		}
		if s.Start.Reason != "startup" {
			return 0, 0, errors.New("it ran, and its session does not say what was sent")
		}
	}
	slices.Sort(times)
	return times[len(times)/2], times[0], nil
}

func runEntry(e installer.Entry, dir, id string) (time.Duration, error) {
	ctx, cancel := context.WithTimeout(context.Background(), tripWait)
	defer cancel()
	cmd := exec.CommandContext(ctx, e.Program, e.Args...)
	cmd.Env = append(os.Environ(), "BECKON_STATE_DIR="+dir)
	cmd.Stdin = strings.NewReader(
		fmt.Sprintf(
			`{"session_id":%q,"hook_event_name":"SessionStart","source":"startup","cwd":%q}`,
			id,
			filepath.ToSlash(dir),
		),
	)
	began := time.Now()
	out, err := cmd.CombinedOutput()
	took := time.Since(began)
	switch {
	case ctx.Err() != nil:
		return 0, fmt.Errorf("it did not end within %s", tripWait)
	case err != nil:
		return 0, fmt.Errorf("running it: %w", err)
	case len(out) > 0:
		return 0, fmt.Errorf("it printed %d bytes: a hook must be silent", len(out))
	}
	return took, nil
}
