package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"beckon/state/store"
	"beckon/testdata/need"
)

// filed are the system calls by which a hook changes files, or takes a lock. Any may fail.
var filed = strings.Fields("openat write renameat renameat2 unlinkat mkdirat flock close")

// TestEverySystemCall kills a hook at each of its system calls, and makes each call on a file
// fail, on a session that is there and on a new one. A hook that is not killed exits with 0 and
// prints nothing, no event is lost that a hook had folded before, and the next one is folded. It
// prints a table of how often each call was the last one, or failed.
func TestEverySystemCall(t *testing.T) {
	strace := need.Program(t, "strace")
	var lock sync.Mutex
	var table []string
	t.Run("all", func(t *testing.T) {
		for _, before := range [][]string{{"before", "again"}, nil} {
			x := &traced{strace: strace, base: t.TempDir(), before: before}
			for _, call := range before {
				x.hook(t, x.base, call)
			}
			for _, name := range x.calls(t) {
				faults := []string{"signal=KILL"}
				if slices.Contains(filed, name) {
					faults = append(faults, "error=EIO", "error=ENOSPC")
				}
				for _, fault := range faults {
					t.Run(fmt.Sprintf("%s %s %d", name, fault, len(before)), func(t *testing.T) {
						t.Parallel()
						n := 0
						for x.try(t, name+":"+fault, n+1) {
							n++
						}
						lock.Lock()
						defer lock.Unlock()
						table = append(table, fmt.Sprintf("%-16s %-12s %3d times, after %d events", name, fault, n, len(before)))
					})
				}
			}
		}
	})
	slices.Sort(table)
	t.Log("\n" + strings.Join(table, "\n"))
}

// traced runs hooks on copies of a home directory, in which the events before were folded.
type traced struct {
	strace, base string
	before       []string
}

// hook runs a hook in the home directory dir, with an event of its own.
func (x *traced) hook(t *testing.T, dir, call string) {
	t.Helper()
	cmd := exec.Command(program(t, "beckon-hook"), "PreToolUse")
	cmd.Env = environ(dir)
	runHook(t, cmd, payloadOf(call))
}

func payloadOf(call string) string {
	return `{"session_id":"s1","hook_event_name":"PreToolUse","tool_name":"Bash","tool_use_id":"` + call +
		`","cwd":"/","tool_input":{"command":"make"}}`
}

// under returns a command that traces a hook in a copy of the home directory, and where the trace
// is written.
func (x *traced) under(t *testing.T, dir string, flags ...string) (cmd *exec.Cmd, trace string) {
	t.Helper()
	if err := os.CopyFS(dir, os.DirFS(x.base)); err != nil {
		t.Fatal(err)
	}
	trace = filepath.Join(dir, "trace")
	args := append([]string{"-f", "-qq", "-o", trace}, flags...)
	cmd = exec.Command(x.strace, append(args, program(t, "beckon-hook"), "PreToolUse")...)
	cmd.Env = environ(dir)
	return cmd, trace
}

// calls returns the names of a hook's system calls.
func (x *traced) calls(t *testing.T) []string {
	t.Helper()
	cmd, trace := x.under(t, t.TempDir())
	runHook(t, cmd, payloadOf("traced"))
	text, err := os.ReadFile(trace)
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, m := range regexp.MustCompile(`(?m)^\d+ +(\w+)\(`).FindAllStringSubmatch(string(text), -1) {
		names = append(names, m[1])
	}
	slices.Sort(names)
	names = slices.Compact(names)
	if !slices.Contains(names, "flock") || !slices.Contains(names, "renameat2") {
		t.Fatalf("the trace has only %q", names)
	}
	return names
}

// try runs a hook whose nth call of a name ends it or fails, and reports whether it made so many.
// Afterwards the session must be whole.
func (x *traced) try(t *testing.T, inject string, n int) bool {
	t.Helper()
	dir := t.TempDir()
	name, fault, _ := strings.Cut(inject, ":")
	cmd, trace := x.under(t, dir, "-e", "trace="+name, "-e", "inject="+inject+":when="+strconv.Itoa(n))
	if fault == "signal=KILL" {
		cmd.Stdin = strings.NewReader(payloadOf("meanwhile"))
		if out, err := cmd.CombinedOutput(); err == nil {
			return false
		} else if len(out) > 0 {
			t.Fatalf("%s %d: %v: %s", inject, n, err, out)
		}
	} else {
		runHook(t, cmd, payloadOf("meanwhile"))
		text, err := os.ReadFile(trace)
		if err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(string(text), "(INJECTED)") {
			return false
		}
	}
	x.hook(t, dir, "after")
	x.whole(t, dir, fmt.Sprintf("%s at call %d", inject, n))
	return true
}

// whole reports what is missing of a session, or there twice.
func (x *traced) whole(t *testing.T, dir, what string) {
	t.Helper()
	st := store.Open(filepath.Join(dir, "state"))
	s, err := st.Load("s1")
	if err != nil {
		t.Fatalf("%s: %v", what, err)
	}
	open, lines := map[string]bool{}, map[string]int{}
	for _, a := range s.Actors {
		for _, c := range a.Calls {
			open[c.UseID] = true
		}
	}
	err = st.Lines(store.Select{Key: "s1"}, func(l *store.Line) {
		if e := l.Change.Event; e != nil {
			lines[e.Tool.UseID]++
		}
	})
	if err != nil {
		t.Errorf("%s: reading the history: %v", what, err)
	}
	for _, call := range append([]string{"after"}, x.before...) {
		if !open[call] || lines[call] != 1 {
			t.Errorf("%s: event %s in the session: %t, in the history: %d times", what, call, open[call], lines[call])
		}
	}
	if n := lines["meanwhile"]; n > 1 || n == 1 && !open["meanwhile"] {
		t.Errorf("%s: its event in the history: %d times, in the session: %t", what, n, open["meanwhile"])
	}
	if n := names(filepath.Join(st.Dir, "aside")); n > 0 {
		t.Errorf("%s: %d files could not be read", what, n)
	}
}
