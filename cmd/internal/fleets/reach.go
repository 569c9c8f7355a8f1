package fleets

import (
	"slices"
	"strings"

	"beckon/cmd/internal/cli"
	"beckon/render"
	"beckon/render/jump"
)

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
