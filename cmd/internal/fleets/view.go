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

// Others are the other machines that a view shows: a function for each that is asked by ssh, and one for
// the fleet, which call show as Follow does.
type Others []func(ctx context.Context, show func(fleet.Shown))

// Others returns the machines to ask by ssh, those of --host and with --fleet the configured
// ones, and the fleet, if this machine has joined one. With --fleet it is an error to have neither.
func (f *Flags) Others(a *cli.App) (o Others, err error) {
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
		o = append(o, func(ctx context.Context, show func(fleet.Shown)) {
			h.Follow(ctx, func(rows []render.Row, is render.Host, asked bool) {
				show(fleet.Shown{Rows: rows, Hosts: []render.Host{is}, Whole: asked})
			})
		})
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
		o = append(o, func(ctx context.Context, show func(fleet.Shown)) { follow(ctx, a, acc, show) })
	case len(o) == 0:
		return o, errNoFleet
	}
	return o, nil
}

// Follow calls show with the sessions of the other machines, now and whenever they change,
// until ctx ends, and with what is wrong with them.
func (o Others) Follow(ctx context.Context, show func([]render.Row, error)) {
	var mu sync.Mutex
	rows, problems := make([][]render.Row, len(o)), make([]error, len(o))
	var all sync.WaitGroup
	for i, each := range o {
		all.Go(func() {
			each(ctx, func(s fleet.Shown) {
				if lines := hosts.Silent(s.Hosts, time.Now()); s.Whole && s.Err == nil && len(lines) > 0 {
					s.Err = errors.New(strings.Join(lines, "; "))
				}
				mu.Lock()
				defer mu.Unlock()
				rows[i], problems[i] = s.Rows, s.Err
				show(slices.Concat(rows...), cmp.Or(problems...))
			})
		})
	}
	all.Wait()
}

// firstView is how long a view waits for other machines, and keepEvery how often those of the fleet are stored.
const (
	firstView = 5 * time.Second
	keepEvery = 5 * time.Second
)

// follow calls show with what is stored of the fleet, then with the fleet as it is. It writes to the
// disk in the background, so that this delays no change.
func follow(ctx context.Context, a *cli.App, acc fleet.Credential, show func(fleet.Shown)) {
	var background sync.WaitGroup
	defer background.Wait()
	k, known := keptOf(a, acc)
	early := func(err error) {
		if err != nil && known {
			err = fmt.Errorf("%w; shown is what it said %s ago", err, term.Age(time.Since(k.AsOf)))
		}
		show(fleet.Shown{Rows: k.Rows, Hosts: k.Hosts, Err: err})
	}
	early(nil)
	var saved time.Time
	err := fleet.Follow(ctx, acc, func(s fleet.Shown) {
		if !s.Whole {
			early(s.Err)
			return
		}
		if s.Err == nil && time.Since(saved) > keepEvery {
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
		early(err)
	}
}

var errSlow = errors.New("not all of it has arrived yet")

// Ask returns the sessions of other machines as they are now, and each machine's status. For a
// machine that cannot be asked it returns its last known rows and reports that on stderr.
func (f *Flags) Ask(a *cli.App) (rows []render.Row, status []render.Host, err error) {
	o, err := f.Others(a)
	if err != nil {
		return nil, nil, err
	}
	shown := make([]fleet.Shown, len(o))
	var all sync.WaitGroup
	for i, each := range o {
		all.Go(func() {
			ctx, cancel := context.WithTimeout(context.Background(), firstView)
			defer cancel()
			each(ctx, func(s fleet.Shown) {
				if shown[i] = s; s.Whole {
					cancel()
				}
			})
		})
	}
	all.Wait()
	for _, s := range shown {
		rows, status = append(rows, s.Rows...), append(status, s.Hosts...)
		if !s.Whole {
			fmt.Fprintf(a.Stderr, "beckon: the fleet: %v\n", cmp.Or(s.Err, errSlow))
		}
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
