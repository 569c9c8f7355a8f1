package feed

import (
	"fmt"
	"net/http"
	"slices"
	"strings"

	"beckon/event"
	"beckon/render"
	"beckon/render/web/respond"
	"beckon/state"
)

// ParseFilter returns what the query of r selects.
func ParseFilter(r *http.Request) (Filter, error) {
	q := r.URL.Query()
	f := Filter{session: q.Get("session")}
	for _, list := range q["state"] {
		for word := range strings.SplitSeq(list, ",") {
			st := state.State(strings.ToLower(strings.TrimSpace(word)))
			if !slices.Contains(state.States[:], st) {
				return f, respond.NewFault(http.StatusBadRequest, "bad_state",
					fmt.Sprintf("no such state %q", event.Cut(word, 64)), "the states are those of list --json")
			}
			f.states = append(f.states, st)
		}
	}
	return f, nil
}

// Filter is what one client wants to receive.
type Filter struct {
	session string // session or seat id, empty for all
	states  []state.State
}

func (f Filter) wants(m *message) bool {
	if f.session != "" && f.session != m.session && f.session != m.seat && f.session != m.previous {
		return false
	}
	return f.states == nil || slices.Contains(f.states, m.now) || slices.Contains(f.states, m.before)
}

// Shows reports whether the client receives a row.
func (f Filter) Shows(r *render.Row) bool {
	return (f.session == "" || f.session == r.SessionID || f.session == r.SeatID) &&
		(f.states == nil || slices.Contains(f.states, r.State))
}
