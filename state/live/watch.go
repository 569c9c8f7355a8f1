package live

import (
	"context"
	"slices"
	"sync"
	"time"

	"github.com/fsnotify/fsnotify"
)

// watcher reports changes in those of its directories that exist. A nil one reports nothing: the
// system may have no watches left, or the file system none.
type watcher struct {
	w    *fsnotify.Watcher
	dirs []string
	done sync.WaitGroup
}

// newWatcher returns a watcher that calls changed with the path of each change, or with an empty
// one if some were missed. It watches nothing before update.
func newWatcher(changed func(path string), dirs ...string) *watcher {
	w, err := fsnotify.NewWatcher()
	if err != nil {
		return nil
	}
	v := &watcher{w: w, dirs: dirs}
	v.done.Go(func() {
		for {
			select {
			case e, ok := <-w.Events:
				if !ok {
					return
				}
				changed(e.Name)
			case _, ok := <-w.Errors:
				if !ok {
					return
				}
				changed("")
			}
		}
	})
	return v
}

// update watches the directories that appeared, and reports whether there are such.
func (v *watcher) update() (added bool) {
	if v == nil {
		return false
	}
	on := v.w.WatchList()
	for _, dir := range v.dirs {
		added = !slices.Contains(on, dir) && v.w.Add(dir) == nil || added
	}
	return added
}

// on reports whether changes in dir are reported.
func (v *watcher) on(dir string) bool { return v != nil && slices.Contains(v.w.WatchList(), dir) }

func (v *watcher) close() {
	if v != nil {
		for _, dir := range v.w.WatchList() { // the kernel takes some 15 ms to close what still watches
			_ = v.w.Remove(dir)
		}
		_ = v.w.Close()
		v.done.Wait()
	}
}

// wake sends to a channel of capacity one, unless something is in it.
func wake(c chan<- struct{}) {
	select {
	case c <- struct{}{}:
	default:
	}
}

// Watch calls look now, whenever something in one of dirs changes, and at least every so often, until
// ctx ends.
func Watch(ctx context.Context, every time.Duration, look func(), dirs ...string) {
	changed := make(chan struct{}, 1)
	var v *watcher
	if len(dirs) > 0 {
		v = newWatcher(func(string) { wake(changed) }, dirs...)
		defer v.close()
	}
	tick := time.NewTicker(every)
	defer tick.Stop()
	for ctx.Err() == nil {
		v.update()
		look()
		select {
		case <-ctx.Done():
		case <-changed:
		case <-tick.C:
		}
	}
}
