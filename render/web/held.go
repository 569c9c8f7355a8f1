package web

import (
	"maps"
	"net/http"
	"path/filepath"
	"slices"
	"strconv"
	"sync"
	"time"

	"beckon/state"
	"beckon/state/offer"

	"github.com/fsnotify/fsnotify"
)

const (
	// maxHeld is how many requests may wait for a person at once; further ones
	// are answered at once, and their questions stay where they are asked.
	maxHeld = 64
	// maxWait is how long a sender may say that it waits, and margin how much
	// sooner it is answered.
	maxWait = 24 * time.Hour
	margin  = time.Second
)

// waitOf is how long who sent r waits for a person's answer, by its own word.
func waitOf(r *http.Request) (wait time.Duration, bad bool) {
	text := r.URL.Query().Get("wait")
	if text == "" {
		return 0, false
	}
	n, err := strconv.Atoi(text)
	wait = time.Duration(n) * time.Second
	if err != nil || n < 0 || n > int(maxWait.Seconds()) {
		return 0, true
	}
	return max(0, wait-margin), false
}

// held holds a request until the user has answered what it asks, and reports
// whether it was answered.
func (s *Server) held(w http.ResponseWriter, r *http.Request, held offer.Held, session *state.Session) (answered bool) {
	defer s.holding.Add(-1)
	if s.holding.Add(1) > maxHeld {
		s.meter.refused("too_many_held")
		return false
	}
	s.conns.stream(r)
	w.Header().Set("Connection", "close") // it is in no count any more
	rc := http.NewResponseController(w)
	_ = rc.SetReadDeadline(time.Time{}) // of requests that are answered at once
	_ = rc.SetWriteDeadline(time.Time{})
	late := func() { _ = rc.SetWriteDeadline(time.Now().Add(writeWait)) }
	defer late() // for whoever answers in place of the user
	held(r.Context(), session, s.wakes.watch, func(answer []byte) error {
		if err := r.Context().Err(); err != nil {
			return err
		}
		late()
		answered = true
		writeBytes(w, http.StatusOK, "application/json", answer)
		return rc.Flush()
	})
	return answered
}

// wakes wakes those who wait for a file to change. It has a watcher only while
// somebody waits; without one they look now and then.
type wakes struct {
	log func(error)

	mu      sync.Mutex
	w       *fsnotify.Watcher
	waiting map[chan struct{}][]string // the waiters, and their files
}

// watch is a hold.Watch.
func (k *wakes) watch(paths ...string) (changed <-chan struct{}, stop func()) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.w == nil {
		w, err := fsnotify.NewWatcher()
		if err != nil {
			k.log(err)
			return nil, func() {}
		}
		k.w = w
		go k.run(w)
	}
	for _, p := range paths {
		_ = k.w.Add(p) // it may not be there yet
	}
	me := make(chan struct{}, 1)
	k.waiting[me] = paths
	return me, func() { k.leave(me) }
}

func (k *wakes) leave(me chan struct{}) {
	k.mu.Lock()
	defer k.mu.Unlock()
	paths := k.waiting[me]
	delete(k.waiting, me)
	if len(k.waiting) == 0 {
		_ = k.w.Close()
		k.w = nil
		return
	}
	for _, p := range paths {
		wanted := func(paths []string) bool { return slices.Contains(paths, p) }
		if !slices.ContainsFunc(slices.Collect(maps.Values(k.waiting)), wanted) {
			_ = k.w.Remove(p) // it may be gone
		}
	}
}

// run ends when the watcher is closed.
func (k *wakes) run(w *fsnotify.Watcher) {
	for {
		select {
		case e, ok := <-w.Events:
			if !ok {
				return
			}
			k.wake(func(path string) bool { return path == e.Name || path == filepath.Dir(e.Name) })
		case _, ok := <-w.Errors:
			if !ok {
				return
			}
			k.wake(func(string) bool { return true }) // some changes were not reported
		}
	}
}

func (k *wakes) wake(is func(path string) bool) {
	k.mu.Lock()
	defer k.mu.Unlock()
	for me, paths := range k.waiting {
		if slices.ContainsFunc(paths, is) {
			select {
			case me <- struct{}{}:
			default: // it will look
			}
		}
	}
}
