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
	return slices.DeleteFunc(rows, func(r render.Row) bool {
		return !slices.ContainsFunc(f.Agent, func(name string) bool {
			return strings.EqualFold(event.Agent(name), event.Agent(r.Agent))
		})
	})
}

// Ask returns the sessions of other machines as they are now, and each machine's status. For a
// machine that cannot be asked it returns its last known rows and reports that on stderr.
func (f *Flags) Ask(a *cli.App) (rows []render.Row, status []render.Host, err error) {
	o, err := f.Others(context.Background(), a)
	if err != nil {
		return nil, nil, err
	}
	defer o.Close()
	var all sync.WaitGroup
	if o.live != nil {
		all.Go(func() {
			if rows, status, err = o.whole(); err != nil {
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
	for _, line := range hosts.NotHeard(status, time.Now()) {
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
