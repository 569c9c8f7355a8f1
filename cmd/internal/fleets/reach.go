package fleets

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"beckon/cmd/internal/cli"
	"beckon/render"
	"beckon/render/fleet/bus"
	"beckon/render/fleet/ctl"
)

// Reached is the connection to the fleet of a command that acts on its sessions.
type Reached struct {
	Client *ctl.Client // nil if it only reads
	Rows   []render.Row
	Close  func() // ends the connection
}

// Reach connects to the fleet, to answer or only to read.
func Reach(a *cli.App, answer bool) (*Reached, error) {
	acc, err := mustAccess(a)
	if err != nil {
		return nil, err
	}
	if answer && acc.JWT != "" && !acc.Answer {
		return nil, ctl.ErrMayNot
	}
	f, err := bus.Follow(context.Background(), acc, "beckon answer")
	if err != nil {
		return nil, err
	}
	r := &Reached{Close: f.Close}
	if answer {
		r.Client, err = f.Client()
	}
	if err == nil {
		whole, stop := context.WithTimeout(context.Background(), firstView)
		defer stop()
		err = f.Whole(whole)
	}
	if err != nil {
		r.Close()
		return nil, fmt.Errorf("the fleet: %w", err)
	}
	r.Rows, _, _ = f.Snapshot()
	render.Sort(r.Rows)
	return r, nil
}

// Find returns the session of another machine that arg names, as HOST:NAME or NAME: by the
// beginning of its id, its name, its project or its branch.
func (r *Reached) Find(arg string) (render.Row, error) {
	host, name, ok := strings.Cut(arg, ":")
	if !ok {
		host, name = "", arg
	}
	fits := slices.DeleteFunc(slices.Clone(r.Rows), func(row render.Row) bool {
		named := strings.HasPrefix(row.Record(), name) || strings.EqualFold(row.Name, name) || strings.EqualFold(row.Project, name) ||
			row.Git != nil && strings.EqualFold(row.Git.Branch, name)
		return name == "" || !named || host != "" && row.Remote.Name != host
	})
	switch len(fits) {
	case 1:
		return fits[0], nil
	case 0:
		return render.Row{}, cli.Hint("beckon list --fleet shows them", "session %q on another machine: %w", arg, cli.ErrNotFound)
	}
	var list []string
	for _, row := range fits[:min(len(fits), 5)] {
		list = append(list, row.Remote.Name+":"+cli.ShortID(row.Record()))
	}
	return render.Row{}, cli.NotFound("give one as HOST:ID", "session %q fits %d sessions (%s)", arg, len(fits), strings.Join(list, ", "))
}

// Label returns the name that people use for a session of another machine.
func Label(r *render.Row) string {
	return r.Remote.Name + ": " + cmp.Or(r.Label(), cli.ShortID(r.SessionID))
}
