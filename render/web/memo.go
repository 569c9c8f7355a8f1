package web

import (
	"maps"
	"sync"
	"time"
)

// memo keeps results for a while, by key: of who asks the same at once or again, the first has
// it computed.
type memo struct {
	run func(func()) // starts a goroutine
	mu  sync.Mutex
	all map[string]*result
}

// result is there when done is closed.
type result struct {
	until time.Time
	done  chan struct{}
	v     any
	err   error
}

// maxKept is how many results are kept; further ones are not.
const maxKept = 1024

// get returns the result for key, which f computes if there is none. An error is not kept.
func (m *memo) get(key string, keep time.Duration, f func() (any, error)) *result {
	m.mu.Lock()
	defer m.mu.Unlock()
	now := time.Now()
	if r := m.all[key]; r != nil && now.Before(r.until) {
		return r
	}
	if m.all == nil {
		m.all = map[string]*result{}
	}
	if len(m.all) >= maxKept {
		maps.DeleteFunc(m.all, func(_ string, r *result) bool { return !now.Before(r.until) })
	}
	r := &result{until: now.Add(keep), done: make(chan struct{})}
	if len(m.all) < maxKept {
		m.all[key] = r
	}
	m.run(func() {
		defer close(r.done)
		if r.v, r.err = f(); r.err != nil {
			m.mu.Lock()
			if m.all[key] == r {
				delete(m.all, key)
			}
			m.mu.Unlock()
		}
	})
	return r
}

// wait returns the result once it is there.
func (r *result) wait() (any, error) {
	<-r.done
	return r.v, r.err
}
