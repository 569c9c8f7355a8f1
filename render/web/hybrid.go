package web

import (
	"context"
	"sync"
	"sync/atomic"
	"time"

	"beckon/event"
	"beckon/state"
	"beckon/state/history"
)

// The modes of row B9.
const (
	modeHooks   = "hooks_active"
	modePolling = "polling_fallback"
)

// hybrid says how often transcripts are reconciled with what hooks told: now
// and then while hooks speak, often when they have been silent for longer than
// t.Silence. last is the newest event, zero for none.
func (t Timing) hybrid(last event.Millis, now time.Time) (mode string, every time.Duration) {
	if last != 0 && now.Sub(millis(last)) <= t.Silence {
		return modeHooks, t.Hooks
	}
	return modePolling, t.Silent
}

// sweeper reconciles on the hybrid schedule.
type sweeper struct {
	last atomic.Int64 // when it last began, Unix ms
	runs atomic.Int64
	busy atomic.Bool

	transcripts *history.Sweeper // of the sweep under way
}

// sweepIfDue reads every session's file again, and the transcripts beside the
// board. A sweep that takes longer than its interval is not begun twice.
func (b *board) sweepIfDue(ctx context.Context, work *sync.WaitGroup) {
	now := time.Now()
	_, every := b.o.Timing.hybrid(b.meter.lastAt(), now)
	if now.Sub(time.UnixMilli(b.sweep.last.Load())) < every || !b.sweep.busy.CompareAndSwap(false, true) {
		return
	}
	b.sweep.last.Store(now.UnixMilli())
	b.sweep.runs.Add(1)
	b.reload()
	sessions := make([]state.Session, 0, len(b.cards))
	for _, c := range b.cards {
		sessions = append(sessions, c.seen.Session)
	}
	work.Go(func() {
		defer b.sweep.busy.Store(false)
		b.o.Sweep(ctx, sessions)
	})
}

// reload reads every session's file again, whatever its journal's length says.
func (b *board) reload() {
	for k, c := range b.cards {
		if s, ok := b.read(k); ok && s.Seq != c.seen.Session.Seq {
			b.take(k, s, c.place)
		}
	}
}

// sweepTranscripts brings into the journals what transcripts tell that was said
// on the way (row B8).
func (b *board) sweepTranscripts(ctx context.Context, sessions []state.Session) {
	if err := b.sweep.transcripts.Sweep(ctx, sessions); err != nil {
		b.o.Log(err)
	}
}
