package tui

import (
	"cmp"
	"context"
	"sync"
	"time"

	"beckon/render"

	tea "charm.land/bubbletea/v2"
)

const askEvery = 5 * time.Second

// follow sends changes to the screen until ctx ends. All goroutines that it starts have ended
// when it returns.
func follow(ctx context.Context, opt Options, send func(tea.Msg)) {
	var all sync.WaitGroup
	defer all.Wait()
	for _, s := range opt.Sources {
		all.Go(func() { s.Follow(ctx, func(rows []render.Row, err error) { send(s.said(rows, err)) }) })
	}
	opt.Follow(ctx, func(s Snapshot, err error) { send(lookMsg{s, err}) })
}

// Follow asks the host repeatedly until ctx ends, and calls took with the results: less often
// after each failure, down to once a minute.
func (s Source) Follow(ctx context.Context, took func([]render.Row, error)) {
	every := cmp.Or(s.Every, askEvery)
	for wait := every / 2; ctx.Err() == nil; {
		rows, err := s.Rows(ctx)
		took(rows, err)
		if wait = min(2*wait, max(time.Minute, every)); err == nil || s.Many {
			wait = every
		}
		select {
		case <-ctx.Done():
		case <-time.After(wait):
		}
	}
}

func (s Source) said(rows []render.Row, err error) sourceMsg {
	return sourceMsg{name: s.Name, rows: rows, at: time.Now(), err: err, many: s.Many}
}
