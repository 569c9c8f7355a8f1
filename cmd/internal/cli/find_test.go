package cli

import (
	"testing"

	"beckon/event"
	"beckon/state"
)

// A part of a name, project or branch finds the one live session that has it; several matches
// are listed.
func TestFindNamed(t *testing.T) {
	seen := []state.Seen{
		{Session: state.Session{ID: "1aaaaaaa-1", Seat: "1", Name: "shop front"}},
		{Session: state.Session{ID: "2bbbbbbb-2", Seat: "2", Origin: event.Origin{Git: event.Git{Repo: "website", Branch: "show-prices"}}}},
		{Session: state.Session{ID: "3ccccccc-3", Seat: "3", Name: "api"}, Evidence: state.Evidence{Registry: state.Registry{Name: "depot-7f", NameSource: "derived"}}},
		{Session: state.Session{ID: "4ddddddd-4", Seat: "4", Name: "old shop"}, Status: state.Status{State: state.Ended}},
	}
	for i := range seen[:3] {
		seen[i].Status.State, seen[i].Evidence.Process = state.Idle, state.Alive
	}
	for arg, want := range map[string]string{
		"web": "2", "Website": "2", "show": "2", "prices": "2", "shop": "1", "FRONT": "1", "api": "3", "depot": "3",
		"sh":  `session "sh" fits 2 sessions (shop front 1aaaaaaa, website 2bbbbbbb)`,
		"old": `session "old": no such session`, "": `session "": no such session`,
	} {
		v, err := (&App{}).find(seen, arg)
		got := v.Session.Seat
		if err != nil {
			got = err.Error()
		}
		if got != want || err != nil && Code(err) != ExitNotFound {
			t.Errorf("%q finds %q, want %q", arg, got, want)
		}
	}
}
