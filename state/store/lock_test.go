//go:build !windows

package store

import (
	"bufio"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"beckon/event"
	"beckon/event/plainfile"
	"beckon/state"
)

func init() { roles["hold"] = holdRole }

// holdRole takes the lock of a session, prints that it has it, and keeps it until its stdin
// ends. Its arguments: DIR ID [CALL]. With CALL, it folds
// that call.
func holdRole(args []string) {
	st := Open(args[0])
	h, err := st.acquire(KeyOf(args[1]), LockWait)
	must(err)
	if len(args) > 2 {
		u := folding(tool(args[1], args[2], t0))
		h.place(&u)
		h.apply(&u)
		must(h.commit())
	}
	fmt.Println("held")
	_, _ = bufio.NewReader(os.Stdin).ReadByte()
	h.release()
}

// stoppedHolder starts a process that holds the lock of a session.
func stoppedHolder(t *testing.T, st *Store, args ...string) (cmd *exec.Cmd, letGo func()) {
	t.Helper()
	cmd = process(t, "hold", append([]string{st.Dir}, args...)...)
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	if line, err := bufio.NewReader(out).ReadString('\n'); line != "held\n" {
		t.Fatalf("holder says %q, %v", line, err)
	}
	gone := sync.OnceFunc(func() { _ = in.Close(); _ = cmd.Wait() })
	t.Cleanup(func() { _ = cmd.Process.Kill(); gone() })
	return cmd, gone
}

// A stopped holder costs a hook about a second, and no event.
func TestStoppedHolder(t *testing.T) {
	t.Parallel()
	for name, end := range map[string]func(cmd *exec.Cmd, letGo func()){
		"goes on": func(cmd *exec.Cmd, letGo func()) { _ = cmd.Process.Signal(syscall.SIGCONT); letGo() },
		"killed":  func(cmd *exec.Cmd, letGo func()) { _ = cmd.Process.Kill(); letGo() },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			st := Open(t.TempDir())
			fold(t, st, tool("s", "before", t0))
			cmd, letGo := stoppedHolder(t, st, "s", "unfinished")
			if err := cmd.Process.Signal(syscall.SIGSTOP); err != nil {
				t.Fatal(err)
			}
			for _, e := range []*event.Event{tool("s", "later", t0+20), tool("s", "earlier", t0+10)} {
				begin := time.Now()
				_, err := st.Fold(KeyOf("s"), folding(e))
				if took := time.Since(begin); took < LockWait || took > 10*LockWait {
					t.Errorf("Fold took %v", took)
				}
				if !errors.Is(err, ErrBusy) {
					t.Fatalf("Fold: %v, want ErrBusy", err)
				}
			}
			if n := len(st.lateNames("s")); n != 2 {
				t.Fatalf("%d events are spooled, want 2", n)
			}
			readersDoNotWait(t, st)
			end(cmd, letGo)
			fold(t, st, tool("s", "after", t0+30))
			if got, want := calls(t, st, "s"), []string{"before", "unfinished", "earlier", "later", "after"}; !slices.Equal(got, want) {
				t.Errorf("journal has %q, want %q", got, want)
			}
			if left := list(t, st, lateDir); len(left) > 0 {
				t.Errorf("late/ has %q", left)
			}
			clean(t, st)
		})
	}
}

// Readers see the session at once, whoever holds the lock.
func readersDoNotWait(t *testing.T, st *Store) {
	t.Helper()
	begin := time.Now()
	live, problems, err := st.Live()
	if err != nil || len(problems) > 0 || len(live) != 1 {
		t.Fatalf("Live: %d sessions, %v, %v", len(live), problems, err)
	}
	if live[0].Seq != 2 {
		t.Errorf("a reader sees the session at %d, not at 2", live[0].Seq)
	}
	if s := load(t, st, "s"); s.Seq != 2 {
		t.Errorf("Load sees the session at %d, not at 2", s.Seq)
	}
	if moved, err := st.Archive(KeyOf("s"), t0); moved || !errors.Is(err, ErrBusy) {
		t.Errorf("Archive: %v, %v, want ErrBusy", moved, err)
	}
	if took := time.Since(begin); took > LockWait/2 {
		t.Errorf("readers waited %v for a stopped holder", took)
	}
}

// A reader drains the spool too.
func TestReaderDrainsTheSpool(t *testing.T) {
	st := Open(t.TempDir())
	for i, call := range []string{"c", "a", "b"} {
		at := t0 + []event.Millis{30, 10, 20}[i]
		if err := st.postponeFile(KeyOf("s"), folding(tool("s", call, at)).Change); err != nil {
			t.Fatal(err)
		}
	}
	live, _, err := st.Live()
	if err != nil || len(live) != 1 || live[0].Counts.Tools != 3 {
		t.Fatalf("Live: %+v, %v", live, err)
	}
	if got := calls(t, st, "s"); !slices.Equal(got, []string{"a", "b", "c"}) {
		t.Errorf("journal has %q", got)
	}
	clean(t, st)
}

// A process that tries again and again to lock a session whose holder is stopped keeps only
// one waiting thread.
func TestWaitingLeavesOneGoroutine(t *testing.T) { // not in parallel: it counts goroutines
	st := Open(t.TempDir())
	_, letGo := stoppedHolder(t, st, "s")
	before := runtime.NumGoroutine()
	for range 20 {
		if _, err := st.lock(KeyOf("s"), 10*time.Millisecond); !errors.Is(err, ErrBusy) {
			t.Fatalf("lock: %v, want ErrBusy", err)
		}
	}
	if n := runtime.NumGoroutine() - before; n >= 10 {
		t.Errorf("20 waits that timed out left %d goroutines", n)
	}
	letGo()
	eventually(t, "waits that ended to release the lock", func() bool {
		l, err := st.lock(KeyOf("s"), noWait)
		if err == nil {
			l.Close()
		}
		return err == nil
	})
}

// If lock files are removed while sessions are in use, there are never two holders at once,
// though each may have found another file at the path.
func TestLockFileRemoved(t *testing.T) {
	t.Parallel()
	st := Open(t.TempDir())
	k := KeyOf("s")
	for _, dir := range []string{locksDir, archiveDir} {
		if err := os.MkdirAll(st.path(dir, ""), dirMode); err != nil {
			t.Fatal(err)
		}
	}
	var inside atomic.Int32
	var removed, entered atomic.Int64
	var all sync.WaitGroup
	begin := time.Now()
	more := func() bool { // on a busy machine they take longer to meet
		past := time.Since(begin)
		return past < time.Second || removed.Load() == 0 && past < 20*time.Second
	}
	for range 4 {
		all.Go(func() {
			for more() {
				l, err := st.lock(k, 10*time.Second)
				if err != nil {
					t.Errorf("lock: %v", err)
					return
				}
				if n := inside.Add(1); n != 1 {
					t.Errorf("%d holders at once", n)
				}
				entered.Add(1)
				runtime.Gosched()
				inside.Add(-1)
				l.Close()
			}
		})
		all.Go(func() {
			for more() {
				before := plainfile.Exists(st.lockFile(k))
				_ = os.WriteFile(st.archived(k), nil, fileMode)
				if err := st.pruneSession(st.archived(k), k, time.Now().Add(time.Hour)); err != nil {
					t.Errorf("pruneSession: %v", err)
				}
				if before && !plainfile.Exists(st.lockFile(k)) {
					removed.Add(1)
				}
				time.Sleep(50 * time.Microsecond)
			}
		})
	}
	all.Wait()
	if removed.Load() == 0 || entered.Load() == 0 {
		t.Errorf("lock file removed %d times, taken %d times", removed.Load(), entered.Load())
	}
}

// An observation is folded once, however many readers see it.
func TestObservationIsFoldedOnce(t *testing.T) {
	st := Open(t.TempDir())
	fold(t, st, tool("s", "c", t0))
	o := state.Observed{Source: state.FromRegistry, What: state.SawHalt, At: t0 + 10}
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() {
			res, err := st.Fold(KeyOf("s"), Update{Change: state.Change{At: o.At, Observation: &o}})
			if err != nil || res.After.Seq != 2 {
				t.Errorf("Fold: at %d, %v", res.After.Seq, err)
			}
		})
	}
	all.Wait()
	n := 0
	if err := st.Lines(Select{Key: "s"}, func(*Line) { n++ }); err != nil || n != 2 {
		t.Errorf("journal has %d lines, %v", n, err)
	}
	clean(t, st)
}

// A user's action cannot be spooled, so the caller gets the error.
func TestActionOnHeldSession(t *testing.T) {
	t.Parallel()
	st := Open(t.TempDir())
	fold(t, st, tool("s", "c", t0))
	stoppedHolder(t, st, "s")
	u := Update{Change: state.Change{At: t0, Action: &state.Action{Kind: state.ActSeen}}, Wait: 20 * time.Millisecond}
	if _, err := st.Fold(KeyOf("s"), u); !errors.Is(err, ErrBusy) {
		t.Fatalf("Fold: %v, want ErrBusy", err)
	}
	if n := len(list(t, st, lateDir)); n != 0 {
		t.Errorf("spool/ has %d files", n)
	}
}

// Where the file system has no locks, events are folded all the same.
func TestNoLocks(t *testing.T) {
	for _, err := range []error{syscall.ENOLCK, syscall.EOPNOTSUPP, syscall.ENOSYS} {
		if !unsupported(&fs.PathError{Op: "lock", Path: "x", Err: err}) {
			t.Errorf("%v counts as a lock that is held", err)
		}
	}
	for _, err := range []error{nil, syscall.EWOULDBLOCK, syscall.EINTR, syscall.EBADF} {
		if unsupported(err) {
			t.Errorf("%v counts as no locks", err)
		}
	}
	if err := Open(t.TempDir()).LockProblem(); err != nil {
		t.Errorf("here: %v", err)
	}
}
