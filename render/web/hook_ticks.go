package web

import (
	"hash/maphash"
	"sync/atomic"
	"time"

	"beckon/event"
)

// ticks gives events and actions their times. Two of one session in the same millisecond would
// have no order, and posts can be that close: the second waits for the next millisecond.
// Sessions share 256 slots, so that memory does not grow with them.
type ticks struct {
	seed  maphash.Seed
	slots [256]atomic.Int64 // the newest time given, Unix ms
}

func newTicks() *ticks { return &ticks{seed: maphash.MakeSeed()} }

// stepBack is how far the clock may have been set back for the next time to be waited for, in
// milliseconds.
const stepBack = 10

// next returns the time of an event of the session that has just arrived.
func (t *ticks) next(session string) event.Millis {
	slot := &t.slots[maphash.String(t.seed, session)%uint64(len(t.slots))]
	for {
		now, last := time.Now().UnixMilli(), slot.Load()
		if (now > last || last-now > stepBack) && slot.CompareAndSwap(last, now) {
			return event.Millis(now)
		}
		time.Sleep(time.Millisecond / 4)
	}
}
