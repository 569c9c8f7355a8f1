package cli

import (
	"fmt"
	"slices"
	"strings"

	"beckon/render"
	"beckon/state"
)

// Find returns the session that arg names: by its id, its seat, its name, a unique beginning
// of its id, or the project or branch that only one live session works in. For a name, project
// or branch, a beginning or a part that no other live session shares is enough.
func (a *App) Find(arg string) (state.Seen, error) {
	seen, _, err := a.Look(true)
	if err != nil {
		return state.Seen{}, err
	}
	var exact, fits []state.Seen
	for _, v := range seen {
		s := &v.Session
		if s.ID == arg || s.Record() == arg {
			exact = append(exact, v)
		}
		if arg != "" && (strings.HasPrefix(s.Record(), arg) || s.Seat == arg) {
			fits = append(fits, v)
		}
	}
	if len(exact) > 0 {
		return a.oneProcess(exact), nil
	}
	named := func(r *render.Row, _ string) bool { return arg != "" && strings.EqualFold(r.Name, arg) }
	if called := fitting(seen, named); len(called) == 1 {
		return called[0], nil
	}
	if len(fits) == 0 {
		return a.findNamed(seen, arg)
	}
	if !slices.ContainsFunc(fits, func(v state.Seen) bool { return v.Session.ID != fits[0].Session.ID }) {
		return a.oneProcess(fits), nil
	}
	if fronts := state.Fronts(fits); len(fronts) == 1 {
		return fits[fronts[fits[0].Session.Seat]], nil
	}
	return state.Seen{}, ambiguity(arg, fits)
}

// findNamed returns the one live session whose name, project or branch equals arg, begins with
// it or contains it; the first of these three that matches any session decides.
func (a *App) findNamed(seen []state.Seen, arg string) (state.Seen, error) {
	for _, like := range [...]func(s, arg string) bool{strings.EqualFold, strings.HasPrefix, strings.Contains} {
		is := func(s string) bool { return arg != "" && like(strings.ToLower(s), strings.ToLower(arg)) }
		fits := fitting(seen, func(r *render.Row, name string) bool {
			return is(r.Name) || is(name) || is(r.Project) || r.Git != nil && is(r.Git.Branch)
		})
		if len(fits) == 1 {
			return fits[0], nil
		} else if len(fits) > 1 {
			return state.Seen{}, ambiguity(arg, fits)
		}
	}
	if err := a.unreadable(arg); err != nil {
		return state.Seen{}, err // why was said already
	}
	return state.Seen{}, Hint("beckon list --all shows every session", "session %q: %w", arg, ErrNotFound)
}

// oneProcess picks among the processes that ran one session the one that needs the user most.
// If several still run it, it says on stderr how to name the others.
func (a *App) oneProcess(seen []state.Seen) state.Seen {
	rows := render.Rows(seen, true)
	for _, r := range rows[1:] {
		if r.State.Live() {
			fmt.Fprintf(a.Stderr, "beckon: %s runs in several processes; this is %s (%s), another is %s (%s)\n",
				ShortID(r.SessionID), rows[0].Record(), rows[0].State, r.Record(), r.State)
		}
	}
	return seen[slices.IndexFunc(seen, func(v state.Seen) bool { return v.Session.Record() == rows[0].Record() })]
}

// maxCandidates is how many sessions an ambiguity lists.
const maxCandidates = 5

// ambiguity returns the error for an argument that matches several sessions.
func ambiguity(arg string, fits []state.Seen) error {
	rows := render.Rows(fits, true)
	var list []string
	for i := range rows[:min(len(rows), maxCandidates)] {
		list = append(list, strings.TrimSpace(rows[i].Label()+" "+ShortID(rows[i].Record())))
	}
	if len(rows) > maxCandidates {
		list = append(list, "...")
	}
	return NotFound("give more of the name or of the id; beckon list shows them",
		"session %q fits %d sessions (%s)", arg, len(fits), strings.Join(list, ", "))
}

// fitting returns the live sessions that fits accepts, given the row and the client's own name
// for the session.
func fitting(seen []state.Seen, fits func(r *render.Row, name string) bool) (list []state.Seen) {
	for _, r := range render.Rows(seen, false) {
		i := slices.IndexFunc(seen, func(v state.Seen) bool { return v.Session.Record() == r.Record() })
		if v := seen[i]; fits(&r, v.Evidence.Registry.Name) {
			list = append(list, v)
		}
	}
	return list
}
