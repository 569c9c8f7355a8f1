package state

import (
	"testing"

	"beckon/event"

	"pgregory.net/rapid"
)

// A session that is set aside and then cleared stays set aside until its successor comes, so
// Next still returns the end of the time set aside.
func TestNextOfClearedAside(t *testing.T) {
	const at = 1_000_000
	s := Session{End: Mark{At: at, Reason: "clear"}, Backburner: Backburner{At: at - 100, Until: at + 500}}
	v := Seen{Session: s}
	if got := v.Next(at + 100); got != at+500 {
		t.Errorf("next look at +%d ms, want +500, when it is no longer set aside", got-at)
	}
	if got := v.Next(at + 500); got != at+clearWait {
		t.Errorf("next look at +%d ms, want +%d, when no successor came", got-at, clearWait)
	}
}

// Between now and the time that Next returns, Resolve's verdict does not change. The facts are
// those of every recording, at any step; the evidence is arbitrary.
func TestNextMissesNothing(t *testing.T) {
	var all []Session
	for _, tr := range tracks(t) {
		for _, events := range tr.events(t) {
			var s Session
			for i := range events {
				s = Apply(s, Change{Seq: s.Seq + 1, At: events[i].At, Event: &events[i]})
				all = append(all, s)
			}
		}
	}
	rapid.Check(t, func(t *rapid.T) {
		s := all[rapid.IntRange(0, len(all)-1).Draw(t, "facts")]
		near := func(name string) event.Millis {
			return s.Updated + event.Millis(rapid.IntRange(-3000, 30_000).Draw(t, name))
		}
		if rapid.Bool().Draw(t, "aside") {
			s.Backburner = Backburner{At: near("aside at"), Until: near("aside until")}
		}
		ev := Evidence{Process: rapid.SampledFrom([]Presence{Unread, Alive, Gone}).Draw(t, "process")}
		if status := rapid.SampledFrom([]string{"", "idle", "busy", "waiting", "shell"}).Draw(t, "registry"); status != "" {
			ev.Registry = Registry{Status: status, At: near("since")}
		}
		if rapid.Bool().Draw(t, "was gone") {
			s.Seeing = append(s.Seeing, Observed{Source: FromProcess, What: SawGone, At: near("gone")})
		}
		now := near("now")
		until := (&Seen{Session: s, Evidence: ev}).Next(now)
		if until == 0 || until > now+20*60*60*1000 {
			until = now + 20*60*60*1000
		}
		later := event.Millis(rapid.Int64Range(int64(now), int64(until)-1).Draw(t, "later"))
		a, b := Resolve(s, ev, now), Resolve(s, ev, later)
		if a.State != b.State || a.Reason != b.Reason || a.Rule != b.Rule || a.Unseen != b.Unseen {
			t.Fatalf("at %d %+v, at %d %+v, next at %d", now, a, later, b, until)
		}
	})
}
