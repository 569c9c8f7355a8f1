package state

import (
	"testing"
	"time"

	"beckon/event"
)

// TestDecide checks each refusal, by name, and the change that lifts it.
func TestDecide(t *testing.T) {
	dialog := Alert{Kind: AlertPermission, At: 100_000, Dialog: true, Input: 95_000}
	done := Alert{Kind: AlertDone, At: 100_000, Turn: 60_000, Input: 40_000}
	rules := Rules{On: AlertKinds[:], DoneAfter: 30 * time.Second}
	elsewhere := Hearing{Now: 101_000, Focus: FocusElsewhere}
	for _, c := range []struct {
		name    string
		edge    Alert
		rules   func(*Rules)
		hearing func(*Hearing)
		change  func(*Alert)
		want    Decision
	}{
		{name: "elsewhere", edge: dialog, want: Decision{Notify, ReasonNotify}},
		{name: "done elsewhere", edge: done, want: Decision{Notify, ReasonNotify}},
		{name: "kind", edge: done, rules: func(r *Rules) { r.On = AlertKinds[:3] }, want: Decision{Never, ReasonKind}},
		{name: "aside", edge: dialog, change: func(e *Alert) { e.Aside = true }, want: Decision{Never, ReasonAside}},
		{name: "subagent's permission", edge: dialog, change: func(e *Alert) { e.Actor = "a1" }, want: Decision{Notify, ReasonNotify}},
		{name: "subagent's question", edge: dialog, change: func(e *Alert) { e.Actor, e.Kind = "a1", AlertQuestion }, want: Decision{Never, ReasonSubagent}},
		{name: "print mode", edge: done, change: func(e *Alert) { e.Robot = true }, want: Decision{Never, ReasonRobot}},
		{name: "short", edge: done, change: func(e *Alert) { e.Turn = 29_999 }, want: Decision{Never, ReasonShort}},
		{name: "long enough", edge: done, change: func(e *Alert) { e.Turn = 30_000 }, want: Decision{Notify, ReasonNotify}},
		{name: "told", edge: dialog, hearing: func(h *Hearing) { h.Notified = true }, want: Decision{Never, ReasonNotified}},
		{name: "quiet", edge: dialog, hearing: func(h *Hearing) { h.Quiet = true }, want: Decision{Never, ReasonQuiet}},
		{name: "limit", edge: dialog, hearing: func(h *Hearing) { h.NotifiedAt = 96_001 }, want: Decision{Later, ReasonLimit}},
		{name: "over the limit", edge: dialog, hearing: func(h *Hearing) { h.NotifiedAt = 96_000 }, want: Decision{Notify, ReasonNotify}},
		{name: "focused dialog", edge: dialog, hearing: func(h *Hearing) { h.Focus, h.Still = FocusHere, true }, want: Decision{Later, ReasonFocused}},
		{name: "focused done", edge: done, hearing: func(h *Hearing) { h.Focus = FocusHere }, want: Decision{Never, ReasonFocused}},
		{name: "focus unknown, dialog", edge: dialog, hearing: func(h *Hearing) { h.Focus = FocusUnknown }, want: Decision{Later, ReasonEarly}},
		{name: "focus unknown, client is still", edge: dialog, hearing: func(h *Hearing) { h.Focus, h.Still = FocusUnknown, true }, want: Decision{Notify, ReasonNotify}},
		{name: "focus unknown, six seconds", edge: dialog, hearing: func(h *Hearing) { h.Focus, h.Now = FocusUnknown, 106_000 }, want: Decision{Notify, ReasonNotify}},
		{name: "focus unknown, done", edge: done, hearing: func(h *Hearing) { h.Focus = FocusUnknown }, want: Decision{Notify, ReasonNotify}},
		{name: "wrote a moment before it was done", edge: done, change: func(e *Alert) { e.Input = 90_001 }, hearing: func(h *Hearing) { h.Focus, h.Now = FocusUnknown, 109_000 }, want: Decision{Never, ReasonPresent}},
		{name: "wrote a moment before it failed", edge: Alert{Kind: AlertFailed, At: 100_000, Input: 99_000}, hearing: func(h *Hearing) { h.Focus = FocusUnknown }, want: Decision{Later, ReasonPresent}},
		{name: "wrote a while before it failed", edge: Alert{Kind: AlertFailed, At: 100_000, Input: 99_000}, hearing: func(h *Hearing) { h.Focus, h.Now = FocusUnknown, 109_000 }, want: Decision{Notify, ReasonNotify}},
		{name: "nothing known of the user", edge: Alert{Kind: AlertFailed, At: 100_000}, hearing: func(h *Hearing) { h.Focus = FocusUnknown }, want: Decision{Notify, ReasonNotify}},
	} {
		r, h, e := rules, elsewhere, c.edge
		if c.rules != nil {
			c.rules(&r)
		}
		if c.hearing != nil {
			c.hearing(&h)
		}
		if c.change != nil {
			c.change(&e)
		}
		if got := Decide(e, r, h); got != c.want {
			t.Errorf("%s: %v, want %v", c.name, got, c.want)
		}
	}
}

// alerts plays a recording with hooks alone and returns the alerts between its events.
func edges(t *testing.T, tr track) (ids []string, all []Alert) {
	var s Session
	for _, step := range tr.steps {
		if !step.Hook() {
			continue
		}
		e := tr.event(t, step)
		was := AlertStateOf(s, Evidence{}, e.At)
		s = Apply(s, Change{At: e.At, Seq: s.Seq + 1, Event: &e})
		if edge, ok := AlertOf(was, AlertStateOf(s, Evidence{}, e.At)); ok {
			all = append(all, edge)
			ids = append(ids, string(edge.Kind))
		}
	}
	return ids, all
}

// TestEdgesOfRecordings compares each scenario's alerts with those written by hand.
func TestEdgesOfRecordings(t *testing.T) {
	want := map[string]string{
		"hi": "done", "bash": "done", "perm_yes": "permission done", "perm_no": "permission", "perm_esc": "permission",
		"esc_text": "", "esc_tool": "", "esc_think": "", "esc_ask": "question", "ask": "question done", "plan": "question done",
		"question": "question done", "overload": "failed", "auth": "failed", "sub": "done", "subbg": "done", "compact_idle": "done done",
		"exit": "", "kill9_tool": "",
		// Three calls ask within 10 ms, so only the third of these alerts lasts. The second and
		// the third dialog each open when the previous one is answered.
		"perms_parallel": "permission permission permission permission permission done",
	}
	seen := map[string]bool{}
	for _, tr := range tracks(t) {
		w, ok := want[tr.name]
		if !ok || tr.version != "2.1.329" {
			continue
		}
		seen[tr.name] = true
		ids, _ := edges(t, tr)
		got := ""
		for i, id := range ids {
			if i > 0 {
				got += " "
			}
			got += id
		}
		if got != w {
			t.Errorf("%s: %q, want %q", tr, got, w)
		}
	}
	for name := range want {
		if !seen[name] {
			t.Errorf("no recording of %s", name)
		}
	}
}

// An alert has the same ID with and without the registry's evidence, so that a hook and a watch
// do not both notify of it.
func TestEdgeNames(t *testing.T) {
	n := 0
	for _, tr := range tracks(t) {
		var s Session
		for _, step := range tr.steps {
			if !step.Hook() {
				continue
			}
			e := tr.event(t, step)
			s = Apply(s, Change{At: e.At, Seq: s.Seq + 1, Event: &e})
			bare := AlertStateOf(s, Evidence{}, e.At)
			for _, status := range []string{"idle", "waiting", "busy"} {
				ev := Evidence{Process: Alive, Registry: Registry{Status: status, At: e.At}}
				if full := AlertStateOf(s, ev, e.At+300); full.Open && bare.Open && full.Alert.Kind == bare.Alert.Kind {
					n++
					if full.Alert.ID() != bare.Alert.ID() {
						t.Errorf("%s at %d: %s with registry %s, %s without", tr, step.T, full.Alert.ID(), status, bare.Alert.ID())
					}
				}
			}
		}
	}
	if n < 100 {
		t.Errorf("only %d edges compared", n)
	}
}

// A program that reads only now and then sees no alert that hooks did not cause. It sees the
// last alert if that is still open.
func TestEdgesOfLooks(t *testing.T) {
	n := 0
	for _, tr := range tracks(t) {
		_, all := edges(t, tr)
		hooks := map[string]bool{}
		for _, e := range all {
			hooks[e.ID()] = true
		}
		for every := 2; every <= 6; every++ {
			var s Session
			var was AlertState
			seen, looks, compacted := map[string]bool{}, 0, false
			for i, step := range tr.steps {
				if !step.Hook() {
					continue
				}
				e := tr.event(t, step)
				s = Apply(s, Change{At: e.At, Seq: s.Seq + 1, Event: &e})
				if looks++; looks%every != 0 && i != len(tr.steps)-1 {
					continue
				}
				is := AlertStateOf(s, Evidence{}, e.At)
				if edge, ok := AlertOf(was, is); ok {
					n++
					seen[edge.ID()] = true
					if !hooks[edge.ID()] {
						t.Errorf("%s, a look at every %d: %s is not an edge of the hooks", tr, every, edge.ID())
					}
				}
				compacted = compacted || was.State == Compacting
				was = is
			}
			if compacted { // a compaction may have hidden the alert just before it
				continue
			}
			if len(all) > 0 && was.Open && all[len(all)-1].ID() == was.Alert.ID() && !seen[was.Alert.ID()] {
				t.Errorf("%s, a look at every %d: %s was not seen", tr, every, was.Alert.ID())
			}
		}
	}
	if n < 100 {
		t.Errorf("only %d edges seen", n)
	}
}

// The user's own shell command causes a Stop without a turn.
func TestEdgeOfShellCommand(t *testing.T) {
	done := AlertStateOf(Session{Actors: []Actor{{Started: 10, Active: 20, Ended: 30, How: EndStop}}}, Evidence{}, 40)
	shell := Session{Actors: []Actor{{Started: 10, Active: 20, Ended: 50, How: EndStop}}}
	if e, ok := AlertOf(done, AlertStateOf(shell, Evidence{}, 60)); ok {
		t.Errorf("a Stop without a turn: %v", e)
	}
}

// A dialog whose answer was not reported does not hide the next one. If a newer dialog is
// answered, an older one that remains is not a new alert.
func TestEdgeOfWaits(t *testing.T) {
	s := Session{Actors: []Actor{{Active: 10, Calls: []Call{{UseID: "a", Name: "Bash", At: 10, Kind: WaitPermission, Asked: 10}}}, {ID: "sub", Active: 5000}}}
	first := AlertStateOf(s, Evidence{}, 6000)
	s.Actors[1].Calls = []Call{{UseID: "b", Name: "Write", At: 5000, Kind: WaitPermission, Asked: 5000}}
	both := AlertStateOf(s, Evidence{}, 6000)
	e, ok := AlertOf(first, both)
	if !ok || e.At != 5000 || e.Actor != "sub" || e.Call.Name != "Write" {
		t.Errorf("the second dialog: %+v, %v", e, ok)
	}
	if e, ok := AlertOf(both, first); ok {
		t.Errorf("the one that is left: %+v", e)
	}
	s.Closed = []Closed{{UseID: "c", Actor: "sub", At: 4000, Requested: true}, {UseID: "d", At: 5500}}
	if e, ok := AlertOf(first, AlertStateOf(s, Evidence{}, 6000)); !ok || e.At != 5000 {
		t.Errorf("after an answer before it was asked, and a call that asked nothing: %+v, %v", e, ok)
	}
	s.Closed[0].At = 5800
	if e, ok := AlertOf(both, AlertStateOf(s, Evidence{}, 6000)); !ok || e.At != 5800 || e.Call.Name != "Write" {
		t.Errorf("after the answer that brought it up: %+v, %v", e, ok)
	}
	s.Closed = nil
	s.Actors[1].Calls[0].Asked = 500
	if e := AlertStateOf(s, Evidence{}, 6000).Alert; e.At != 500 || e.Call.Name != "Bash" {
		t.Errorf("of two that asked together: %+v", e)
	}
}

func TestParseEdge(t *testing.T) {
	e := Alert{Kind: AlertDone, At: event.Millis(17)}
	if got, ok := ParseAlert(e.ID()); !ok || got.ID() != e.ID() {
		t.Errorf("ParseAlert(%q) = %+v, %v", e.ID(), got, ok)
	}
	for _, bad := range []string{"", "done", "done-x", "other-1", "../x-1"} {
		if _, ok := ParseAlert(bad); ok {
			t.Errorf("ParseAlert(%q) took it", bad)
		}
	}
}

// A turn is not over while the client stays busy after its Stop, since another hook runs for
// long or has blocked the Stop. A turn as short as the client takes to report it
// counts as over for a while.
func TestBlockedStop(t *testing.T) {
	s := Session{Activity: 5000, Prompt: Prompt{First: 1000}, Actors: []Actor{{Started: 1000, Active: 5000, Ended: 5000, How: EndStop}}}
	busy := Evidence{Process: Alive, Registry: Registry{Status: "busy", At: 1010}}
	for _, c := range []struct {
		at   event.Millis
		want State
	}{{5500, Working}, {6999, Working}, {90_000, Working}} {
		if got := Resolve(s, busy, c.at); got.State != c.want {
			t.Errorf("busy at %d: %s, want %s", c.at, got.State, c.want)
		}
	}
	late := Evidence{Process: Alive, Registry: Registry{Status: "busy", At: 4990}}
	if got := Resolve(s, late, 6999); got.State != Idle {
		t.Errorf("busy since the end of a short turn: %s", got.State)
	}
	if got := Resolve(s, late, 7000); got.State != Working {
		t.Errorf("busy long after a short turn: %s", got.State)
	}
	if held := 5000 + AlertDone.Delay(); AlertStateOf(s, busy, held).Open {
		t.Errorf("it is told to be done after the hold of %d", AlertDone.Delay())
	}
	done := AlertStateOf(s, Evidence{}, 6000).Alert
	if !AlertStateOf(s, busy, 90_000).Closes(done) {
		t.Error("the end is not waited for")
	}
	for _, status := range []string{"idle", "shell", ""} {
		ev := Evidence{Process: Alive, Registry: Registry{Status: status, At: 1010}}
		if got := Resolve(s, ev, 90_000); got.State != Idle || got.Reason != Done {
			t.Errorf("%q: %s (%s)", status, got.State, got.Reason)
		}
		if stand := AlertStateOf(s, ev, 90_000); stand.Alert.ID() != done.ID() || stand.Closes(done) {
			t.Errorf("%q: %+v is not the edge that was waited for", status, stand)
		}
	}
	goes := Apply(s, Change{At: 9000, Event: &event.Event{Kind: event.PreToolUse, Name: "PreToolUse", At: 9000, Tool: event.Tool{Name: "Bash", UseID: "t"}}})
	if AlertStateOf(goes, busy, 9100).Closes(done) {
		t.Error("a turn that goes on with a call is still waited for")
	}
	s.Actors[0].How = EndHalt
	if got := Resolve(s, busy, 90_000); got.State != Idle {
		t.Errorf("interrupted: %s", got.State)
	}
}
