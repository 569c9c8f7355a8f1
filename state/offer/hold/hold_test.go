package hold

import (
	"testing"

	"beckon/event"
	"beckon/state"
)

// A call is over when its session's facts say so, and not because others are.
func TestOver(t *testing.T) {
	h := Held{Record: "s1", UseID: "t1", Tool: "Write", Hash: "h", Made: 1000}
	call := state.Call{UseID: "t1", Name: "Write", Hash: "h", Asked: 1000, Requested: true}
	session := func(calls ...state.Call) *state.Session {
		return &state.Session{Actors: []state.Actor{{Active: 1000, Calls: calls}, {ID: "sub", Calls: []state.Call{{UseID: "t9"}}}}}
	}
	with := func(c state.Call, change func(*state.Call)) state.Call { change(&c); return c }
	for name, c := range map[string]struct {
		s    *state.Session
		seen bool
		now  event.Millis
		want string
	}{
		"it asks":                        {session(call), true, 2000, ""},
		"another call is there, too":     {session(state.Call{UseID: "t0", Name: "Write", Hash: "h"}, call), true, 2000, ""},
		"its id came later":              {session(with(call, func(c *state.Call) { c.UseID = "" })), true, 2000, ""},
		"it ended":                       {session(), true, 2000, WhyCall},
		"its twin is there":              {session(with(call, func(c *state.Call) { c.UseID = "t2" })), true, 2000, WhyCall},
		"it is not folded yet":           {session(), false, 2000, ""},
		"it is never folded":             {session(), false, 20000, WhyCall},
		"it was answered at the session": {session(with(call, func(c *state.Call) { c.Answered = 1500 })), true, 2000, WhyAnswered},
		"a headless one":                 {session(with(call, func(c *state.Call) { c.Answered = 1000 })), true, 2000, ""},
		"the session ended":              {&state.Session{End: state.Mark{At: 1500}}, true, 2000, WhySession},
		"an earlier end of it":           {&state.Session{End: state.Mark{At: 500}, Actors: session(call).Actors}, true, 2000, ""},
	} {
		if why, _ := h.Over(c.s, c.seen, c.now); why != c.want {
			t.Errorf("%s: %q, want %q", name, why, c.want)
		}
	}
}

// A reply can be given until the session is at work again.
func TestOverOfATurn(t *testing.T) {
	h := Held{Reply: true, Record: "s1", Made: 10_000}
	for name, c := range map[string]struct {
		s    state.Session
		want string
	}{
		"its end is not folded yet": {state.Session{Actors: []state.Actor{{Active: 9000}}}, ""},
		"its end is folded":         {state.Session{Stop: state.Stop{At: 10_020}, Actors: []state.Actor{{Active: 9000, Ended: 10_020}}}, ""},
		"the user typed":            {state.Session{Prompt: state.Prompt{At: 11_000}}, WhyWork},
		"the client woke it":        {state.Session{Actors: []state.Actor{{Active: 11_000, Ended: 10_020}}}, WhyWork},
		"another turn ended":        {state.Session{Stop: state.Stop{At: 60_000}}, WhyTurn},
		"the session ended":         {state.Session{End: state.Mark{At: 10_500}}, WhySession},
	} {
		if why, _ := h.Over(&c.s, true, 12_000); why != c.want {
			t.Errorf("%s: %q, want %q", name, why, c.want)
		}
	}
}
