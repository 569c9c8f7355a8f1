package web

import (
	"crypto/sha256"
	"fmt"
	"sync"
	"time"
)

const (
	// askedFor is how long an answer is kept for a client that asks again.
	askedFor = time.Minute
	// maxAsked is how many answers are kept; further ones are not.
	maxAsked = 1024
)

// asked keeps the answers to the newest questions. A client that timed out and asks again,
// with the same bytes and from as near, gets the first answer: no command runs twice for one
// event. The owner's answer, which may depend on their projects' policies, is not given to
// anyone else.
type asked struct {
	mu  sync.Mutex
	all map[[sha256.Size]byte]*asking
}

// asking is one question, answered when done is closed.
type asking struct {
	at     time.Time
	done   chan struct{}
	answer []byte
	err    error
}

// askedKey hashes everything that the answer to a question depends on.
func askedKey(q Question) [sha256.Size]byte {
	head := fmt.Sprintf("%q %q %d %t %t ", q.Agent, q.Event, q.Hops, q.Foreign, q.Asks)
	body := sha256.Sum256(q.Body)
	return sha256.Sum256(append([]byte(head), body[:]...))
}

// join returns the question for a key, and whether it is new.
func (a *asked) join(key [sha256.Size]byte, now time.Time) (q *asking, first bool) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if q := a.all[key]; q != nil && now.Sub(q.at) < askedFor {
		return q, false
	}
	if len(a.all) >= maxAsked {
		for k, q := range a.all {
			if now.Sub(q.at) >= askedFor {
				delete(a.all, k)
			}
		}
	}
	q = &asking{at: now, done: make(chan struct{})}
	if len(a.all) < maxAsked {
		a.all[key] = q
	}
	return q, true
}

// forget allows a question that could not be answered to be asked again.
func (a *asked) forget(key [sha256.Size]byte) {
	a.mu.Lock()
	delete(a.all, key)
	a.mu.Unlock()
}
