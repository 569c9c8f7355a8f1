package fleets

import (
	"cmp"
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
	"beckon/render/jump"
	"beckon/render/term"
)

// Flags are those of the commands that show other machines' sessions.
type Flags struct {
	Host  []string `sep:"none" placeholder:"ssh:NAME" help:"Add the sessions of another machine, asked by ssh, as ssh:build; repeat for more."`
	Fleet bool     `help:"Add the sessions of other machines: of the fleet that this one joined, and of the setting hosts."`
}

// Others are the other machines that a view shows.
type Others struct {
	app   *cli.App
	asked []*hosts.Host     // by ssh
	fleet *fleet.Credential // nil for none
}

// Others returns the machines to ask by ssh, those of --host and with --fleet the configured
// ones, and the fleet, if this machine has joined one. With --fleet it is an error to have neither.
func (f *Flags) Others(a *cli.App) (*Others, error) {
	o := &Others{app: a}
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
	switch {
	case err != nil:
		return o, err
	case joined:
		debug.SetGCPercent(50) // less memory for thousands of rows, for a little more work
		o.fleet = &acc
	case len(o.asked) == 0:
		return o, errNoFleet
	}
	return o, nil
}

// Follow calls show with the sessions of the other machines, now and whenever they change,
// until ctx ends, and with what is wrong with the fleet.
func (o *Others) Follow(ctx context.Context, show func([]render.Row, error)) {
	var mu sync.Mutex
	var problem error
	latest := make([][]render.Row, len(o.asked)+1)
	update := func(i int, rows []render.Row, err error) {
		mu.Lock()
		defer mu.Unlock()
		if latest[i] = rows; i == len(o.asked) {
			problem = err
		}
		show(slices.Concat(latest...), problem)
	}
	var all sync.WaitGroup
	for i, h := range o.asked {
		all.Go(func() { h.Follow(ctx, func(rows []render.Row) { update(i, rows, nil) }) })
	}
	if o.fleet != nil {
		all.Go(func() {
			follow(ctx, o.app, *o.fleet, func(s fleet.Shown) {
				if lines := hosts.Silent(s.Hosts, time.Now()); s.Whole && s.Err == nil && len(lines) > 0 {
					s.Err = errors.New(strings.Join(lines, "; "))
				}
				update(len(o.asked), s.Rows, s.Err)
			})
		})
	}
	all.Wait()
}

// firstView is how long a view waits for the fleet, and keepEvery how often it is stored.
const (
	firstView = 4 * time.Second
	keepEvery = 5 * time.Second
)

// follow calls show with what is stored of the fleet, then with the fleet as it is. It writes to the
// disk in the background, so that this delays no change.
func follow(ctx context.Context, a *cli.App, acc fleet.Credential, show func(fleet.Shown)) {
	var background sync.WaitGroup
	defer background.Wait()
	k, _ := keptOf(a, acc)
	show(fleet.Shown{Rows: k.Rows, Hosts: k.Hosts})
	var saved time.Time
	err := fleet.Follow(ctx, acc, func(s fleet.Shown) {
		if !s.Whole {
			s.Rows, s.Hosts = k.Rows, k.Hosts
		} else if s.Err == nil && time.Since(saved) > keepEvery {
			saved = time.Now()
			rows := a.Queue("").Arrange(s.Rows)
			now := hosts.Kept{
				Name:  keptName(acc),
				AsOf:  saved.UTC(),
				Rows:  rows[:min(len(rows), maxKept)],
				Hosts: s.Hosts[:min(len(s.Hosts), maxKept)],
			}
			background.Go(func() { now.Keep(a.Store) })
		}
		show(s)
	})
	if err != nil {
		show(fleet.Shown{Err: err})
	}
}

// Ask returns the sessions of other machines as they are now, and each machine's status. For a
// machine that cannot be asked it returns its last known rows and reports that on stderr.
func (f *Flags) Ask(a *cli.App) (rows []render.Row, status []render.Host, err error) {
	o, err := f.Others(a)
	if err != nil {
		return nil, nil, err
	}
	var all sync.WaitGroup
	if o.fleet != nil {
		all.Go(func() {
			ctx, cancel := context.WithTimeout(context.Background(), firstView)
			defer cancel()
			var is fleet.Shown
			follow(ctx, a, *o.fleet, func(s fleet.Shown) {
				if is = s; s.Whole {
					cancel()
				}
			})
			if rows, status = is.Rows, is.Hosts; is.Whole {
				return
			}
			why, age := cmp.Or(is.Err, fmt.Errorf("no answer of %s", o.fleet.URL)), ""
			if k, ok := keptOf(a, *o.fleet); ok {
				age = "; shown is what it said " + term.Age(time.Since(k.AsOf)) + " ago"
			}
			fmt.Fprintf(a.Stderr, "beckon: the fleet: %v%s\n", why, age)
		})
	}
	for _, h := range o.asked {
		all.Go(func() { h.Ask(context.Background()) })
	}
	all.Wait()
	for _, h := range o.asked {
		asked, is := h.Last()
		rows, status = append(rows, asked...), append(status, is)
	}
	for _, line := range hosts.Silent(status, time.Now()) {
		fmt.Fprintf(a.Stderr, "beckon: %s\n", line)
	}
	return rows, status, nil
}

// maxKept limits what is stored for prompts, and for lists while the hub is away: the rows that need
// somebody most.
const maxKept = 1000

func keptName(acc fleet.Credential) string { return "fleet:" + acc.URL + " " + acc.User }

// keptOf returns what was stored, with its rows marked as stale.
func keptOf(a *cli.App, acc fleet.Credential) (hosts.Kept, bool) {
	now := time.Now()
	k, ok := hosts.KeptOf(a.Store, keptName(acc), fleet.Keep, now)
	k.Rows = slices.DeleteFunc(k.Rows, func(r render.Row) bool { return r.Remote == nil }) // none was written
	for i := range k.Rows {
		r := k.Rows[i].Remote
		r.Stale = r.Stale || now.Sub(r.AsOf) > fleet.Lost+fleet.Beat
	}
	return k, ok
}

// Known returns the stored rows of other machines without asking anyone; beckon fleet link, or a
// watch, stores them. It leaves out sessions of silent machines, since a prompt has no room to
// say so.
func Known(a *cli.App) []render.Row {
	acc, ok, err := credential(a)
	if err != nil {
		a.Store.Log(fmt.Errorf("fleet: %w", err))
	}
	if !ok {
		return nil
	}
	k, _ := keptOf(a, acc)
	return slices.DeleteFunc(k.Rows, func(r render.Row) bool { return r.Remote.Stale || !r.State.Live() })
}

// Jumper returns a Jumper that knows the machines of the configuration, and the ways to them.
func Jumper(a *cli.App) *jump.Jumper {
	j := jump.New(a.Getenv)
	for _, s := range a.Configured().JumpBy {
		if w, err := jump.ParseWay(s); err == nil { // Load has checked it
			j.Ways = append(j.Ways, w)
		}
	}
	for _, spec := range a.Configured().Hosts {
		j.Hosts = append(j.Hosts, strings.TrimPrefix(spec, "ssh:"))
	}
	return j
}

// Find returns the session of another machine that arg names, as HOST:NAME or NAME: by the
// beginning of its id, its name, its project or its branch.
func Find(a *cli.App, arg string) (render.Row, error) {
	rows, _, err := (&Flags{Fleet: true}).Ask(a)
	if err != nil {
		return render.Row{}, err
	}
	rows = a.Queue("").Arrange(rows)
	host, name, ok := strings.Cut(arg, ":")
	if !ok {
		host, name = "", arg
	}
	fits := slices.DeleteFunc(rows, func(row render.Row) bool {
		named := strings.HasPrefix(row.Record(), name) ||
			strings.EqualFold(row.Name, name) ||
			strings.EqualFold(row.Project, name) ||
			row.Git != nil && strings.EqualFold(row.Git.Branch, name)
		return name == "" || !named || host != "" && row.Remote.Name != host
	})
	switch len(fits) {
	case 1:
		return fits[0], nil
	case 0:
		return render.Row{}, cli.Hint("beckon list --fleet shows them",
			"session %q on another machine: %w", arg, cli.ErrNotFound)
	}
	var list []string
	for _, row := range fits[:min(len(fits), 5)] {
		list = append(list, row.Remote.Name+":"+cli.ShortID(row.Record()))
	}
	return render.Row{}, cli.NotFound("give one as HOST:ID",
		"session %q fits %d sessions (%s)", arg, len(fits), strings.Join(list, ", "))
}
