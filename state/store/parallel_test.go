package store

import (
	"errors"
	"slices"
	"strconv"
	"testing"
)

// foldRole folds n events into a session. Its arguments: DIR ID NAME N.
func foldRole(args []string) {
	st, id := Open(args[0]), args[1]
	for i := range number(args[3]) {
		_, err := st.Fold(KeyOf(id), folding(tool(id, args[2]+"."+strconv.Itoa(i), t0)))
		if !errors.Is(err, ErrBusy) { // after ErrBusy the event is in the spool
			must(err)
		}
	}
}

const (
	writers = 64
	each    = 4 // events per writer
)

// 64 processes at once lose nothing, with one session or with 64.
func TestParallelProcesses(t *testing.T) {
	for _, tc := range []struct {
		name string
		id   func(writer int) string
	}{
		{"one session", func(int) string { return "one" }},
		{"64 sessions", func(w int) string { return "s" + strconv.Itoa(w) }},
	} {
		t.Run(tc.name, func(t *testing.T) {
			st := Open(t.TempDir())
			want := foldAtOnce(t, st.Dir, tc.id)
			if err := st.TakeLate(); err != nil {
				t.Fatal(err)
			}
			for id, calledFor := range want {
				if got := sorted(calls(t, st, id)); !slices.Equal(got, sorted(calledFor)) {
					t.Errorf("journal of %s has %d calls, want %d:\n%v", id, len(got), len(calledFor), got)
				}
				if s := load(t, st, id); s.Seq != int64(len(calledFor)) || s.Counts.Tools != s.Seq {
					t.Errorf("session %s is at %d with %d tools, want %d", id, s.Seq, s.Counts.Tools, len(calledFor))
				}
			}
			clean(t, st)
			parses(t, st)
			for _, dir := range []string{lateDir, asideDir, logDir, tmpDir} {
				if left := list(t, st, dir); len(left) > 0 {
					t.Errorf("%s holds %q", dir, left)
				}
			}
		})
	}
}

// foldAtOnce runs the writers and returns each session's calls.
func foldAtOnce(t testing.TB, dir string, id func(writer int) string) map[string][]string {
	t.Helper()
	want := map[string][]string{}
	var waits []func() error
	for w := range writers {
		name := "w" + strconv.Itoa(w)
		cmd := process(t, "fold", dir, id(w), name, strconv.Itoa(each))
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		waits = append(waits, cmd.Wait)
		want[id(w)] = append(want[id(w)], names(name+".", each)...)
	}
	for _, wait := range waits {
		if err := wait(); err != nil {
			t.Fatal(err)
		}
	}
	return want
}
