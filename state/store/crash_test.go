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
	segment = 12 << 10
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
		must(w.st.spool(k, state.Change{At: e.At, Event: e}))
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
		must(w.st.DrainSpool())
	default:
		w.fold(state.Change{At: now, Event: e}, call)
	}
}

func (w *crashWriter) fold(c state.Change, call string) {
	_, err := w.st.Fold(KeyOf(crashID), Update{Change: c, Origin: func() *event.Origin { return &event.Origin{Host: "h", Launcher: w.name} }})
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
// reads. At every moment every file parses, no acknowledged event is lost, none is folded
// twice, and the next holder heals the rest.
func TestKilledWriters(t *testing.T) {
	t.Parallel()
	c := crash{st: Open(t.TempDir()), seen: map[string]int{}}
	begin := time.Now()
	var all sync.WaitGroup
	for range crashers {
		all.Go(func() {
			for time.Since(begin) < *crashTime && !t.Failed() {
				c.verify(t, c.killOne(t))
			}
		})
	}
	stop := c.readAlong(t)
	all.Wait()
	stop()
	for _, dir := range []string{spoolDir, quarantineDir, logDir} {
		if left := list(t, c.st, dir); len(left) > 0 {
			t.Errorf("%s holds %q", dir, left)
		}
	}
	t.Logf("%d writers killed, %d events acknowledged, journal at %d", c.killed, c.acknowledged, c.last)
}

type crash struct {
	st *Store

	mu                   sync.Mutex
	seen                 map[string]int // how often each call is in the journal
	last                 int64
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
	c.healed(t)
	err := c.st.Lines(KeyOf(crashID), c.last, func(l Line) {
		if l.Change.Seq != c.last+1 {
			t.Errorf("line %d follows %d", l.Change.Seq, c.last)
		}
		c.last = l.Change.Seq
		if e := l.Change.Event; e != nil {
			if c.seen[e.Tool.UseID]++; c.seen[e.Tool.UseID] > 1 {
				t.Errorf("event %s is in the journal again", e.Tool.UseID)
			}
		}
	})
	if err != nil {
		t.Errorf("Lines: %v", err)
	}
	for _, call := range acknowledged {
		if c.seen[call] == 0 {
			t.Errorf("acknowledged event %s is not in the journal", call)
		}
	}
	c.acknowledged += len(acknowledged)
}

// healed runs Heal and then Check, with no writer in between.
func (c *crash) healed(t *testing.T) {
	h := holder{st: c.st, key: KeyOf(crashID)}
	if err := h.acquire(10 * time.Second); err != nil {
		t.Errorf("healing: %v", err)
		return
	}
	defer h.release()
	h.drain(nil)
	if err := h.commit(); err != nil {
		t.Errorf("healing: %v", err)
	}
	if problem, err := h.examine(); problem != "" || err != nil {
		t.Errorf("after healing: %s, %v", problem, err)
	}
}
