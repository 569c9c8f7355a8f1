package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"beckon/cmd/internal/hook"
	"beckon/state/store"
)

const (
	faultTable = "../../testdata/faults/RESULTS.md"
	faultHead  = `# What goes wrong, and what comes of it

Written by ` + "`BECKON_UPDATE=1 go test ./cmd/beckon-hook -run TestFaults`" + `; without it the test compares. Every fault is made for real: a
small file system that is filled or made read-only, limits, modes, damaged files, stopped and killed processes. An event
is folded before it, one or more while it lasts, one when it is over. A hook's exit code is 0, it prints nothing, and it
ends within its two seconds, or the test fails; so does it when an event that was folded is missing, or in twice. Lost
is what comes while nothing can be written anywhere; the session is right again with the next event.

| fault | events meanwhile | ` + "`beckon list`" + ` meanwhile | afterwards |
|---|---|---|---|
`
)

// fault is something that goes wrong.
type fault struct {
	name string
	// begin causes it; end, which begin returns, removes it.
	begin func(t *testing.T, f *trial) (end func())
	// wrap changes the command lines of the hooks that run meanwhile, one function for each.
	wrap []func(args []string) []string
	// wiped means that the fault itself removes what was there.
	wiped bool
	// some means that how many of the events get through depends on the machine: on its block
	// sizes, on what Go opens itself. The row is not compared, but the test's own conditions
	// must hold.
	some bool
}

// trial is a fault that is tried on a session.
type trial struct {
	dir, state string
	env        []string
	nobody     bool // hooks and readers run without permissions
	sent       int
}

// TestFaults tries every fault and compares the results with the table.
func TestFaults(t *testing.T) {
	golden, err := os.ReadFile(faultTable)
	if err != nil && os.Getenv("BECKON_UPDATE") == "" {
		t.Fatal(err)
	}
	var rows []string
	for _, f := range allFaults() {
		t.Run(f.name, func(t *testing.T) {
			row := f.try(t)
			rows = append(rows, row)
			if os.Getenv("BECKON_UPDATE") == "" && !f.some && !strings.Contains(string(golden), row) {
				t.Errorf("not in the table (BECKON_UPDATE=1 writes it):\n%s", row)
			}
		})
	}
	if os.Getenv("BECKON_UPDATE") == "" {
		return
	}
	if len(rows) != len(allFaults()) {
		t.Fatal("not every fault could be made here; the table stays")
	}
	if err := os.WriteFile(faultTable, []byte(faultHead+strings.Join(rows, "")), 0o644); err != nil {
		t.Fatal(err)
	}
}

// try causes the fault and returns its row.
func (f *fault) try(t *testing.T) string {
	dir := t.TempDir()
	x := &trial{dir: dir, state: filepath.Join(dir, "state")}
	x.env = environ(dir)
	if err := os.Mkdir(x.state, 0o700); err != nil {
		t.Fatal(err)
	}
	if f.name == faultFull || f.name == faultInodes || f.name == faultReadOnly {
		x.mount(t, f.name)
	}
	before := x.send(t, nil)
	end := f.begin(t, x)
	var meanwhile []string
	for _, wrap := range f.wrap {
		meanwhile = append(meanwhile, x.send(t, wrap))
	}
	listed := x.list(t)
	end()
	x.nobody = false
	atOnce := x.history(t)
	after := x.send(t, nil)
	all := x.history(t)
	must := []string{after}
	if !f.wiped {
		must = append(must, before)
	}
	for _, call := range must {
		if all[call] == 0 {
			t.Errorf("event %s is not in the history, which has %v", call, all)
		}
	}
	for call, n := range all {
		if n != 1 {
			t.Errorf("event %s is in the history %d times", call, n)
		}
	}
	came := fate(meanwhile, atOnce, all)
	if f.name == faultInodes {
		cmd := exec.Command(program(t, "beckon"), "doctor")
		cmd.Env = x.env
		out, _ := cmd.Output() // it finds other faults, too
		if strings.Contains(came, "lost") != strings.Contains(string(out), "lost in the last week") {
			t.Errorf("%s, and doctor says\n%s", came, out)
		}
	}
	return fmt.Sprintf("| %s | %s | %s | %s |\n", f.name, came, listed, x.afterwards(t))
}

// fate describes what became of the events that were sent meanwhile.
func fate(sent []string, atOnce, all map[string]int) string {
	first, later := 0, 0
	for _, call := range sent {
		switch {
		case atOnce[call] > 0:
			first++
		case all[call] > 0:
			later++
		}
	}
	var parts []string
	for _, p := range []struct {
		n    int
		what string
	}{{first, "folded"}, {later, "wait, folded by the next hook"}, {len(sent) - first - later, "lost"}} {
		switch {
		case p.n == len(sent):
			return p.what
		case p.n > 0:
			parts = append(parts, "some "+p.what)
		}
	}
	return strings.Join(parts, ", ")
}

// send runs a hook with its own event and returns the event's name.
func (x *trial) send(t *testing.T, wrap func([]string) []string) string {
	t.Helper()
	x.sent++
	call := fmt.Sprintf("e%d", x.sent)
	args := []string{program(t, "beckon-hook"), "PreToolUse"}
	if wrap != nil {
		args = wrap(args)
	}
	cmd := exec.Command(args[0], args[1:]...)
	cmd.Env = x.env
	x.drop(t, cmd)
	began := time.Now()
	runHook(t, cmd, `{"session_id":"s1","hook_event_name":"PreToolUse","tool_name":"Bash","tool_use_id":"`+call+`","cwd":"/","tool_input":{"command":"make"}}`)
	// The machine may be busy, but a hook that waits for something would wait forever.
	if took := time.Since(began); took > hook.Deadline+5*time.Second {
		t.Errorf("the hook took %v", took)
	}
	return call
}

// list runs `beckon list` and describes what it shows of the fault.
func (x *trial) list(t *testing.T) string {
	t.Helper()
	var errs strings.Builder
	cmd := exec.Command(program(t, "beckon"), "list", "--json")
	cmd.Env, cmd.Stderr = x.env, &errs
	x.drop(t, cmd)
	out, err := cmd.Output()
	var exit *exec.ExitError
	switch {
	case errors.As(err, &exit) && errs.Len() > 0 && exit.ExitCode() == 1:
		return "says why it cannot"
	case err != nil:
		t.Errorf("list: %v, stderr %q", err, errs.String())
	case strings.Contains(string(out), `"session_id": "s1"`):
		return "has the session"
	case errs.Len() > 0:
		return "names the file that it cannot read"
	}
	return "is empty"
}

// history returns the events in the session's history, and how often each occurs.
func (x *trial) history(t *testing.T) map[string]int {
	t.Helper()
	calls := map[string]int{}
	err := store.Open(x.state).Lines(store.Select{Key: "s1"}, func(l *store.Line) {
		if e := l.Event; e != nil && e.Tool.UseID != "" {
			calls[e.Tool.UseID]++
		}
	})
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("reading the history: %v", err)
	}
	return calls
}

// afterwards reads the sessions, and describes which files are left over.
func (x *trial) afterwards(t *testing.T) string {
	t.Helper()
	if _, problems, err := store.Open(x.state).Live(); err != nil || len(problems) > 0 {
		t.Errorf("afterwards: %v, %v", problems, err)
	}
	parts := []string{"whole"}
	if names(filepath.Join(x.state, "aside")) > 0 {
		parts = append(parts, "what was in the way is in aside/")
	}
	if b, _ := os.ReadFile(filepath.Join(x.state, "log", "beckon.log")); len(b) > 0 {
		parts = append(parts, "the log tells")
	}
	late, _ := filepath.Glob(filepath.Join(x.state, "late", "*", "*"))
	if n := names(filepath.Join(x.state, "tmp")); n+len(late) > 0 {
		t.Errorf("tmp/ holds %d files, late/ %q", n, late)
	}
	return strings.Join(parts, "; ")
}

func names(dir string) int {
	entries, _ := os.ReadDir(dir)
	return len(slices.DeleteFunc(entries, func(e os.DirEntry) bool { return e.IsDir() }))
}
