package main

import (
	"fmt"
	"strings"

	"beckon/state"
)

// find returns the session that arg names: its id, its seat, or the beginning
// of either when only one session fits.
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
		return state.Seen{}, hinted{fmt.Errorf("session %q: %w", arg, errNotFound), "beckon list --all shows every session"}
	}
	return newestOf(fits, arg)
}

// newestOf picks among sessions of one seat the newest; sessions of several
// seats are ambiguous.
func newestOf(fits []state.Seen, arg string) (state.Seen, error) {
	best := fits[0]
	for _, v := range fits[1:] {
		if v.Session.Seat != best.Session.Seat {
			return state.Seen{}, hinted{fmt.Errorf("session %q: %d sessions begin so: %w", arg, len(fits), errNotFound), "give more of the id"}
		}
		if v.Session.Created > best.Session.Created {
			best = v
		}
	}
	return best, nil
}
