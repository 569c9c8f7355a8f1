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
	launches    = 40   // of each program, in turn, at most
	fewest      = 4    // rounds, however long they take
	// launchTime ends the measurement: a number is not worth slowing a busy machine down.
	launchTime = 2 * time.Second
)

// figures are the numbers behind a check, for programs: how many runs, and times in milliseconds.
type figures map[string]any

func millis(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }

// launch runs a program with an event on stdin and variables added to the environment. It returns
// how long the process took.
func launch(env []string, stdin, program string, args ...string) (took time.Duration, out []byte, err error) {
	ctx, cancel := context.WithTimeout(context.Background(), tripWait)
	defer cancel()
	cmd := exec.CommandContext(ctx, program, args...)
	cmd.Env = append(os.Environ(), env...)
	cmd.Stdin = strings.NewReader(stdin)
	began := time.Now()
	out, err = cmd.CombinedOutput()
	took = time.Since(began)
	if ctx.Err() != nil {
		err = fmt.Errorf("it did not end within %s", tripWait)
	} else if err != nil {
		err = fmt.Errorf("running it: %w", err)
	}
	return took, out, err
}

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
				d.launchCost(e.Program)
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
		id := fmt.Sprintf("doctor-%d", i)
		start := fmt.Sprintf(`{"session_id":%q,"hook_event_name":"SessionStart","source":"startup","cwd":%q}`,
			id, filepath.ToSlash(dir))
		took, out, err := launch([]string{"BECKON_STATE_DIR=" + dir}, start, e.Program, e.Args...)
		if err == nil && len(out) > 0 {
			err = fmt.Errorf("it printed %d bytes: a hook must be silent", len(out))
		}
		if err != nil {
			return 0, 0, err
		}
		s, err := store.Open(dir).Load(store.KeyOf(id))
		if err != nil {
			return 0, 0, fmt.Errorf("it ran, and left no session: %w", err)
		}
		if s.Start.Reason != "startup" {
			return 0, 0, errors.New("it ran, and its session does not say what was sent")
		}
		times[i] = took
	}
	slices.Sort(times)
	return times[len(times)/2], times[0], nil
}

// launchCost measures on this machine what one hook costs the client as a whole process, compared
// with an empty program of the system (not written in Go, and usually linked dynamically). They are
// launched in turn, so that other load affects both.
func (d *doctor) launchCost(program string) {
	dir, err := os.MkdirTemp("", "beckon-doctor-")
	if err != nil {
		return
	}
	defer os.RemoveAll(dir)
	call := fmt.Sprintf(`{"session_id":"doctor","hook_event_name":"PostToolUse","tool_name":"Bash","tool_use_id":"t",`+
		`"tool_input":{"command":"true"},"cwd":%q}`, filepath.ToSlash(dir))
	// Without a policy, whose commands must not run over and over.
	env := []string{"XDG_CONFIG_HOME=" + dir, "CLAUDE_PROJECT_DIR=", "BECKON_STATE_DIR=" + dir}
	programs := [][]string{{program, "PostToolUse"}}
	if path, err := exec.LookPath("true"); err == nil { // none on Windows
		programs = append(programs, []string{path})
	}
	took := make([][]time.Duration, len(programs))
	n := 0
	for began := time.Now(); n < launches && (n < fewest || time.Since(began) < launchTime); n++ {
		for i, p := range programs {
			once, _, err := launch(env, call, p[0], p[1:]...)
			if err != nil {
				return // the round trip reports what is wrong
			}
			if n > 0 { // a session's first event costs more
				took[i] = append(took[i], once)
			}
		}
	}
	rank := func(i, p int) float64 {
		slices.Sort(took[i])
		return millis(took[i][stats.Rank(len(took[i]), p)])
	}
	median, than := rank(0, 50), ""
	f := figures{"hooks": n, "p50_ms": median, "p99_ms": rank(0, 99)}
	if len(programs) > 1 {
		empty, path := rank(1, 50), programs[1][0]
		f["empty_ms"], f["empty_program"] = empty, path
		than = fmt.Sprintf(": %.1f times %s", median/empty, path)
	}
	d.ok("cost", "a tool event takes %.1f ms, process and all%s (medians of %d launches in turn)", median, than, n).
		Figures = f
}

// latency reports how long hooks took by their own clocks, from their start until the event
// was written. The system's time to start and end the process is not included; launchCost
// measures that.
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
		slow.At.Time().Local().Format("2006-01-02 15:04:05")).Figures = figures{
		"hooks": l.Hooks, "p50_ms": ms(l.P50), "p99_ms": ms(l.P99),
		"slowest": figures{"ms": ms(slow.Us), "event": slow.Event, "session_id": slow.Session, "at": slow.At.Time()},
	}
}
