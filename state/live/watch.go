package live

import (
	"context"
	"path/filepath"
	"sync"

	"beckon/state/store"

	"github.com/fsnotify/fsnotify"
)

// todo is what a follower has to look at. It is safe for concurrent use.
type todo struct {
	mu       sync.Mutex
	keys     map[store.Key]bool
	registry bool
	all      bool
	wake     chan struct{}
}

func newTodo() *todo { return &todo{keys: map[store.Key]bool{}, wake: make(chan struct{}, 1)} }

func (t *todo) add(f func(*todo)) {
	t.mu.Lock()
	f(t)
	t.mu.Unlock()
	select {
	case t.wake <- struct{}{}:
	default:
	}
}

func (t *todo) take() (keys []store.Key, registry, all bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for k := range t.keys {
		keys = append(keys, k)
	}
	registry, all = t.registry, t.all
	clear(t.keys)
	t.registry, t.all = false, false
	return keys, registry, all
}

// dirs watches directories as far as the system can. The first is the one that counts.
type dirs struct {
	w    *fsnotify.Watcher // nil if there is none
	want []string
	on   map[string]bool
}

// retry watches the directories that did not exist before or were removed. It reports whether
// the system reports changes of session files, and whether retry added a directory.
func (d *dirs) retry() (watching, added bool) {
	if d.w == nil {
		return false, false
	}
	d.on = map[string]bool{}
	for _, path := range d.w.WatchList() {
		d.on[path] = true
	}
	for _, path := range d.want {
		if !d.on[path] && d.w.Add(path) == nil {
			d.on[path], added = true, true
		}
	}
	return d.on[d.want[0]], added
}

func (d *dirs) close() {
	if d.w != nil {
		_ = d.w.Close()
	}
}

// listen turns what the system reports into work. If it reports nothing (too many watches, an
// unsupported file system) the follower polls.
func (f *Follower) listen(ctx context.Context, work *sync.WaitGroup) {
	w, err := fsnotify.NewWatcher()
	if err != nil {
		return
	}
	f.dirs.w = w
	watching, _ := f.dirs.retry()
	f.watching.Store(watching)
	work.Go(func() {
		for {
			select {
			case <-ctx.Done():
				return
			case e, ok := <-w.Events:
				if !ok {
					return
				}
				f.noticed(e.Name)
			case _, ok := <-w.Errors: // too many at once: some were not reported
				if !ok {
					return
				}
				f.TouchAll()
			}
		}
	})
	f.TouchAll() // what changed before it watched
}

func (f *Follower) noticed(path string) {
	dir, name := filepath.Split(path)
	sessions := f.r.st.SessionsDir()
	switch filepath.Clean(dir) {
	case sessions:
		if k, ok := store.KeyOfFile(name); ok {
			f.Touch(k)
		}
	case filepath.Clean(f.r.registry):
		f.todo.add(func(t *todo) { t.registry = true })
	default: // the state directory itself
		if name == StagedFile || path == sessions {
			f.TouchAll()
		}
	}
}
