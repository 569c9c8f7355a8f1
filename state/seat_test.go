package state

import (
	"testing"

	"beckon/event"

	"pgregory.net/rapid"
)

// sitting returns a session of seat "a" that was last active at the given time.
func sitting(id string, pid int, acted event.Millis, st State) Seen {
	s := Session{ID: id, Agent: event.ClaudeCode, Seat: "a", Activity: acted, Start: Mark{At: 1}}
	s.Origin.Process.Pid = pid
	if st == Ended {
		s.End.At = acted
	}
	return Seen{Session: s, Status: Status{State: st, NeedsYou: st.NeedsYou()}}
}

func TestFronts(t *testing.T) {
	removed := sitting("removed", 0, 9, Permission)
	removed.Session.Removed = 9
	mentioned := sitting("mentioned", 0, 9, Idle)
	mentioned.Session.Start = Mark{}
	for _, c := range []struct {
		name string
		seat []Seen
		want string
	}{
		{"the one that acted last", []Seen{sitting("x", 0, 5, Working), sitting("y", 0, 3, Working)}, "x"},
		{"the one that waits", []Seen{sitting("x", 0, 5, Working), sitting("y", 0, 3, Permission)}, "y"},
		{"of two that wait the later", []Seen{sitting("x", 0, 5, Question), sitting("y", 0, 3, Permission)}, "x"},
		{"not one that is over", []Seen{sitting("x", 0, 5, Ended), sitting("y", 0, 3, Idle)}, "y"},
		{"not one that was removed", []Seen{removed, sitting("y", 0, 3, Idle)}, "y"},
		{"not one that was only mentioned", []Seen{mentioned, sitting("y", 0, 3, Idle)}, "y"},
		{"of one process the later, whatever the earlier was at", []Seen{sitting("x", 7, 3, Question), sitting("y", 7, 5, Working)}, "y"},
		{"of two processes the one that waits", []Seen{sitting("x", 7, 3, Question), sitting("y", 8, 5, Working)}, "x"},
		{"over one process's two", []Seen{sitting("x", 7, 3, Question), sitting("y", 7, 5, Working), sitting("z", 8, 4, Permission)}, "z"},
	} {
		if got := c.seat[Fronts(c.seat)["a"]].Session.ID; got != c.want {
			t.Errorf("%s: got %s", c.name, got)
		}
	}
}

// The order of reading does not change which session represents the seat. A session that does
// not wait never hides one that waits, unless it is the later session of the same process.
func TestFrontsHidesNoWait(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		states := []State{Permission, Question, Failed, Working, Idle, Ended, Lost}
		var seat []Seen
		for i := range rapid.IntRange(1, 6).Draw(t, "n") {
			seat = append(seat, sitting(string(rune('a'+i)), rapid.IntRange(0, 2).Draw(t, "pid"),
				event.Millis(rapid.IntRange(1, 9).Draw(t, "acted")), rapid.SampledFrom(states).Draw(t, "state")))
		}
		front := seat[Fronts(seat)["a"]]
		mixed := rapid.Permutation(seat).Draw(t, "mixed")
		if got := mixed[Fronts(mixed)["a"]]; got.Session.ID != front.Session.ID {
			t.Fatalf("%s, and in another order %s", front.Session.ID, got.Session.ID)
		}
		for _, v := range seat {
			superseded := false
			for _, w := range seat {
				p := w.Session.Origin.Process
				superseded = superseded || w.Session.ID != v.Session.ID && p.Pid != 0 && p == v.Session.Origin.Process && w.Listed() && w.Session.acted() >= v.Session.acted()
			}
			if v.Status.NeedsYou && !superseded && !front.Status.NeedsYou {
				t.Fatalf("%s waits, and %s, %s, is shown", v.Session.ID, front.Session.ID, front.Status.State)
			}
		}
	})
}

func TestAddressee(t *testing.T) {
	at := func(id, terminal string, acted event.Millis) Session {
		v := sitting(id, 0, acted, Working)
		v.Session.Origin.Terminal, v.Session.Origin.Host, v.Session.Cwd = event.Terminal{Kind: "tmux", ID: terminal}, "here", "/p"
		return v.Session
	}
	over := at("over", "%1", 9)
	over.End.At = 9
	calls := at("calls", "%2", 1)
	calls.Actors = []Actor{{Calls: []Call{{Name: "Bash", Hash: "h", At: 1, Asked: 1, Requested: true}}}}
	all := []Session{at("x", "%1", 3), at("y", "%1", 5), over, calls, at("z", "%2", 7)}
	for _, c := range []struct {
		name, terminal, host, cwd string
		kind                      event.Kind
		sessions                  []Session
		want                      string
	}{
		{"acted last", "%1", "", "", event.Stop, all, "y"},
		{"has the call", "%2", "", "", event.PostToolUse, all, "calls"},
		{"no call of it", "%2", "", "", event.Stop, all, "z"},
		{"another terminal", "%3", "", "/p", event.Stop, all, ""},
		{"another host's terminal of that name", "%1", "there", "", event.Stop, all, ""},
		{"several in the directory", "", "", "/p", event.Stop, all, ""},
		{"one in the directory", "", "", "/p", event.Stop, all[:1], "x"},
		{"late, of one that is over", "%1", "", "", event.PostToolUse, []Session{over}, "over"},
		{"a new turn in the terminal of one that is over", "%1", "", "", event.UserPromptSubmit, []Session{over}, ""},
	} {
		e := event.Event{Agent: event.ClaudeCode, Kind: c.kind, Cwd: c.cwd, Tool: event.Tool{Name: "Bash", Hash: "h"},
			Origin: &event.Origin{Host: c.host, Terminal: event.Terminal{ID: c.terminal}}}
		if got := Addressee(c.sessions, &e, "here"); got != c.want {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
	}
}
