package feed

import (
	"context"
	"sync"
	"sync/atomic"
	"time"

	"beckon/event"
	"beckon/state"
	"beckon/state/history"
)

// The modes of Timing.Hybrid: where events come from.
const (
	ModeHooks   = "hooks_active"
	ModePolling = "polling_fallback"
)

// Hybrid returns how often transcripts are compared with what hooks reported: occasionally
// while hooks arrive, often when they have been silent for longer than t.Silence. last is the
// newest event, zero for none.
func (t Timing) Hybrid(last event.Millis, now time.Time) (mode string, every time.Duration) {
	if last != 0 && now.Sub(last.Time()) <= t.Silence {
		return ModeHooks, t.Hooks
	}
	return ModePolling, t.Silent
}

// sweeper reads transcripts on the hybrid schedule.
type sweeper struct {
	last atomic.Int64 // when it last started, Unix ms
	runs atomic.Int64
	busy atomic.Bool

	transcripts *history.Sweeper // of the present sweep
}

// spoken is how long after a session's newest event its transcript is read at every look: what
// the agent says before a call is written about when the call's first hook runs, or a moment
// later.
const spoken = 3 * time.Second

// sweepIfDue reads all transcripts when that is due, concurrently with the board; otherwise
// those of sessions with a recent event. It does not start a sweep while another runs.
func (b *board) sweepIfDue(ctx context.Context, work *sync.WaitGroup) {
	now := time.Now()
	last, _ := b.o.Meter.Newest()
	_, every := b.o.Timing.Hybrid(last, now)
	due := now.Sub(time.UnixMilli(b.sweep.last.Load())) >= every
	if !b.sweep.busy.CompareAndSwap(false, true) {
		return
	}
	sweep := b.sweep.transcripts.Some
	if due {
		b.sweep.last.Store(now.UnixMilli())
		b.sweep.runs.Add(1)
		sweep = b.sweep.transcripts.Sweep
	}
	sessions := make([]state.Session, 0, len(b.cards))
	for _, c := range b.cards {
		if s := &c.seen.Session; due || now.Sub(s.Last.At.Time()) < spoken {
			sessions = append(sessions, *s)
		}
	}
	if len(sessions) == 0 && !due {
		b.sweep.busy.Store(false)
		return
	}
	work.Go(func() {
		defer b.sweep.busy.Store(false)
		if err := sweep(ctx, sessions); err != nil {
			b.o.Log(err)
		}
	})
}
