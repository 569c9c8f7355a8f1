package web

import (
	"context"
	"sync/atomic"
	"time"
)

const (
	// maxDeciding and maxNoting are how many events a policy handles at once: each may run
	// commands.
	maxDeciding = 32
	maxNoting   = 16
	// maxWaiting is how many more of each may wait, with a body of smallBody each, and
	// policyWait how long: a policy has 25 s, and the answer must be out before writeTimeout.
	maxWaiting = 32
	policyWait = 4 * time.Second
)

// desk limits how many events a policy handles at once.
type desk struct {
	slots   chan struct{}
	waiting atomic.Int32
}

func newDesk(slots int) *desk { return &desk{slots: make(chan struct{}, slots)} }

// enter waits until there is room for one more event. The number of waiters is limited,
// because each holds its body. leave must be called in any case.
func (d *desk) enter(ctx context.Context) (leave func(), err error) {
	nothing, away := func() {}, func() { <-d.slots }
	select {
	case d.slots <- struct{}{}:
		return away, nil
	default:
	}
	defer d.waiting.Add(-1)
	if d.waiting.Add(1) > maxWaiting {
		return nothing, errBusy
	}
	late := time.NewTimer(policyWait)
	defer late.Stop()
	select {
	case d.slots <- struct{}{}:
		return away, nil
	case <-late.C:
		return nothing, errBusy
	case <-ctx.Done():
		return nothing, ctx.Err()
	}
}
