package state

import (
	"strings"
	"testing"

	"beckon/event"

	"pgregory.net/rapid"
)

// A session set aside at any moment of a real stream stays so through every event except the
// user's next prompt and its own end.
func TestBackburnerIsKept(t *testing.T) {
	all := streams(t)
	rapid.Check(t, func(t *rapid.T) {
		events := all.Draw(t, "events")
		from := rapid.IntRange(0, len(events)-1).Draw(t, "set aside after")
		s := applyAll(events[:from+1])
		at := events[from].At
		s = Apply(s, Change{Seq: s.Seq + 1, At: at, Action: &Action{Kind: ActBackburner}})
		aside := true
		for _, e := range events[from+1:] {
			at = max(at, e.At)
			s = applied(s, e)
			if ownPrompt(&e) && e.At > s.Backburner.At {
				aside = false
			}
			got := Resolve(s, Evidence{Process: Alive}, at)
			if over := s.End.At != 0; !over && aside != (got.State == Backburned) {
				t.Fatalf("after %s %q: it is %s, set aside: %v", e.Name, e.Prompt, got.State, aside)
			}
			if got.State == Backburned && (got.NeedsYou || got.Unseen) {
				t.Fatalf("after %s it wants the user: %+v", e.Name, got)
			}
		}
	})
}

// ownPrompt reports whether e is a prompt that the user wrote.
func ownPrompt(e *event.Event) bool {
	return e.Kind == event.UserPromptSubmit && !e.FromClient && !strings.HasPrefix(e.Prompt, "[Request interrupted")
}

// A session set aside comes back when its time is over, in the state that it would otherwise
// have.
func TestBackburnerHasAnEnd(t *testing.T) {
	all := streams(t)
	rapid.Check(t, func(t *rapid.T) {
		events := all.Draw(t, "events")
		s := applyAll(events)
		last := s.Updated
		until := last + event.Millis(rapid.IntRange(1, 100_000).Draw(t, "until"))
		plain := Resolve(s, Evidence{Process: Alive}, until)
		s = Apply(s, Change{Seq: s.Seq + 1, At: last, Action: &Action{Kind: ActBackburner, Until: until}})
		if got := Resolve(s, Evidence{Process: Alive}, until-1); s.End.At == 0 && got.State != Backburned {
			t.Fatalf("a moment before its end it is %s", got.State)
		}
		if got := Resolve(s, Evidence{Process: Alive}, until); got.State != plain.State || got.Since != plain.Since {
			t.Fatalf("at its end it is %s since %d, without it %s since %d", got.State, got.Since, plain.State, plain.Since)
		}
		s = Apply(s, Change{Seq: s.Seq + 1, At: last + 1, Action: &Action{Kind: ActBackburnerOff}})
		if got := Resolve(s, Evidence{Process: Alive}, until); got.State != plain.State {
			t.Fatalf("taken back it is %s, without it %s", got.State, plain.State)
		}
	})
}
