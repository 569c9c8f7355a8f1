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
	"beckon/event"
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
	Agent []string `placeholder:"AGENT" help:"Only sessions of these agents, separated by commas, as claude-code,codex."`
}

// Only drops the rows that the flags exclude.
func (f *Flags) Only(rows []render.Row) []render.Row {
	if len(f.Agent) == 0 {
		return rows
	}
	return slices.DeleteFunc(slices.Clone(rows), func(r render.Row) bool {
		return !slices.ContainsFunc(f.Agent, func(name string) bool {
			return strings.EqualFold(event.Agent(name), event.Agent(r.Agent))
		})
	})
}

// Others are the other machines that a view shows.
type Others struct {
	flags *Flags
	app   *cli.App
	asked []*hosts.Host     // by ssh
	fleet *fleet.Credential // nil for none
}

// Others returns the machines to ask by ssh, those of --host and with --fleet the configured
// ones, and the fleet, if this machine has joined one. With --fleet it is an error to have neither.
func (f *Flags) Others(a *cli.App) (*Others, error) {
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
		if latest[i] = o.flags.Only(rows); i == len(o.asked) {
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
			follow(ctx, o.app, *o.fleet, func(rows []render.Row, err error) { update(len(o.asked), rows, err) })
		})
	}
	all.Wait()
}

// firstView is how long a view waits for the fleet, and keepEvery how often it is stored.
const (
	firstView = 4 * time.Second
	keepEvery = 5 * time.Second
)

// follow calls show with the stored rows of the fleet, then with the current ones. It writes
// to the disk in the background, so that this delays no change.
func follow(ctx context.Context, a *cli.App, acc fleet.Credential, show func([]render.Row, error)) {
	var background sync.WaitGroup
	defer background.Wait()
	k, _ := keptOf(a, acc)
	show(k.Rows, nil)
	var saved time.Time
	err := fleet.Follow(ctx, acc, "beckon", func(s fleet.Shown) {
		if !s.Whole {
			s.Rows = k.Rows
		}
		if s.Whole && s.Err == nil && time.Since(saved) > keepEvery {
			saved = time.Now()
			most := render.First(s.Rows, maxKept)
			background.Go(func() { keep(a, acc, most, s.Hosts) })
		}
		if lines := hosts.Silent(s.Hosts, time.Now()); s.Err == nil && len(lines) > 0 {
			s.Err = errors.New(strings.Join(lines, "; "))
		}
		show(s.Rows, s.Err)
	})
	if err != nil {
		show(nil, err)
	}
}

// once reads the fleet once. With an error the rows are the stored ones.
func once(a *cli.App, acc fleet.Credential) ([]render.Row, []render.Host, error) {
	ctx, cancel := context.WithTimeout(context.Background(), firstView)
	defer cancel()
	shown := fleet.Shown{Err: fmt.Errorf("no answer of %s", acc.URL)}
	err := fleet.Follow(ctx, acc, "beckon", func(s fleet.Shown) {
		if s.Whole || s.Err != nil {
			shown = s
		}
		if s.Whole {
			cancel()
		}
	})
	if shown.Whole && err == nil {
		keep(a, acc, render.First(shown.Rows, maxKept), shown.Hosts)
		return shown.Rows, shown.Hosts, nil
	}
	err = cmp.Or(err, shown.Err)
	k, ok := keptOf(a, acc)
	if ok {
		err = fmt.Errorf("%w; shown is what it said %s ago", err, term.Age(time.Since(k.AsOf)))
	}
	return k.Rows, k.Hosts, err
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
			var err error
			if rows, status, err = once(a, *o.fleet); err != nil {
				fmt.Fprintf(a.Stderr, "beckon: the fleet: %v\n", err)
			}
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

// maxKept limits the stored rows: those that need somebody most.
const maxKept = 1000

func keptName(acc fleet.Credential) string { return "fleet:" + acc.URL + " " + acc.User }

// keep stores the first rows of a view for prompts, and for lists while the hub is away.
func keep(a *cli.App, acc fleet.Credential, first []render.Row, list []render.Host) {
	k := hosts.Kept{Name: keptName(acc), AsOf: time.Now().UTC(), Rows: first, Hosts: list[:min(len(list), maxKept)]}
	k.Keep(a.Store)
}

// keptOf returns what was stored, with its rows marked as stale.
func keptOf(a *cli.App, acc fleet.Credential) (hosts.Kept, bool) {
	now := time.Now()
	k, ok := hosts.KeptOf(a.Store, keptName(acc), fleet.Keep, now)
	k.Rows = slices.DeleteFunc(k.Rows, func(r render.Row) bool { return r.Remote == nil }) // keep wrote none
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
