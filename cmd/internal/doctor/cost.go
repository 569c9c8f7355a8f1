package doctor

import (
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

	"beckon/cmd/internal/hook"
	"beckon/state/stats"
)

// launchCost measures on this machine what one hook costs the client as a whole process,
// compared with the same program doing nothing and an empty program of the system (not written
// in Go, and usually linked dynamically). They are launched in turn, so that other load
// affects all of them.
func (d *doctor) launchCost(program string) {
	dir, err := os.MkdirTemp("", "beckon-doctor-")
	if err != nil {
		return
	}
	defer os.RemoveAll(dir)
	event, idle := launch{
		path: program,
		args: []string{"PostToolUse"},
	}, launch{
		path: program,
		args: []string{hook.NoOp},
	}
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
				return // the round trip reports what is wrong
			}
		}
	}
	f := figures{Hooks: n, P50: event.rank(50), P99: event.rank(99), Empty: empty.rank(50), EmptyPath: empty.path}
	// A program older than --nothing takes it for an event and logs that there was none.
	if _, err := os.Stat(idle.state(dir)); errors.Is(err, fs.ErrNotExist) {
		f.Idle = idle.rank(50)
	}
	d.add(resultOK, "cost", "", "a tool event takes %.1f ms, process and all%s (medians of %d launches in turn)", f.P50,
		f.compared(), n)
	d.newest().Figures = &f
}

// compared says how many times as long as the others a hook takes.
func (f figures) compared() string {
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

// state is its own scratch state directory.
func (l *launch) state(dir string) string {
	return filepath.Join(dir, "state"+strings.Join(l.args, ""))
}

func (l *launch) run(dir string) error {
	ctx, cancel := context.WithTimeout(context.Background(), tripWait)
	defer cancel()
	cmd := exec.CommandContext(ctx, l.path, l.args...)
	// Without a policy: doctor must not run the user's commands over and over.
	cmd.Env = append(os.Environ(), "BECKON_STATE_DIR="+l.state(dir), "XDG_CONFIG_HOME="+dir, "CLAUDE_PROJECT_DIR=")
	cmd.Stdin = strings.NewReader(
		fmt.Sprintf(
			`{"session_id":"doctor","hook_event_name":"PostToolUse","tool_name":"Bash","tool_use_id":"t","tool_input":{"command":"true"},"cwd":%q}`,
			filepath.ToSlash(dir),
		),
	)
	began := time.Now()
	err := cmd.Run()
	l.took = append(l.took, time.Since(began))
	return err
}

// rank returns the p-th percentile of its times in milliseconds, without the first launch,
// since a session's first event costs more; 0 if it never ran.
func (l *launch) rank(p int) float64 {
	if len(l.took) < 2 {
		return 0
	}
	took := slices.Sorted(slices.Values(l.took[1:]))
	return millis(took[stats.Rank(len(took), p)])
}
