package hook

import (
	"strconv"
	"testing"
	"time"

	"beckon/event"
	"beckon/state"
	"beckon/state/store"
)

// The mod's reports become observations of the session that the hooks report, and of no other;
// the process exits with 0 whatever it gets.
func TestModSays(t *testing.T) {
	st := store.Open(t.TempDir())
	getenv := func(key string) string { return map[string]string{"BECKON_STATE_DIR": st.Dir}[key] }
	start := time.Now()
	fold := func(e event.Event, d time.Duration) {
		e.At, e.SessionID = event.MillisOf(start.Add(d)), "s1"
		if _, err := st.Fold("s1", store.Update{Change: state.Change{At: e.At, Event: &e}}); err != nil {
			t.Fatal(err)
		}
	}
	say := func(what, id, at string, detail ...string) {
		t.Helper()
		if code := Mod(append([]string{what, id, at}, detail...), getenv, time.Now()); code != 0 {
			t.Errorf("%s: exit code %d", what, code)
		}
	}
	is := func(want state.State, source state.Source) {
		t.Helper()
		s, err := st.Load("s1")
		if err != nil {
			t.Fatal(err)
		}
		if got := state.Resolve(s, state.Evidence{}, event.MillisOf(time.Now())); got.State != want || got.Source != source {
			t.Errorf("it is %s by %s, want %s by %s", got.State, got.Source, want, source)
		}
	}
	now := func() string { return strconv.FormatInt(time.Now().UnixMilli(), 10) }

	say("halt", "s1", now(), "aborted") // no hook has reported it: nothing is created
	if live, _, err := st.Live(); err != nil || len(live) > 0 {
		t.Fatalf("%v, %v", live, err)
	}
	fold(event.Event{Kind: event.SessionStart, Name: "SessionStart", Source: "startup"}, 0)
	say("loaded", "s1", now(), "1")
	if s, _ := st.Load("s1"); s.Mod() != "1" {
		t.Errorf("the mod is %q", s.Mod())
	}
	fold(event.Event{Kind: event.UserPromptSubmit, Name: "UserPromptSubmit", Prompt: "p"}, time.Millisecond)
	is(state.Working, state.FromHook)
	for _, bad := range [][]string{{"halt"}, {"halt", "s1", "soon", "x"}, {"", "s1", now(), "x"}, {"gone", "s1", now(), "x"}, {"halt", "s1", now()}} {
		Mod(bad, getenv, time.Now())
	}
	is(state.Working, state.FromHook)
	time.Sleep(2 * time.Millisecond)
	say("halt", "s1", now(), "aborted")
	is(state.Idle, state.FromMod)

	time.Sleep(2 * time.Millisecond)
	fold(event.Event{Kind: event.UserPromptSubmit, Name: "UserPromptSubmit", Prompt: "p2"}, time.Since(start))
	time.Sleep(2 * time.Millisecond)
	say("failed", "s1", "99999999999999", "error") // a clock that is ahead only proves that it is ahead
	is(state.Failed, state.FromMod)
}
