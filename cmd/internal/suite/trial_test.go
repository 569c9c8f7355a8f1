//go:build unix

package suite

import (
	"context"
	"fmt"
	"runtime"
	"strings"
	"sync"
	"testing"
)

// tries is how often a test with a real client is played before it has failed: on a busy
// machine a client may miss a key or start too late, which is no mistake of beckon's. A
// mistake of beckon's fails each time. The matrix, which runs on a quiet machine, plays
// everything once.
const tries = 2

// tried runs a test until one of its tries passes, and logs the failed ones.
func tried(t *testing.T, test func(t testing.TB)) {
	t.Helper()
	for n := 1; ; n++ {
		try := &try{TB: t}
		try.run(test)
		said := strings.Join(try.said, "\n")
		switch {
		case try.skipped:
			t.Skip(said)
		case !try.failed:
			if said != "" {
				t.Log(said)
			}
			return
		case n == tries || *matrix || t.Context().Err() != nil:
			t.Fatalf("try %d:\n%s", n, said)
		}
		t.Logf("try %d failed:\n%s", n, said)
	}
}

// try is a test's view of one run: it may fail without failing the test, and cleans up when it
// ends.
type try struct {
	testing.TB
	ctx context.Context

	mu              sync.Mutex
	said            []string
	failed, skipped bool
	cleanups        []func()
}

func (t *try) run(test func(testing.TB)) {
	ctx, cancel := context.WithCancel(t.TB.Context())
	defer cancel()
	t.ctx = ctx
	t.protect(func() { test(t) })
	cancel()
	for {
		t.mu.Lock()
		last := len(t.cleanups) - 1
		if last < 0 {
			t.mu.Unlock()
			return
		}
		f := t.cleanups[last]
		t.cleanups = t.cleanups[:last]
		t.mu.Unlock()
		t.protect(f)
	}
}

// protect runs f in a goroutine, which FailNow and SkipNow may end.
func (t *try) protect(f func()) {
	var done sync.WaitGroup
	done.Go(f)
	done.Wait()
}

func (t *try) Context() context.Context { return t.ctx }

func (t *try) Cleanup(f func()) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.cleanups = append(t.cleanups, f)
}

func (t *try) Log(args ...any) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.said = append(t.said, strings.TrimSuffix(fmt.Sprintln(args...), "\n"))
}

func (t *try) Logf(format string, args ...any) { t.Log(fmt.Sprintf(format, args...)) }

func (t *try) Fail() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.failed = true
}

func (t *try) Failed() bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.failed
}

func (t *try) FailNow() {
	t.Fail()
	runtime.Goexit()
}

func (t *try) SkipNow() {
	t.mu.Lock()
	t.skipped = true
	t.mu.Unlock()
	runtime.Goexit()
}

func (t *try) Skipped() bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.skipped
}

func (t *try) Error(args ...any)                 { t.Log(args...); t.Fail() }
func (t *try) Errorf(format string, args ...any) { t.Logf(format, args...); t.Fail() }
func (t *try) Fatal(args ...any)                 { t.Log(args...); t.FailNow() }
func (t *try) Fatalf(format string, args ...any) { t.Logf(format, args...); t.FailNow() }
func (t *try) Skip(args ...any)                  { t.Log(args...); t.SkipNow() }
func (t *try) Skipf(format string, args ...any)  { t.Logf(format, args...); t.SkipNow() }

// A test passes if one of its tries does, and each try cleans up after itself.
func TestTried(t *testing.T) {
	var events []string
	tried(t, func(t testing.TB) {
		events = append(events, "begin")
		t.Cleanup(func() { events = append(events, fmt.Sprint("end, failed: ", t.Failed())) })
		if len(events) == 1 {
			t.Fatal("the first one")
		}
	})
	if got, want := strings.Join(events, "; "), "begin; end, failed: true; begin; end, failed: false"; !*matrix && got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}
