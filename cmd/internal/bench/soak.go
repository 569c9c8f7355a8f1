package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"beckon/event"
	"beckon/state"
	"beckon/state/store"
)

// soak runs many sessions for a while, with every reader attached.
type soak struct {
	span     time.Duration
	sessions int
	rate     int // hooks a second

	site         *site
	beckon, hook string
	talks        []*talk
	hooks, reads atomic.Int64
	heard        atomic.Int64
	began        time.Time
	mu           sync.Mutex
	errs         []error
}

const (
	soakWriters  = 8
	oldArchived  = 1000 // sessions that were archived long ago, to be pruned
	justOver     = 20   // sessions that ended a while ago, to be archived
	longSessions = 3    // sessions whose journals are nearly full, to be rotated
)

// runSoak runs the soak and writes the result.
func runSoak(s *soak, dir, out string, w io.Writer) error {
	err := buildOurs(dir, "beckon", "beckon-hook")
	if err != nil {
		return err
	}
	s.beckon, s.hook = filepath.Join(dir, "beckon"), filepath.Join(dir, "beckon-hook")
	if err := s.prepare(dir); err != nil {
		return err
	}
	if s.site, err = startServe(dir, s.beckon, nil); err != nil {
		return err
	}
	defer s.site.stop()
	samples, err := s.run()
	if err != nil {
		return err
	}
	text, err := s.summary(samples)
	fmt.Fprint(w, text)
	if err != nil || out == "" {
		return err
	}
	return os.WriteFile(out, []byte(text), 0o644)
}

// prepare creates the sessions, and a past for housekeeping to clean up.
func (s *soak) prepare(dir string) error {
	state := filepath.Join(dir, "state")
	long := time.Now().Add(-20 * 24 * time.Hour)
	for i := range oldArchived {
		if err := neighbour(state, i); err != nil {
			return err
		}
		if err := os.Remove(filepath.Join(state, "sessions", fmt.Sprintf("sessions-%05d.json", i))); err != nil {
			return err
		}
		if err := os.Chtimes(filepath.Join(state, "archive", fmt.Sprintf("archive-%05d.json", i)), long, long); err != nil {
			return err
		}
	}
	for i := range s.sessions {
		t := &talk{id: fmt.Sprintf("soak-%03d", i), r: rand.New(rand.NewPCG(uint64(i), 1))}
		s.talks = append(s.talks, t)
		if i < longSessions {
			if err := t.grow(state); err != nil {
				return err
			}
		}
	}
	st := store.Open(state)
	for i := range justOver {
		id, end := fmt.Sprintf("over-%02d", i), time.Now().Add(-store.ArchiveAfter+s.span/4)
		err := errors.Join(foldAt(st, id, event.SessionStart, end.Add(-time.Minute)), foldAt(st, id, event.SessionEnd, end))
		if err != nil {
			return err
		}
	}
	return nil
}

func foldAt(st *store.Store, id string, k event.Kind, at time.Time) error {
	return foldEvent(st, id, event.Event{Agent: "claude-code", Kind: k, Name: string(k), SessionID: id, Cwd: "/", At: event.MillisOf(at)})
}

// foldEvent folds an event, at the current time unless it has one.
func foldEvent(st *store.Store, id string, e event.Event) error {
	e.At = cmp.Or(e.At, event.MillisOf(time.Now()))
	_, err := st.Fold(store.KeyOf(id), store.Update{Change: state.Change{At: e.At, Event: &e}})
	return err
}

// run runs everything for the span and takes samples.
func (s *soak) run() ([]sample, error) {
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	if err := s.site.listen(ctx, func(_, _ []byte) { s.heard.Add(1) }); err != nil {
		return nil, err
	}
	stalled, err := s.site.stall()
	if err != nil {
		return nil, err
	}
	defer stalled.Close()
	s.began = time.Now()
	var all sync.WaitGroup
	for i := range soakWriters {
		all.Go(func() { s.write(i) })
	}
	all.Go(s.read)
	var samples []sample
	for time.Since(s.began) < s.span {
		time.Sleep(s.span / 60)
		samples = append(samples, s.sample())
	}
	all.Wait()
	return samples, errors.Join(s.errs...)
}

func (s *soak) over() bool { return time.Since(s.began) >= s.span }

func (s *soak) failed(err error) {
	if err != nil {
		s.mu.Lock()
		s.errs = append(s.errs, err)
		s.mu.Unlock()
	}
}

// write runs the hooks of some sessions, session by session, in order.
func (s *soak) write(which int) {
	r := rand.New(rand.NewPCG(uint64(which), 2))
	for n := 0; !s.over(); n++ {
		due := time.Duration(float64(n) / float64(s.rate) * soakWriters * float64(time.Second))
		time.Sleep(due - time.Since(s.began))
		t := s.talks[which+soakWriters*r.IntN(len(s.talks)/soakWriters)]
		name, payload := t.next()
		cmd := exec.Command(s.hook, name)
		cmd.Env, cmd.Stdin = s.site.cmd.Env, strings.NewReader(payload)
		if out, err := cmd.CombinedOutput(); err != nil || len(out) > 0 {
			s.failed(fmt.Errorf("hook: %v %s", err, out))
		}
		s.hooks.Add(1)
	}
}

// read runs what a user has running at the same time.
func (s *soak) read() {
	for !s.over() {
		for _, args := range [][]string{{"list"}, {"watch", "--once"}, {"prompt"}} {
			cmd := exec.Command(s.beckon, args...)
			cmd.Env = s.site.cmd.Env
			out, err := cmd.CombinedOutput()
			if err != nil || strings.Contains(string(out), "reading session") {
				s.failed(fmt.Errorf("%s: %v %s", args[0], err, out))
			}
			s.reads.Add(1)
		}
		time.Sleep(time.Second)
	}
}

// check compares every session's file with the fold of the events that were sent to it, and
// returns how many events are missing in all.
func (s *soak) check() (lost, segments int, err error) {
	for _, t := range s.talks {
		n, e := t.check(s.site.st)
		lost += n
		err = errors.Join(err, e)
	}
	findings, e := s.site.st.Check(false, nil)
	for _, f := range findings {
		err = errors.Join(err, fmt.Errorf("fsck: %s: %s", f.Key, f.Problem))
	}
	old, _ := filepath.Glob(filepath.Join(s.site.st.Dir, "journal", "*.*.jsonl"))
	return lost, len(old), errors.Join(err, e)
}

// files returns how many files match a pattern.
func (s *soak) files(pattern string) int {
	names, _ := filepath.Glob(filepath.Join(s.site.st.Dir, pattern))
	return len(slices.DeleteFunc(names, func(n string) bool { return strings.HasPrefix(filepath.Base(n), ".") }))
}
