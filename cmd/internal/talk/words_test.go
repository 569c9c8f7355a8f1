package talk

import (
	"os"
	"strings"
	"testing"
	"time"

	"beckon/event"
	"beckon/render/card"
	"beckon/state"
	"beckon/state/offer"
	"beckon/state/store"
)

// The first word is a session, also where its id is all digits, unless it can only be an answer.
func TestTargetOfDigits(t *testing.T) {
	const session, other = "85731122-0000-4000-8000-000000000000", "aaaa1122-0000-4000-8000-000000000000"
	d := machine(t, "{}")
	for _, id := range []string{session, other} {
		now := event.MillisOf(time.Now())
		e := event.Event{Kind: event.SessionStart, SessionID: id, At: now, Agent: event.ClaudeCode, Cwd: t.TempDir()}
		if _, err := d.a.Store.Fold(store.KeyOf(id), store.Update{Change: state.Change{At: now, Event: &e}}); err != nil {
			t.Fatal(err)
		}
	}
	d.a.Getenv = os.Getenv
	of := func(record string) card.Offered {
		return card.Offered{Offer: offer.Offer{ID: "ZZZZ" + strings.ToUpper(record), Record: record}}
	}
	for _, c := range []struct {
		open        []card.Offered
		words, want string // the record and the remaining words
	}{
		{[]card.Offered{of(session)}, "8573 yes", session + " yes"},
		{[]card.Offered{of(session), of(other)}, "85731122 2", session + " 2"},
		{[]card.Offered{of(other)}, "8573 yes", ""},
		{[]card.Offered{of(other)}, "8573", ""},
		{[]card.Offered{of(other)}, "2", other + " 2"},
		{[]card.Offered{of(other)}, "1,3", other + " 1,3"},
		{[]card.Offered{of(other)}, "1 2", other + " 1 2"},
		{[]card.Offered{of(session), of(other)}, "1", ""},
		{nil, "1", ""},
	} {
		cmd := &AnswerCmd{Words: strings.Fields(c.words)}
		got, words, err := cmd.target(d.a, c.open)
		line := ""
		if err == nil && len(got) == 1 {
			line = got[0].Record + " " + strings.Join(words, " ")
		}
		if strings.TrimSpace(line) != c.want {
			t.Errorf("%q with %d open: %q, %v; want %q", c.words, len(c.open), line, err, c.want)
		}
	}
}
