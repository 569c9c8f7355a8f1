package tui

import (
	"context"
	"sync"
	"time"

	"beckon/render"

	tea "charm.land/bubbletea/v2"
)

// askEvery is how often another host is asked.
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

// followSource asks one host again and again.
func followSource(ctx context.Context, s Source, send func(tea.Msg)) {
	every := s.Every
	if every <= 0 {
		every = askEvery
	}
	for {
		send(askSource(ctx, s))
		select {
		case <-ctx.Done():
			return
		case <-time.After(every):
		}
	}
}

func askSource(ctx context.Context, s Source) sourceMsg {
	rows, err := s.Rows(ctx)
	return sourceMsg{name: s.Name, rows: append([]render.Row(nil), rows...), at: time.Now(), err: err}
}
