package state

import (
	"bytes"
	"fmt"
	"reflect"
	"slices"
	"testing"

	"beckon/event"

	"pgregory.net/rapid"
)

// A reader with the client's registry is right whenever the registry is settled, whatever the
// reader saw before. With hooks alone, no dialog is ever missed.
func TestRightAboutTheModelClient(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		c := newClient(t)
		var s, blind Session
		told := 0
		diligent := rapid.Bool().Draw(t, "diligent")
		for range rapid.IntRange(5, 60).Draw(t, "steps") {
			c.step()
			for ; told < len(c.hooks); told++ {
				s, blind = applied(s, c.hooks[told]), applied(blind, c.hooks[told])
			}
			want := c.truth()
			if got := Resolve(blind, Evidence{}, c.now).State; (want == Permission || want == Question) && !got.NeedsYou() {
				t.Fatalf("on hooks alone it is %s, in truth %s", got, want)
			}
			if !diligent && rapid.IntRange(0, 3).Draw(t, "looks") > 0 {
				continue
			}
			c.now = max(c.now, c.reg.At) + dwell + 50
			ev := Evidence{Process: Alive, Registry: c.reg, Halted: c.mark}
			for _, o := range Observe(s, ev, c.now) {
				s = Apply(s, Change{Seq: s.Seq + 1, At: o.At, Observation: &o})
			}
			got := Resolve(s, ev, c.now)
			if same(got.State, c.truth()) && (got.State != Idle || got.Reason == c.over) {
				continue
			}
			t.Fatalf("%d ms: it is %s %q by %q, in truth %s (%s), registry %s", c.now-t0, got.State, got.Reason, got.Rule, c.truth(), c.over, c.reg.Status)
		}
	})
}

// same reports whether a verdict is right. Either kind of dialog counts as right while any is
// on the screen: a subagent's dialog that was refused unseen stays open.
func same(got, want State) bool {
	waits := func(s State) bool { return s == Permission || s == Question }
	return got == want || (waits(got) && waits(want))
}

func applied(s Session, e event.Event) Session {
	return Apply(s, Change{Seq: s.Seq + 1, At: e.At, Event: &e})
}

func applyAll(events []event.Event) (s Session) {
	for _, e := range events {
		s = applied(s, e)
	}
	return s
}

// streams generates the hooks of one session, from a recording or from the model client.
func streams(t testing.TB) *rapid.Generator[[]event.Event] {
	var recorded [][]event.Event
	for _, tr := range tracks(t) {
		recorded = append(recorded, tr.events(t)...)
	}
	return rapid.OneOf(rapid.SampledFrom(recorded), modelStreams())
}

func modelStreams() *rapid.Generator[[]event.Event] {
	return rapid.Custom(func(t *rapid.T) []event.Event {
		c := newClient(t)
		for range rapid.IntRange(5, 60).Draw(t, "steps") {
			c.step()
		}
		return c.hooks
	})
}

// legal lists the states that hooks alone can lead to.
var legal = []State{Permission, Question, Failed, Idle, Working, Compacting, Ended}

// Every prefix of a real stream has a legal state, and Explain's first fact agrees with
// Resolve.
func TestEveryPrefixResolves(t *testing.T) {
	all := streams(t)
	rapid.Check(t, func(t *rapid.T) {
		var s Session
		for _, e := range all.Draw(t, "events") {
			s = applied(s, e)
			st := Resolve(s, Evidence{}, e.At)
			source := FromHook
			if st.Rule == RuleAsked {
				source = Inferred
			}
			if !slices.Contains(legal, st.State) || st.NeedsYou != st.State.NeedsYou() || st.Source != source || st.Confidence != source.Confidence() {
				t.Fatalf("after %s: %+v", e.Name, st)
			}
			if s.End.At == 0 && (st.Since > e.At || st.Since < s.Created) {
				t.Fatalf("after %s at %d: %s since %d", e.Name, e.At-s.Created, st.State, st.Since-s.Created)
			}
		}
	})
}

// atOnce is the time, in milliseconds, within which hooks that run at the same time start.
const atOnce = 50

// canSwap reports whether two hooks, a before b, may be folded in the other order because they
// ran at the same time and either may have got the lock first. The client waits for a hook
// before it does anything that depends on it, so within one actor only hooks of parallel work
// can overtake each other.
func canSwap(a, b *event.Event) bool {
	switch {
	case b.At-a.At >= atOnce:
		return false
	case a.AgentID != b.AgentID:
		// A subagent starts after the call that starts it.
		return !(a.Kind == event.PreToolUse && b.Kind == event.SubagentStart)
	case a.Kind == "MessageDisplay" || b.Kind == "MessageDisplay":
		return true
	case isCall(a) && isCall(b):
		return a.Tool.UseID != b.Tool.UseID // parallel calls, or a PermissionRequest, which has no id, and any call
	case a.Kind == event.PostToolUse:
		return b.Kind == event.Stop || b.Kind == event.StopFailure || b.Kind == event.PostToolBatch || b.Kind == event.Notification
	case a.Kind == event.Notification || b.Kind == event.Notification:
		return isCall(a) || isCall(b) // raised by a timer of the client
	}
	return false
}

// isCall reports whether e is about a tool call that may run in parallel with others.
func isCall(e *event.Event) bool {
	switch e.Kind {
	case event.PreToolUse, event.PermissionRequest, event.PostToolUse, event.PostToolUseFailure:
		return true
	}
	return false
}

// shuffled returns events in another order that is possible in reality.
func shuffled(t *rapid.T, events []event.Event) []event.Event {
	out := slices.Clone(events)
	for range rapid.IntRange(1, 4*len(out)).Draw(t, "swaps") {
		i := rapid.IntRange(0, max(0, len(out)-2)).Draw(t, "at")
		if i+1 < len(out) && swappable(&out[i], &out[i+1]) {
			out[i], out[i+1] = out[i+1], out[i]
		}
	}
	return out
}

// swappable is canSwap for hooks in either order.
func swappable(a, b *event.Event) bool {
	if b.At < a.At {
		a, b = b, a
	}
	return canSwap(a, b)
}

// facts holds what views show of a session.
type facts struct {
	Status       Status
	Prompt       Prompt
	Turns        int64
	Permissions  int64
	Questions    int64
	Tools        int64
	Subagents    []string
	Agents       int
	Shells       int
	Message, Cwd string
	Model, Mode  string
}

func factsOf(s Session, now event.Millis) facts {
	f := facts{Status: Resolve(s, Evidence{}, now), Prompt: s.Prompt, Turns: s.Counts.Turns, Permissions: s.Counts.Permissions,
		Questions: s.Counts.Questions, Tools: s.Counts.Tools,
		Message: s.Stop.Message, Cwd: s.Cwd, Model: s.Model, Mode: s.Mode}
	f.Agents, f.Shells = s.Background()
	for _, a := range s.Subagents() {
		f.Subagents = append(f.Subagents, a.ID+" "+string(a.State()))
	}
	slices.Sort(f.Subagents)
	// A request may belong to any of several identical calls.
	f.Status.Call = Call{Name: f.Status.Call.Name, Hash: f.Status.Call.Hash}
	return f
}

// alike compares facts. A request may be paired with any of several identical calls, and a
// copy with any of several identical requests. So the start of a wait, and which call waits
// longest, may differ if the starts are less than atOnce apart.
func alike(x, y facts) bool {
	if d := abs(x.Status.Since - y.Status.Since); 0 < d && d < atOnce {
		to, from := &y.Status, &x.Status
		to.Since, to.Reason, to.Actor, to.Call = from.Since, from.Reason, from.Actor, from.Call
	}
	return reflect.DeepEqual(x, y)
}

// Hooks that run at the same time may be folded in any order.
func TestOrderWithin50msDoesNotMatter(t *testing.T) {
	all := streams(t)
	rapid.Check(t, func(t *rapid.T) {
		events := all.Draw(t, "events")
		events = events[:rapid.IntRange(1, len(events)).Draw(t, "length")]
		other := shuffled(t, events)
		a, b := applyAll(events), applyAll(other)
		now := events[len(events)-1].At
		for _, later := range []event.Millis{0, 300, 2000, 100_000} {
			if x, y := factsOf(a, now+later), factsOf(b, now+later); !alike(x, y) {
				t.Fatalf("%d ms later\n%s%+v\n%s%+v", later, names(events), x, names(other), y)
			}
		}
	})
}

func names(events []event.Event) string {
	var b bytes.Buffer
	for _, e := range events {
		fmt.Fprintf(&b, "%d %s %s %s %s%s\n", e.At-events[0].At, e.Name, e.AgentID, e.Tool.Name, e.Tool.UseID, e.Tool.Hash)
	}
	return b.String()
}

// A reader that looks at every step reaches the same verdict as one that looks only at the
// end.
func TestLookingDoesNotMatter(t *testing.T) {
	for _, tr := range tracks(t) {
		always, once := &player{t: t, tr: tr, evidence: true}, &player{t: t, tr: tr, evidence: true, lazy: true}
		always.play(nil, func(sight) {})
		once.play(nil, func(sight) {})
		now := tr.steps[len(tr.steps)-1].At + 5000
		for i := range always.rows {
			a, _ := always.look(always.rows[i], now)
			once.lazy = false
			b, _ := once.look(once.rows[i], now)
			if a.State != b.State || a.Reason != b.Reason || a.Unseen != b.Unseen {
				t.Errorf("%s row %d: %s %q, looked at once %s %q", tr, i+1, a.State, a.Reason, b.State, b.Reason)
			}
		}
	}
}

// A copy by a second install of another origin changes nothing, whichever copy comes first and
// however late the other is.
func TestSecondInstallChangesNothing(t *testing.T) {
	all := streams(t)
	rapid.Check(t, func(t *rapid.T) {
		events := all.Draw(t, "events")
		var both []event.Event
		var behind []event.Event // copies still to come
		for _, e := range events {
			for len(behind) > 0 && behind[0].At+40 < e.At {
				both, behind = append(both, behind[0]), behind[1:]
			}
			first, second := e, e
			if rapid.Bool().Draw(t, "plugin first") {
				first.Via = "plugin"
			} else {
				second.Via = "plugin"
			}
			both, behind = append(both, first), append(behind, second)
			if rapid.Bool().Draw(t, "close") {
				both, behind = append(both, behind...), nil
			}
		}
		one, two := applyAll(events), applyAll(append(both, behind...))
		now := events[len(events)-1].At
		if x, y := factsOf(one, now), factsOf(two, now); !alike(x, y) {
			t.Fatalf("one install\n%s%+v\ntwo\n%s%+v", names(events), x, names(both), y)
		}
		if one.Counts != two.Counts {
			t.Fatalf("one install counts %+v, two %+v", one.Counts, two.Counts)
		}
	})
}

// Identical events of one install are separate events.
func TestIdenticalPermissionRequestsAreNeverDropped(t *testing.T) {
	for n := 1; n <= 20; n++ {
		s := tell(t, "100 UserPromptSubmit").s
		for i := range n {
			s = applied(s, event.Event{Kind: event.PreToolUse, Name: "PreToolUse", At: t0 + 200, Tool: event.Tool{Name: "Bash", Hash: "x", UseID: fmt.Sprint(i)}})
		}
		for range n {
			s = applied(s, event.Event{Kind: event.PermissionRequest, Name: "PermissionRequest", At: t0 + 210, Tool: event.Tool{Name: "Bash", Hash: "x"}})
		}
		for i := range n {
			if got := waiting(s); got != n-i {
				t.Fatalf("%d requests, %d answered: %d wait", n, i, got)
			}
			s = applied(s, event.Event{Kind: event.PostToolUse, Name: "PostToolUse", At: t0 + 300, Tool: event.Tool{Name: "Bash", Hash: "x", UseID: fmt.Sprint(i)}})
		}
		if waiting(s) != 0 {
			t.Fatalf("%d requests, all answered: %d wait", n, waiting(s))
		}
	}
}

func waiting(s Session) (n int) {
	for i := range s.Actors {
		for j := range s.Actors[i].Calls {
			if s.Actors[i].Calls[j].waiting() {
				n++
			}
		}
	}
	return n
}

// A subagent's permission shows until it is answered, whatever its siblings and the main
// conversation do.
func TestBusySiblingNeverHidesAPermission(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := applyAll([]event.Event{
			{Kind: event.UserPromptSubmit, Name: "UserPromptSubmit", At: t0},
			{Kind: event.SubagentStart, Name: "SubagentStart", At: t0 + 1, AgentID: "asks", AgentType: "x"},
			{Kind: event.PreToolUse, Name: "PreToolUse", At: t0 + 2, AgentID: "asks", Tool: event.Tool{Name: "Bash", Hash: "h", UseID: "u"}},
			{Kind: event.PermissionRequest, Name: "PermissionRequest", At: t0 + 3, AgentID: "asks", Tool: event.Tool{Name: "Bash", Hash: "h"}},
		})
		h := newHostile(rapid.Uint64().Draw(t, "seed"))
		h.light = true
		for at := t0 + 10; at < t0+10+event.Millis(rapid.IntRange(1, 200).Draw(t, "others")); at++ {
			e := h.event()
			e.At = at
			if e.Kind == event.SessionStart || e.Kind == event.SessionEnd || e.Notification == "idle_prompt" {
				continue // these end it
			}
			if e.AgentID == "asks" {
				e.AgentID = ""
			}
			if e.Tool.UseID == "u" {
				e.Tool.UseID = "other"
			}
			e.HasBackground, e.Background = true, append(e.Background, event.Task{ID: "asks", Type: "subagent", Status: "running"})
			s = applied(s, e)
			if st := Resolve(s, Evidence{}, at); st.State != Permission || (st.Actor != "asks" && st.Since > t0+3) {
				t.Fatalf("after %s of %q: %+v", e.Name, e.AgentID, st)
			}
		}
	})
}

// A session that works or asks is in a turn. One that is set aside or silent may be in a turn,
// and counts as in one.
func TestStateClasses(t *testing.T) {
	for s, want := range map[State]string{
		Permission: "asks in turn", Question: "asks in turn", Working: "works in turn", Compacting: "works in turn",
		Backburned: "in turn", Unknown: "in turn", Failed: "", Idle: "", Ended: "", Lost: "",
	} {
		got := ""
		if s.Asks() {
			got += "asks "
		}
		if s.AtWork() {
			got += "works "
		}
		if s.InTurn() {
			got += "in turn"
		}
		if got != want {
			t.Errorf("%s: %q, want %q", s, got, want)
		}
	}
}

// The session's state is that of its most urgent actor. Of several waits of that kind, the
// longest is shown. States that need the user come first.
func TestMostUrgentFirst(t *testing.T) {
	for i, s := range States {
		if i > 0 && s.NeedsYou() && !States[i-1].NeedsYou() {
			t.Errorf("%s needs the user and comes after %s", s, States[i-1])
		}
	}
	rapid.Check(t, func(t *rapid.T) {
		var s Session
		oldest := map[bool]event.Millis{} // keyed by whether the wait is a permission
		n := rapid.IntRange(1, 8).Draw(t, "actors")
		for i := range n {
			id := fmt.Sprintf("a%d", i)
			tool := rapid.SampledFrom([]string{"Bash", "AskUserQuestion", ""}).Draw(t, "asks about")
			at := t0 + event.Millis(rapid.IntRange(0, 1000).Draw(t, "at"))
			s = applied(s, event.Event{Kind: event.SubagentStart, Name: "SubagentStart", At: t0 - 10, AgentID: id})
			if tool == "" {
				continue
			}
			s = applied(s, event.Event{Kind: event.PermissionRequest, Name: "PermissionRequest", At: at, AgentID: id, Tool: event.Tool{Name: tool}})
			if old, ok := oldest[tool == "Bash"]; !ok || at < old {
				oldest[tool == "Bash"] = at
			}
		}
		want, since := Working, t0-10
		for _, w := range []struct {
			permission bool
			state      State
		}{{false, Question}, {true, Permission}} {
			if at, ok := oldest[w.permission]; ok {
				want, since = w.state, at
			}
		}
		if st := Resolve(s, Evidence{}, t0+2000); st.State != want || st.Since != since {
			t.Fatalf("%s since %d, want %s since %d", st.State, st.Since-t0, want, since-t0)
		}
	})
}
