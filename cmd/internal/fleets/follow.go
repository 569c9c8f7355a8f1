package fleets

import (
	"context"
	"errors"
	"runtime/debug"
	"slices"
	"strings"
	"sync"
	"time"

	"beckon/cmd/internal/cli"
	"beckon/render"
	"beckon/render/fleet"
	"beckon/render/hosts"
)

// Others are the other machines that a screen or a page follows.
type Others struct {
	flags  *Flags
	app    *cli.App
	asked  []*hosts.Host // by ssh
	access fleet.Access
	live   *fleet.Follower // of the fleet; nil without it
}

// Others connects to the other machines; the caller must Close them.
func (f *Flags) Others(ctx context.Context, a *cli.App) (*Others, error) {
	list, acc, joined, err := f.where(a)
	o := &Others{flags: f, app: a, asked: list, access: acc}
	if err != nil || !joined {
		return o, err
	}
	debug.SetGCPercent(50) // less memory for thousands of rows, for a little more work
	o.live, err = fleet.Follow(ctx, acc, "beckon watch")
	return o, err
}

// Close ends the connection.
func (o *Others) Close() {
	if o.live != nil {
		o.live.Close()
	}
}

// Follow calls show with the sessions of the other machines, now and whenever they change,
// until ctx ends, and with what is wrong with the fleet.
func (o *Others) Follow(ctx context.Context, show func([]render.Row, error)) {
	var mu sync.Mutex
	var trouble error
	latest := make([][]render.Row, len(o.asked)+1)
	var all sync.WaitGroup
	for i, h := range o.asked {
		all.Go(func() {
			h.Follow(ctx, func(rows []render.Row) {
				mu.Lock()
				defer mu.Unlock()
				latest[i] = o.flags.Only(o.app, rows)
				show(slices.Concat(latest...), trouble)
			})
		})
	}
	if o.live != nil {
		o.follow(ctx, func(rows []render.Row, err error) {
			mu.Lock()
			defer mu.Unlock()
			latest[len(o.asked)], trouble = o.flags.Only(o.app, rows), err
			show(slices.Concat(latest...), trouble)
		})
	}
	all.Wait()
}

// The times between two looks at the fleet: at least screenPause, since changes come in
// bursts, and at most look.
const (
	screenPause = 100 * time.Millisecond
	look        = 5 * time.Second
)

// follow calls show with the stored rows of the fleet, then with the current ones. It writes
// to the disk in the background, so that this delays no change.
func (o *Others) follow(ctx context.Context, show func([]render.Row, error)) {
	var background sync.WaitGroup
	defer background.Wait()
	if k, ok := keptOf(o.app, o.access); ok {
		show(k.Rows, nil)
	}
	first, cancel := context.WithTimeout(ctx, firstView)
	_ = o.live.Whole(first) // Snapshot returns the error
	cancel()
	var saved time.Time
	for ctx.Err() == nil {
		changed := o.live.Changed()
		rows, list, err := o.live.Snapshot()
		if err == nil && time.Since(saved) > look {
			saved = time.Now()
			most := render.First(rows, maxKept)
			background.Go(func() { keep(o.app, o.access, most, list) })
		}
		if err == nil {
			if lines := hosts.NotHeard(list, time.Now()); len(lines) > 0 {
				err = errors.New(strings.Join(lines, "; "))
			}
		}
		show(rows, err)
		select {
		case <-ctx.Done():
			return
		case <-time.After(screenPause):
		}
		select {
		case <-ctx.Done():
		case <-changed:
		case <-time.After(look):
		}
	}
}
