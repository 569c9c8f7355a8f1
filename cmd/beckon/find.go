package main

import (
	"fmt"
	"slices"
	"strings"

	"beckon/render"
	"beckon/state"
)

// find returns the session that arg names: its id, its seat, the beginning of
// its id when only one session begins so, or the name of the project or branch
// that only one live session works in.
func (a *app) find(arg string) (state.Seen, error) {
	seen, _, err := a.look(true)
	if err != nil {
		return state.Seen{}, err
	}
	var fits []state.Seen
	for _, v := range seen {
		s := &v.Session
		if s.ID == arg {
			return v, nil
		}
		if strings.HasPrefix(s.ID, arg) || s.Seat == arg {
			fits = append(fits, v)
		}
	}
	switch len(fits) {
	case 1:
		return fits[0], nil
	case 0:
		if fits = named(seen, arg); len(fits) == 1 {
			return fits[0], nil
		}
		if len(fits) > 1 {
			return state.Seen{}, hinted{ambiguous{arg, len(fits), "work there"}, "give the beginning of an id; beckon list shows them"}
		}
		if err := a.unreadable(arg); err != nil {
			return state.Seen{}, err // why was said already
		}
		return state.Seen{}, hinted{fmt.Errorf("session %q: %w", arg, errNotFound), "beckon list --all shows every session"}
	}
	return newestOf(fits, arg)
}

// ambiguous is the error of an argument that names several sessions.
type ambiguous struct {
	arg string
	n   int
	how string
}

func (e ambiguous) Error() string {
	return fmt.Sprintf("session %q: %d sessions %s", e.arg, e.n, e.how)
}

// Is makes it an errNotFound: it names no session.
func (e ambiguous) Is(target error) bool { return target == errNotFound }

// named returns the live sessions that work in the project or on the branch
// of that name.
func named(seen []state.Seen, name string) (fits []state.Seen) {
	for i, r := range render.Rows(seen, false) {
		branch := ""
		if r.Git != nil {
			branch = r.Git.Branch
		}
		if !strings.EqualFold(r.Project, name) && branch != name {
			continue
		}
		i = slices.IndexFunc(seen, func(v state.Seen) bool { return v.Session.ID == r.SessionID })
		fits = append(fits, seen[i])
	}
	return fits
}

// newestOf picks among sessions of one seat the newest; sessions of several
// seats are ambiguous.
func newestOf(fits []state.Seen, arg string) (state.Seen, error) {
	best := fits[0]
	for _, v := range fits[1:] {
		if v.Session.Seat != best.Session.Seat {
			return state.Seen{}, hinted{ambiguous{arg, len(fits), "begin so"}, "give more of the id"}
		}
		if v.Session.Created > best.Session.Created {
			best = v
		}
	}
	return best, nil
}
