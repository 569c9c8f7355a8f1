package web

import (
	"maps"
	"sync"
	"time"
)

// memo keeps results for a while, by key: of those who ask the same at once or again, the first has
// it computed.
type memo struct {
	mu  sync.Mutex
	all map[string]kept
}

type kept struct {
	until time.Time
	get   func() (any, error)
}

// maxKept is how many results are kept; further ones are not.
const maxKept = 1024

// get returns the result for key, which f computes if there is none. An error is not kept.
func (m *memo) get(key string, keep time.Duration, f func() (any, error)) (any, error) {
	now := time.Now()
	m.mu.Lock()
	if m.all == nil {
		m.all = map[string]kept{}
	}
	maps.DeleteFunc(m.all, func(_ string, k kept) bool { return now.After(k.until) })
	k, is := m.all[key]
	if !is {
		k = kept{now.Add(keep), sync.OnceValues(f)}
		if len(m.all) < maxKept {
			m.all[key] = k
		}
	}
	m.mu.Unlock()
	v, err := k.get()
	if err != nil {
		m.mu.Lock()
		defer m.mu.Unlock()
		if m.all[key].until.Equal(k.until) {
			delete(m.all, key)
		}
	}
	return v, err
}
