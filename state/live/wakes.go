package live

import (
	"context"
	"maps"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"github.com/fsnotify/fsnotify"
)

// Wakes wakes goroutines that wait for files to change. It has a file system watcher only
// while one waits; if it cannot have one they look periodically.
type Wakes struct {
	Log func(error)

	watching sync.Mutex // locked before mu, to change w: that may wait for run, which never locks it
	w        *fsnotify.Watcher
	mu       sync.Mutex
	waiting  map[chan struct{}][]string // the waiting goroutines, and their files
}

// Watch is a hold.Watch: it watches the files and directories that exist.
func (k *Wakes) Watch(paths ...string) (changed <-chan struct{}, stop func()) {
	k.watching.Lock()
	defer k.watching.Unlock()
	if k.w == nil {
		w, err := fsnotify.NewWatcher()
		if err != nil {
			k.Log(err)
			return nil, func() {}
		}
		k.w = w
		go k.run(w)
	}
	me := make(chan struct{}, 1)
	k.mu.Lock()
	if k.waiting == nil {
		k.waiting = map[chan struct{}][]string{}
	}
	k.waiting[me] = paths
	k.mu.Unlock()
	for _, p := range paths {
		_ = k.w.Add(p) // it may not exist yet
	}
	return me, func() { k.leave(me) }
}

// Follow calls look now, whenever one of the paths changes or something is sent to again, and
// at least every so often, until ctx ends. A path is watched from the first look on at which it
// exists.
func (k *Wakes) Follow(ctx context.Context, every time.Duration, again <-chan struct{}, look func(), paths ...string) {
	var changed <-chan struct{}
	stop := func() {}
	defer func() { stop() }()
	tick := time.NewTicker(every)
	defer tick.Stop()
	for ctx.Err() == nil {
		if over := stop; len(paths) > 0 {
			changed, stop = k.Watch(paths...)
			over()
		}
		look()
		select {
		case <-ctx.Done():
		case <-changed:
		case <-again:
		case <-tick.C:
		}
	}
}

func (k *Wakes) leave(me chan struct{}) {
	k.watching.Lock()
	defer k.watching.Unlock()
	k.mu.Lock()
	paths := k.waiting[me]
	delete(k.waiting, me)
	others := slices.Collect(maps.Values(k.waiting))
	k.mu.Unlock()
	if len(others) == 0 {
		_ = k.w.Close()
		k.w = nil
		return
	}
	for _, p := range paths {
		if !slices.ContainsFunc(others, func(paths []string) bool { return slices.Contains(paths, p) }) {
			_ = k.w.Remove(p) // it may be gone
		}
	}
}

// run ends when the watcher is closed.
func (k *Wakes) run(w *fsnotify.Watcher) {
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

func (k *Wakes) wake(is func(path string) bool) {
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
