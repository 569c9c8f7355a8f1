package fleets

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"slices"
	"strings"
	"sync"
	"time"

	"beckon/cmd/internal/cli"
	"beckon/render"
	"beckon/render/fleet"
	"beckon/render/hosts"
	"beckon/render/term"
)

// Others are the other machines that a view shows.
type Others struct {
	flags      *Flags
	app        *cli.App
	asked      []*hosts.Host // by ssh
	credential fleet.Credential
	live       *fleet.Follower // of the fleet; nil without it
}

// Others returns the machines to ask by ssh, those of --host and with --fleet the configured
// ones, and connects to the fleet, if this machine has joined one. With --fleet it is an error to
// have neither. The caller must Close them.
func (f *Flags) Others(ctx context.Context, a *cli.App) (*Others, error) {
	o := &Others{flags: f, app: a}
	specs := slices.Clone(f.Host)
	if f.Fleet {
		specs = append(specs, a.Configured().Hosts...)
	}
	for i, spec := range specs {
		if slices.Contains(specs[:i], spec) {
			continue
		}
		h, err := hosts.Open(a.Store, spec)
		if err != nil {
			return o, cli.Usage("%w", err)
		}
		o.asked = append(o.asked, h)
	}
	if !f.Fleet {
		return o, nil
	}
	acc, joined, err := credential(a)
	if err != nil || !joined {
		if err == nil && len(o.asked) == 0 {
			err = errNoFleet
		}
		return o, err
	}
	debug.SetGCPercent(50) // less memory for thousands of rows, for a little more work
	o.credential = acc
	o.live, err = fleet.Follow(ctx, acc, "beckon")
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
	var problem error
	latest := make([][]render.Row, len(o.asked)+1)
	var all sync.WaitGroup
	for i, h := range o.asked {
		all.Go(func() {
			h.Follow(ctx, func(rows []render.Row) {
				mu.Lock()
				defer mu.Unlock()
				latest[i] = o.flags.Only(rows)
				show(slices.Concat(latest...), problem)
			})
		})
	}
	if o.live != nil {
		o.follow(ctx, func(rows []render.Row, err error) {
			mu.Lock()
			defer mu.Unlock()
			latest[len(o.asked)], problem = o.flags.Only(rows), err
			show(slices.Concat(latest...), problem)
		})
	}
	all.Wait()
}

// firstView is how long a view waits for the fleet.
const firstView = 4 * time.Second

// whole reads the fleet once. With an error the rows are the stored ones.
func (o *Others) whole() ([]render.Row, []render.Host, error) {
	ctx, cancel := context.WithTimeout(context.Background(), firstView)
	defer cancel()
	err := o.live.Whole(ctx)
	if err == nil {
		rows, list, _ := o.live.Snapshot()
		keep(o.app, o.credential, render.First(rows, maxKept), list)
		return rows, list, nil
	}
	k, ok := keptOf(o.app, o.credential)
	if !ok {
		return nil, nil, err
	}
	return k.Rows, k.Hosts, fmt.Errorf("%w; shown is what it said %s ago", err, term.Age(time.Since(k.AsOf)))
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
	if k, ok := keptOf(o.app, o.credential); ok {
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
			background.Go(func() { keep(o.app, o.credential, most, list) })
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
