package store

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"strconv"
	"testing"
	"time"

	"beckon/event"
)

func init() { roles["burst"] = burstRole }

// BenchmarkFold folds an event into a session that exists.
func BenchmarkFold(b *testing.B) {
	st := aSession(b, 20)
	for i := 0; b.Loop(); i++ {
		fold(b, st, tool("s", strconv.Itoa(i), t0+event.Millis(i)))
	}
}

// BenchmarkFoldFirst folds the first event of a session.
func BenchmarkFoldFirst(b *testing.B) {
	st := Open(b.TempDir())
	for i := 0; b.Loop(); i++ {
		fold(b, st, tool("s"+strconv.Itoa(i), "c", t0))
	}
}

// BenchmarkLoad reads one session.
func BenchmarkLoad(b *testing.B) {
	st := aSession(b, 20)
	for b.Loop() {
		load(b, st, "s")
	}
}

// BenchmarkProcesses measures 64 ready processes that fold one event each at the same time.
// With one session it should take at most 1.2 times as long as with 64.
func BenchmarkProcesses(b *testing.B) {
	for _, tc := range []struct {
		name string
		id   func(writer int) string
	}{
		{"one session", func(int) string { return "one" }},
		{"64 sessions", func(w int) string { return "s" + strconv.Itoa(w) }},
	} {
		b.Run(tc.name, func(b *testing.B) {
			st := Open(b.TempDir())
			var total time.Duration
			n := 0
			for ; b.Loop(); n++ {
				total += burst(b, st, tc.id)
			}
			b.ReportMetric(float64(total.Microseconds())/float64(n)/1000, "ms/burst")
		})
	}
}

// burst returns how long the writers' folding takes in all.
func burst(b *testing.B, st *Store, id func(writer int) string) time.Duration {
	start, release, err := os.Pipe()
	if err != nil {
		b.Fatal(err)
	}
	defer start.Close()
	var ready []*bufio.Reader
	var waits []func() error
	for w := range writers {
		cmd := process(b, "burst", st.Dir, id(w), strconv.Itoa(w))
		cmd.Stdin = start
		out, err := cmd.StdoutPipe()
		if err != nil {
			b.Fatal(err)
		}
		if err := cmd.Start(); err != nil {
			b.Fatal(err)
		}
		ready = append(ready, bufio.NewReader(out))
		waits = append(waits, cmd.Wait)
	}
	line := func(r *bufio.Reader) {
		if _, err := r.ReadString('\n'); err != nil {
			b.Fatal(err)
		}
	}
	for _, r := range ready {
		line(r)
	}
	begin := time.Now()
	release.Close()
	for _, r := range ready {
		line(r)
	}
	took := time.Since(begin)
	for _, wait := range waits {
		if err := wait(); err != nil {
			b.Fatal(err)
		}
	}
	return took
}

// burstRole prints that it is ready, waits until its stdin ends, folds one event and prints
// that it is done. Its arguments: DIR ID NAME.
func burstRole(args []string) {
	fmt.Println("ready")
	_, _ = io.ReadAll(os.Stdin)
	_, err := Open(args[0]).Fold(KeyOf(args[1]), folding(tool(args[1], args[2], t0)))
	must(err)
	fmt.Println("done")
}
