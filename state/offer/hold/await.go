package hold

import (
	"time"

	"beckon/state/store"
)

// Watch watches the files and directories of those names. changed tells that
// something of them has changed, until stop is called.
type Watch func(paths ...string) (changed <-chan struct{}, stop func())

// Await is Wait for a program that holds many: it also ends when done is closed.
func Await(done <-chan struct{}, st *store.Store, id string, getenv func(string) string, watch Watch) (answered bool, why string) {
	w, err := begin(st, id, getenv)
	if err != nil {
		return false, WhyGone
	}
	paths := []string{w.dir, st.JournalFile(w.key())}
	if w.registry != "" {
		paths = append(paths, w.registry)
	}
	changed, stop := watch(paths...)
	defer stop()
	for {
		answered, why, next := w.look(time.Now())
		switch {
		case answered || why != "":
			return answered, why
		case w.clientGone():
			return false, WhyClient
		}
		again := time.NewTimer(next)
		select {
		case <-done:
			again.Stop()
			return false, WhyStopped
		case <-changed:
			again.Stop()
		case <-again.C:
		}
	}
}
