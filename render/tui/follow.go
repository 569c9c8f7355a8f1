package tui

import (
	"cmp"
	"context"
	"sync"
	"time"

	tea "charm.land/bubbletea/v2"
)

const askEvery = 5 * time.Second

// follow sends what is new to the screen until ctx ends. All goroutines it
// starts have ended by then.
func follow(ctx context.Context, opt Options, send func(tea.Msg)) {
	var all sync.WaitGroup
	defer all.Wait()
	for _, s := range opt.Sources {
		all.Go(func() { followSource(ctx, s, send) })
	}
	opt.Follow(ctx, func(s Snapshot, err error) { send(lookMsg{s, err}) })
}

func followSource(ctx context.Context, s Source, send func(tea.Msg)) {
	wait := Backoff{Every: s.Every}
	for {
		msg := askSource(ctx, s)
		send(msg)
		select {
		case <-ctx.Done():
			return
		case <-time.After(wait.Next(msg.err != nil && !s.Many)):
		}
	}
}

// Backoff is how long to wait before a host is asked again: longer after every
// time that it did not answer, up to a minute.
type Backoff struct {
	Every time.Duration // after an answer; 0 means 5 s
	now   time.Duration
}

// Next returns the time to wait.
func (b *Backoff) Next(failed bool) time.Duration {
	every := cmp.Or(b.Every, askEvery)
	if !failed || b.now < every {
		b.now = every
		return every
	}
	b.now = min(2*b.now, max(time.Minute, every))
	return b.now
}

func askSource(ctx context.Context, s Source) sourceMsg {
	rows, err := s.Rows(ctx)
	return sourceMsg{name: s.Name, rows: rows, at: time.Now(), err: err, many: s.Many}
}
