package main

import (
	"fmt"
	"maps"
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

// changing are the system calls by which a hook changes files or takes a lock. They may fail, as
// may those that open and close files.
const changing = "write renameat renameat2 unlinkat mkdirat flock"

var failing = strings.Fields(changing + " openat close")

// TestEverySystemCall kills a hook at its system calls, and makes calls on files fail, on a session
// that is there and on a new one; of the calls that change files, at each one. A hook that is not
// killed exits with 0 and prints nothing, no event is lost that a hook had folded before, and the
// next one is folded. It prints a table of how many calls were the last one, or failed.
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
			for name, made := range x.calls(t) {
				faults := []string{"signal=KILL"}
				if slices.Contains(failing, name) {
					faults = append(faults, "error=EIO", "error=ENOSPC")
				}
				for _, fault := range faults {
					t.Run(fmt.Sprintf("%s %s %d", name, fault, len(before)), func(t *testing.T) {
						t.Parallel()
						tried := x.each(t, name, fault, made)
						lock.Lock()
						defer lock.Unlock()
						table = append(table, fmt.Sprintf("%-16s %-12s %3d of %3d calls, after %d events",
							name, fault, tried, made, len(before)))
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

// calls returns how often a hook makes each of its system calls at least: some wake another thread
// in some runs only.
func (x *traced) calls(t *testing.T) map[string]int {
	t.Helper()
	const traces = 5
	least := map[string]int{}
	for i := range traces {
		cmd, trace := x.under(t, t.TempDir())
		runHook(t, cmd, payloadOf("traced"))
		made := map[string]int{}
		for _, m := range regexp.MustCompile(`(?m)^\d+ +(\w+)\(`).FindAllStringSubmatch(read(t, trace), -1) {
			made[m[1]]++
		}
		for name, n := range made {
			if i == 0 || least[name] > n {
				least[name] = n
			}
		}
		maps.DeleteFunc(least, func(name string, _ int) bool { return made[name] == 0 })
	}
	if least["flock"] == 0 || least["renameat2"] == 0 {
		t.Fatalf("the traces have only %v", least)
	}
	return least
}

func read(t *testing.T, path string) string {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// each tries a fault at the calls of a name, of which a hook makes so many, and returns at how many
// it was. strace counts the calls of each thread by itself, and a hook's work may go from one to
// another at any time: so which call it was is read from the trace, and the calls that change
// files are tried until each was.
func (x *traced) each(t *testing.T, name, fault string, made int) (tried int) {
	t.Helper()
	const rounds, misses = 30, 3
	done := map[int]bool{}
	left := func() bool {
		for at := 1; at <= made; at++ {
			if !done[at] {
				return true
			}
		}
		return false
	}
	all := slices.Contains(strings.Fields(changing), name)
	for round := 0; round == 0 || round < rounds && all && left(); round++ {
		for n, missed := 1, 0; missed < misses; n++ {
			if at := x.try(t, name, fault, n); at > 0 {
				done[at], missed = true, 0
			} else {
				missed++
			}
		}
	}
	if all && left() {
		t.Errorf("of %d calls only %v were tried", made, slices.Sorted(maps.Keys(done)))
	}
	return len(done)
}

// try runs a hook in which a thread's nth call of a name ends it or fails, and returns which of the
// hook's calls of that name it was, 0 for none. Afterwards the session must be whole.
func (x *traced) try(t *testing.T, name, fault string, n int) (at int) {
	t.Helper()
	dir := t.TempDir()
	inject := name + ":" + fault + ":when=" + strconv.Itoa(n)
	cmd, trace := x.under(t, dir, "-e", "trace="+name, "-e", "inject="+inject)
	var text string
	if fault == "signal=KILL" {
		cmd.Stdin = strings.NewReader(payloadOf("meanwhile"))
		if out, err := cmd.CombinedOutput(); err == nil {
			return 0
		} else if len(out) > 0 {
			t.Fatalf("%s: %v: %s", inject, err, out)
		}
		text = read(t, trace)
	} else {
		runHook(t, cmd, payloadOf("meanwhile"))
		hit := false
		if text, _, hit = strings.Cut(read(t, trace), "(INJECTED)"); !hit {
			return 0
		}
	}
	x.hook(t, dir, "after")
	x.whole(t, dir, inject)
	return strings.Count(text, " "+name+"(")
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
		if e := l.Event; e != nil {
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
