//go:build !windows

package store

import (
	"bytes"
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"beckon/event"
	"beckon/state"
)

var crashTime = flag.Duration("crash", 10*time.Second, "how long to kill writers")

func init() { roles["crash"] = crashRole }

// crashRole does everything a writer can do to session "crash", prints every acknowledged
// event to stdout, and kills itself at a random moment. Its arguments: DIR NAME SEED.
func crashRole(args []string) {
	seed := uint64(number(args[2]))
	w := crashWriter{st: Open(args[0]), name: args[1], r: rand.New(rand.NewPCG(seed, seed))}
	if w.r.IntN(4) > 0 {
		w.step() // so that most are warm when their time starts
	}
	delay := time.Duration(w.r.Int64N(int64(6 * time.Millisecond)))
	time.AfterFunc(delay, func() { _ = syscall.Kill(os.Getpid(), syscall.SIGKILL) })
	for {
		w.step()
	}
}

type crashWriter struct {
	st   *Store
	name string
	r    *rand.Rand
	n    int
}

const (
	crashID  = "crash"
	crashers = 3 // writers at a time
)

func (w *crashWriter) step() {
	now := event.MillisOf(time.Now())
	call := w.name + "." + strconv.Itoa(w.n)
	w.n++
	e := tool(crashID, call, now)
	k := KeyOf(crashID)
	switch w.r.IntN(16) {
	case 0:
		w.fold(state.Change{At: now, Observation: &state.Observed{Source: state.FromRegistry, What: state.SawHalt, At: now}}, "")
	case 1:
		w.fold(state.Change{At: now, Action: &state.Action{Kind: state.ActSeen}}, "")
	case 2, 3:
		e.At -= event.Millis(w.r.IntN(50))
		must(w.st.postponeFile(k, state.Change{At: e.At, Event: e}))
		w.acknowledge(call)
	case 4, 5:
		e.Kind, e.Name = event.SessionEnd, "SessionEnd"
		w.fold(state.Change{At: now, Event: e}, call)
		_, err := w.st.Archive(k, now+event.Millis(time.Hour.Milliseconds()))
		w.unlessBusy(err)
	case 6, 7:
		e.Kind, e.Name, e.Source = event.SessionStart, "SessionStart", "resume"
		w.fold(state.Change{At: now, Event: e}, call)
	case 8:
		must(w.st.TakeLate())
	default:
		w.fold(state.Change{At: now, Event: e}, call)
	}
}

func (w *crashWriter) fold(c state.Change, call string) {
	_, err := w.st.Fold(KeyOf(crashID), Update{Change: c, Origin: func(event.Origin) event.Origin { return event.Origin{Host: "h", Launcher: w.name} }})
	w.unlessBusy(err)
	if call != "" {
		w.acknowledge(call)
	}
}

func (w *crashWriter) unlessBusy(err error) {
	if !errors.Is(err, ErrBusy) {
		must(err)
	}
}

func (w *crashWriter) acknowledge(call string) { fmt.Println(call) }

// Writers are killed at random moments, several at a time on one session, while a reader
// reads. At every moment every file parses; no acknowledged event is lost, none is folded twice.
func TestKilledWriters(t *testing.T) {
	t.Parallel()
	c := crash{st: Open(t.TempDir())}
	acknowledged := map[string]bool{}
	begin := time.Now()
	var all sync.WaitGroup
	for range crashers {
		all.Go(func() {
			for time.Since(begin) < *crashTime && !t.Failed() {
				calls := c.killOne(t)
				c.verify(t, calls)
				c.mu.Lock()
				for _, call := range calls {
					acknowledged[call] = true
				}
				c.mu.Unlock()
			}
		})
	}
	stop := c.readAlong(t)
	all.Wait()
	stop()
	for _, dir := range []string{lateDir, asideDir, logDir} {
		if left := list(t, c.st, dir); len(left) > 0 {
			t.Errorf("%s holds %q", dir, left)
		}
	}
	c.check(t, acknowledged)
}

type crash struct {
	st *Store

	mu                   sync.Mutex
	last, events         int64
	killed, acknowledged int
}

// readAlong reads everything repeatedly until stop is called.
func (c *crash) readAlong(t *testing.T) (stop func()) {
	end, done := make(chan bool), make(chan bool)
	go func() {
		defer close(done)
		for {
			select {
			case <-end:
				return
			case <-time.After(2 * time.Millisecond):
			}
			parses(t, c.st)
			if _, err := c.st.Load(KeyOf(crashID)); err != nil && !errors.Is(err, fs.ErrNotExist) {
				t.Errorf("Load: %v", err)
			}
		}
	}()
	return func() { close(end); <-done }
}

// killOne runs a writer until it is dead and returns the events it acknowledged.
func (c *crash) killOne(t *testing.T) []string {
	c.mu.Lock()
	c.killed++
	n := strconv.Itoa(c.killed)
	c.mu.Unlock()
	cmd := process(t, "crash", c.st.Dir, "w"+n, n)
	out, _ := cmd.Output()
	if status, ok := cmd.ProcessState.Sys().(syscall.WaitStatus); !ok || status.Signal() != syscall.SIGKILL {
		t.Errorf("writer: %v", cmd.ProcessState)
	}
	return strings.Fields(string(out[:bytes.LastIndexByte(out, '\n')+1]))
}

// verify checks what a killed writer left, while others write.
func (c *crash) verify(t *testing.T, acknowledged []string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	h, err := c.st.acquire(KeyOf(crashID), 10*time.Second)
	if err != nil {
		t.Errorf("locking: %v", err)
		return
	}
	defer h.release()
	h.takeLate(nil)
	if err := h.commit(); err != nil {
		t.Errorf("writing: %v", err)
	}
	c.acknowledged += len(acknowledged)
	c.events = h.s.Counts.Events
	if h.s.Seq < c.last {
		t.Errorf("the session is at %d, and was at %d", h.s.Seq, c.last)
	}
	c.last = h.s.Seq
}

// check compares the session with its history, once all writers are dead. An event that was
// acknowledged is in both. A kill may take lines of history, but adds none.
func (c *crash) check(t *testing.T, acknowledged map[string]bool) {
	seen, seqs, events := map[string]int{}, map[int64]bool{}, int64(0)
	if err := c.st.Lines(Select{Key: KeyOf(crashID)}, func(l *Line) {
		if seqs[l.Seq] {
			t.Errorf("line %d is there twice", l.Seq)
		}
		seqs[l.Seq] = true
		if e := l.Event; e != nil {
			events++
			if seen[e.Tool.UseID]++; seen[e.Tool.UseID] > 1 {
				t.Errorf("event %s is in the history again", e.Tool.UseID)
			}
		}
	}); err != nil {
		t.Errorf("Lines: %v", err)
	}
	lost := 0
	for call := range acknowledged {
		if seen[call] == 0 {
			lost++
		}
	}
	if c.events < events || c.events < int64(len(acknowledged)) || lost > c.killed {
		t.Errorf("the session has %d events, its history %d; %d were acknowledged, of which history lacks %d", c.events, events, len(acknowledged), lost)
	}
	if c.events > int64(len(acknowledged)+c.killed) {
		t.Errorf("the session has %d events; %d were acknowledged, and %d writers killed", c.events, len(acknowledged), c.killed)
	}
	t.Logf("%d writers killed, %d events acknowledged, session at %d with %d events, %d of them in its history", c.killed, len(acknowledged), c.last, c.events, events)
}
