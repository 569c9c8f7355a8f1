package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"beckon/cmd/internal/cli"
	"beckon/cmd/internal/hook"
	"beckon/state"
	"beckon/state/stats"
	"beckon/state/store"
)

const (
	hooksLooked = 2000      // of the newest hook runs the latencies are told
	hooksTail   = 512 << 10 // bytes of one session's journal that are read for them
	launches    = 40        // of each program, in turn, at most
	// launchTime is when a round of launches is the last one: a busy machine is not made
	// busier for the sake of a number.
	launchTime = 2 * time.Second
	fewest     = 4 // rounds, whatever they take
)

// Figures are the numbers behind a check, for programs. Times are in milliseconds.
type Figures struct {
	Hooks   int      `json:"hooks"` // how many runs, or launches of each program
	P50     float64  `json:"p50_ms"`
	P99     float64  `json:"p99_ms"`
	Slowest *Slowest `json:"slowest,omitempty"`

	Idle      float64 `json:"nothing_ms,omitempty"` // median of the hook program when it does nothing
	Empty     float64 `json:"empty_ms,omitempty"`   // median of EmptyPath
	EmptyPath string  `json:"empty_program,omitempty"`
}

// Slowest is the slowest of the hook runs.
type Slowest struct {
	Ms      float64   `json:"ms"`
	Event   string    `json:"event"`
	Session string    `json:"session_id"`
	At      time.Time `json:"at"`
}

// latency says what hooks took, as each noted itself: from its own start until its
// event was written. What the system needs to start and end the process is not in it;
// launchCost measures that.
func (d *doctor) latency() {
	l := stats.LatencyOf(d.hooks(), hooksLooked)
	if l.Hooks == 0 {
		return
	}
	slow := Slowest{micro(l.Slowest.Us), l.Slowest.Event, l.Slowest.Session, cli.Clock(l.Slowest.At)}
	level, advice := levelOK, ""
	switch {
	case micro(l.P50) > millis(slowTrip):
		level, advice = levelFault, slowAdvice
	case micro(l.P99) > millis(slowTrip):
		level, advice = levelNote, slowAdvice
	}
	d.add(level, "latency", advice, "hooks took %.1f ms, 99 of 100 at most %.1f ms, the slowest %.1f ms (%s in %s, %s); of the newest %d",
		micro(l.P50), micro(l.P99), slow.Ms, slow.Event, cli.ShortID(slow.Session), slow.At.Local().Format("2006-01-02 15:04:05"), l.Hooks)
	d.figures(Figures{Hooks: l.Hooks, P50: micro(l.P50), P99: micro(l.P99), Slowest: &slow})
}

const slowAdvice = "is the program or the state directory on a slow or remote disk?"

func micro(us int64) float64 { return float64(us) / 1000 }

// figures adds numbers to the newest check.
func (d *doctor) figures(f Figures) { d.checks[len(d.checks)-1].Figures = &f }

// hooks gathers the newest hook runs of the sessions that were heard last.
func (d *doctor) hooks() (list []stats.Hook) {
	sessions, _, err := d.a.Store.Live()
	if err != nil {
		return nil // told of by silence
	}
	slices.SortFunc(sessions, func(a, b state.Session) int { return cmp.Compare(b.Updated, a.Updated) })
	for _, s := range sessions {
		if len(list) >= hooksLooked {
			break
		}
		_ = d.a.Store.Newest(store.KeyOf(s.Record()), hooksTail, func(l store.Line) {
			list = append(list, stats.Hook{At: l.Change.At, Us: l.Us, Event: l.Change.Event.Name, Session: s.ID})
		})
	}
	return list
}

// launchCost measures here and now what one hook costs the client, process and all,
// beside the same program doing nothing and an empty program of the system's (no Go
// program, and as a rule linked dynamically). They are launched in turn, so that what
// else the machine does meets all of them.
func (d *doctor) launchCost(program string) {
	dir, err := os.MkdirTemp("", "beckon-doctor-")
	if err != nil {
		return
	}
	defer os.RemoveAll(dir)
	event, idle := launch{path: program, args: []string{"PostToolUse"}}, launch{path: program, args: []string{hook.NoOp}}
	all := []*launch{&event, &idle}
	var empty launch
	if path, err := exec.LookPath("true"); err == nil { // none on Windows
		empty.path = path
		all = append(all, &empty)
	}
	n := 0
	for began := time.Now(); n < launches && (n < fewest || time.Since(began) < launchTime); n++ {
		for j := range all {
			if err := all[(n+j)%len(all)].run(dir); err != nil {
				return // the round trip tells what is wrong
			}
		}
	}
	f := Figures{Hooks: n, P50: event.rank(50), P99: event.rank(99), Empty: empty.rank(50), EmptyPath: empty.path}
	// A program older than --nothing takes it for an event, and logs that there was none.
	if _, err := os.Stat(idle.state(dir)); errors.Is(err, fs.ErrNotExist) {
		f.Idle = idle.rank(50)
	}
	d.add(levelOK, "cost", "", "a tool event takes %.1f ms, process and all%s (medians of %d launches in turn)", f.P50, f.compared(), n)
	d.figures(f)
}

// compared tells how many times as long as the others a hook takes.
func (f Figures) compared() string {
	var parts []string
	if f.Idle > 0 {
		parts = append(parts, fmt.Sprintf("%.1f times the same program doing nothing", f.P50/f.Idle))
	}
	if f.Empty > 0 {
		parts = append(parts, fmt.Sprintf("%.1f times %s", f.P50/f.Empty, f.EmptyPath))
	}
	if len(parts) == 0 {
		return ""
	}
	return ": " + strings.Join(parts, ", ")
}

// launch is one program that is launched again and again.
type launch struct {
	path string
	args []string
	took []time.Duration
}

// state is the scratch state directory of its own.
func (l *launch) state(dir string) string {
	return filepath.Join(dir, "state"+strings.Join(l.args, ""))
}

func (l *launch) run(dir string) error {
	ctx, cancel := context.WithTimeout(context.Background(), tripWait)
	defer cancel()
	cmd := exec.CommandContext(ctx, l.path, l.args...)
	// No policy: a doctor does not run somebody's commands over and over.
	cmd.Env = append(os.Environ(), "BECKON_STATE_DIR="+l.state(dir), "XDG_CONFIG_HOME="+dir, "CLAUDE_PROJECT_DIR=")
	cmd.Stdin = strings.NewReader(fmt.Sprintf(`{"session_id":"doctor","hook_event_name":"PostToolUse","tool_name":"Bash","tool_use_id":"t","tool_input":{"command":"true"},"cwd":%q}`, filepath.ToSlash(dir)))
	began := time.Now()
	err := cmd.Run()
	l.took = append(l.took, time.Since(began))
	return err
}

// rank is the p-th of 100 of its times in milliseconds, without the first: a session's
// first event costs more. 0 when it never ran.
func (l *launch) rank(p int) float64 {
	if len(l.took) < 2 {
		return 0
	}
	took := slices.Sorted(slices.Values(l.took[1:]))
	return millis(took[stats.Rank(len(took), p)])
}
