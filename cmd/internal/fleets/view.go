package fleets

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"beckon/cmd/internal/cli"
	"beckon/event"
	"beckon/render"
	"beckon/render/fleet"
	"beckon/render/hosts"
	"beckon/render/term"
)

// Flags are those of the commands that show other machines' sessions.
type Flags struct {
	Host  []string `sep:"none" placeholder:"ssh:NAME" help:"Add the sessions of another machine, asked by ssh, as ssh:build; repeat for more."`
	Fleet bool     `help:"Add the sessions of other machines: of the fleet that this one joined, and of the setting hosts."`
	On    []string `placeholder:"HOST" help:"Only sessions of these machines, separated by commas."`
	User  []string `placeholder:"USER" help:"Only sessions of these users, separated by commas."`
	Agent []string `placeholder:"AGENT" help:"Only sessions of these agents, separated by commas, as claude-code,codex."`
}

// Only drops the rows that the flags exclude. Rows of this machine belong to its user.
func (f *Flags) Only(a *cli.App, rows []render.Row) []render.Row {
	if len(f.On)+len(f.User)+len(f.Agent) == 0 {
		return rows
	}
	fits := func(want []string, have string) bool {
		return len(want) == 0 || slices.ContainsFunc(want, func(w string) bool { return strings.EqualFold(w, have) })
	}
	names := make([]string, len(f.Agent))
	for i, name := range f.Agent {
		names[i] = event.Agent(name)
	}
	return slices.DeleteFunc(rows, func(r render.Row) bool {
		host, user := r.Host, a.User()
		if r.Remote != nil {
			host, user = r.Remote.Name, r.Remote.User
		}
		return !fits(f.On, host) || !fits(f.User, user) || !fits(names, event.Agent(r.Agent))
	})
}

// where returns the machines to ask by ssh and, with --fleet, the access to the fleet, if this
// machine has one. With --fleet it is an error to have neither.
func (f *Flags) where(a *cli.App) (list []*hosts.Host, acc fleet.Access, joined bool, err error) {
	if list, err = f.asked(a); err != nil || !f.Fleet {
		return list, acc, false, err
	}
	acc, joined, err = access(a)
	if err == nil && !joined && len(list) == 0 {
		err = errNoFleet
	}
	return list, acc, joined, err
}

// asked returns the machines to ask by ssh: those of --host, and with --fleet the configured
// ones.
func (f *Flags) asked(a *cli.App) (list []*hosts.Host, err error) {
	specs := f.Host
	if f.Fleet {
		specs = append(slices.Clone(specs), a.Configured().Hosts...)
	}
	for i, spec := range specs {
		if slices.Contains(specs[:i], spec) {
			continue
		}
		h, err := hosts.Open(a.Store, spec)
		if err != nil {
			return nil, cli.Usage("%w", err)
		}
		list = append(list, h)
	}
	return list, nil
}

// Ask returns the sessions of other machines as they are now, and each machine's status. For a
// machine that cannot be asked it returns its last known rows and reports that on stderr.
func (f *Flags) Ask(a *cli.App) ([]render.Row, []render.Host, error) {
	list, acc, joined, err := f.where(a)
	if err != nil {
		return nil, nil, err
	}
	var rows []render.Row
	var status []render.Host
	var all sync.WaitGroup
	if joined {
		all.Go(func() {
			if rows, status, err = read(a, acc); err != nil {
				fmt.Fprintf(a.Stderr, "beckon: the fleet: %v\n", err)
			}
		})
	}
	for _, h := range list {
		all.Go(func() { h.Ask(context.Background()) })
	}
	all.Wait()
	for _, h := range list {
		asked, is := h.Last()
		rows, status = append(rows, asked...), append(status, is)
	}
	for _, line := range hosts.NotHeard(status, time.Now()) {
		fmt.Fprintf(a.Stderr, "beckon: %s\n", line)
	}
	return rows, status, nil
}

// firstView is how long a list waits for the fleet.
const firstView = 4 * time.Second

// read reads the fleet once. With an error the rows are the stored ones.
func read(a *cli.App, acc fleet.Access) ([]render.Row, []render.Host, error) {
	ctx, cancel := context.WithTimeout(context.Background(), firstView)
	defer cancel()
	f, err := fleet.Follow(ctx, acc, "beckon list")
	if err == nil {
		defer f.Close()
		if err = f.Whole(ctx); err == nil {
			rows, list, _ := f.Snapshot()
			keep(a, acc, render.First(rows, maxKept), list)
			return rows, list, nil
		}
	}
	k, ok := keptOf(a, acc)
	if !ok {
		return nil, nil, err
	}
	return k.Rows, k.Hosts, fmt.Errorf("%w; shown is what it said %s ago", err, term.Age(time.Since(k.AsOf)))
}

// maxKept limits the stored rows: those that need somebody most.
const maxKept = 1000

func keptName(acc fleet.Access) string { return "fleet:" + acc.URL + " " + acc.User }

// keep stores the first rows of a view for prompts, and for lists while the hub is away.
func keep(a *cli.App, acc fleet.Access, first []render.Row, list []render.Host) {
	hosts.Kept{Name: keptName(acc), AsOf: time.Now().UTC(), Rows: first, Hosts: list[:min(len(list), maxKept)]}.Keep(a.Store)
}

// keptOf returns what was stored, with its rows marked as stale.
func keptOf(a *cli.App, acc fleet.Access) (hosts.Kept, bool) {
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
	acc, ok, err := access(a)
	if err != nil {
		a.Store.Log(fmt.Errorf("fleet: %w", err))
	}
	if !ok {
		return nil
	}
	k, _ := keptOf(a, acc)
	return slices.DeleteFunc(k.Rows, func(r render.Row) bool { return r.Remote.Stale || !r.State.Live() })
}
