package render

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"beckon/event"
	"beckon/state"

	"pgregory.net/rapid"
)

var q0 = time.Date(2026, 11, 2, 9, 0, 0, 0, time.UTC)

// queued makes a row: seen says when it was first seen, since when it became
// what it is, both in seconds.
func queued(id string, st state.State, seen, since int, window string) Row {
	return Row{SessionID: id, SeatID: "seat-" + id, State: st, NeedsYou: st.NeedsYou(), Unseen: st == state.Idle,
		FirstSeen: q0.Add(time.Duration(seen) * time.Second), Since: q0.Add(time.Duration(since) * time.Second),
		Pane: event.Terminal{Kind: "zellij", ID: window + "," + id}}
}

// office is a busy desk: p and q wait, a, b and c are done, f failed, w works
// and z is set aside.
func office() []Row {
	return []Row{
		queued("c", state.Idle, 1, 50, "left"),
		queued("p", state.Permission, 2, 40, "right"),
		queued("w", state.Working, 3, 5, "left"),
		queued("a", state.Idle, 4, 10, "right"),
		queued("q", state.Question, 5, 20, "left"),
		queued("z", state.Backburned, 6, 1, "left"),
		queued("b", state.Idle, 7, 30, "left"),
		queued("f", state.Failed, 8, 35, "right"),
	}
}

// visits presses next until it comes around.
func visits(q Queue, rows []Row) string {
	var out []string
	at := ""
	for range len(rows) + 1 {
		r, ok := q.Next(rows, at)
		if !ok || slices.Contains(out, r.SessionID) {
			break
		}
		out = append(out, r.SessionID)
		at = r.SessionID
	}
	return strings.Join(out, " ")
}

// Row A5, DESIGN.md section 7.
func TestQueueModes(t *testing.T) {
	for _, c := range []struct {
		q    Queue
		want string
	}{
		{Queue{}, "a q b f p c"},
		{Queue{Mode: Fair}, "a q b f p c"},
		{Queue{Mode: Prio}, "c p f b q a"},
		{Queue{Mode: Static}, "c p a q b f"},
		{Queue{Mode: Grouped}, "c q b p a f"},
		{Queue{Mode: Static, PermissionFirst: true}, "c p a q b f"},
		{Queue{Mode: Grouped, PermissionFirst: true}, "c q b p a f"},
	} {
		if got := visits(c.q, office()); got != c.want {
			t.Errorf("%+v visits %q, want %q", c.q, got, c.want)
		}
	}
}

// With permission first, what waits comes before what is only done, also for
// a user who is in the middle of the done ones.
func TestPermissionFirst(t *testing.T) {
	for _, c := range []struct {
		mode  Mode
		order string
	}{
		{Fair, "q p a b f c"},
		{Prio, "p q c f b a"},
	} {
		q := Queue{Mode: c.mode, PermissionFirst: true}
		rows := office()
		if got := visitOrder(q, rows); got != c.order {
			t.Errorf("%s: order %q, want %q", c.mode, got, c.order)
		}
		for _, from := range []string{"a", "b", "c", "w", "", "gone"} {
			if r, _ := q.Next(rows, from); string(r.SessionID) != c.order[:1] {
				t.Errorf("%s: next from %q is %s, want %s", c.mode, from, r.SessionID, c.order[:1])
			}
		}
	}
}

func visitOrder(q Queue, rows []Row) string {
	var out []string
	for _, r := range q.After(rows, "") {
		out = append(out, r.SessionID)
	}
	return strings.Join(out, " ")
}

// A session that becomes idle goes to the end in fair and to the front in
// prio, and stays where it was in the others.
func TestBecomingIdleMovesTheRow(t *testing.T) {
	for mode, want := range map[Mode]string{Fair: "a q b f p c w", Prio: "w c p f b q a", Static: "c p w a q b f", Grouped: "c w q b p a f"} {
		rows := office()
		rows[2].State, rows[2].Unseen, rows[2].Since = state.Idle, true, q0.Add(time.Minute)
		if got := visitOrder(Queue{Mode: mode}, rows); got != want {
			t.Errorf("%s: %q, want %q", mode, got, want)
		}
	}
}

// Looking at a session takes it out of the queue, and the cycle goes on from
// its place.
func TestCycleGoesOnFromASeenSession(t *testing.T) {
	rows := office()
	for i := range rows {
		if rows[i].SessionID == "b" {
			rows[i].Unseen = false
		}
	}
	q := Queue{Mode: Static}
	if r, _ := q.Next(rows, "b"); r.SessionID != "f" {
		t.Errorf("next after b is %s, want f", r.SessionID)
	}
	if r, _ := q.Prev(rows, "seat-b"); r.SessionID != "q" {
		t.Errorf("prev before b is %s, want q", r.SessionID)
	}
	if r, _ := q.Last(rows, "f"); r.SessionID != "q" {
		t.Errorf("last is %s, want q", r.SessionID)
	}
	if r, _ := q.Next(rows, "w"); r.SessionID != "c" {
		t.Errorf("next from a working session is %s, want the first, c", r.SessionID)
	}
}

func TestGroupedByTheWindowThatIsGiven(t *testing.T) {
	q := Queue{Mode: Grouped, Window: func(r *Row) string { return map[bool]string{true: "x", false: "y"}[r.SessionID < "c"] }}
	if got := visitOrder(q, office()); got != "c p q f a b" {
		t.Errorf("order %q", got)
	}
}

func TestNobodyWantsYou(t *testing.T) {
	rows := office()[2:3]
	for _, q := range []Queue{{}, {Mode: Grouped}} {
		if r, ok := q.Next(rows, ""); ok {
			t.Errorf("next is %s", r.SessionID)
		}
	}
	alone := office()[1:2]
	if r, ok := (Queue{}).Next(alone, "p"); ok {
		t.Errorf("next of the only one is %s", r.SessionID)
	}
}

// In every mode the order does not depend on how the rows came, next and prev
// undo each other, and a cycle visits everybody who wants the user once.
func TestQueueProperties(t *testing.T) {
	states := rapid.SampledFrom(state.States[:])
	rapid.Check(t, func(t *rapid.T) {
		var rows []Row
		for i := range rapid.IntRange(0, 12).Draw(t, "rows") {
			r := queued(fmt.Sprint(i), states.Draw(t, "state"), rapid.IntRange(0, 5).Draw(t, "seen"), rapid.IntRange(0, 5).Draw(t, "since"), rapid.SampledFrom([]string{"x", "y", "z"}).Draw(t, "window"))
			r.Unseen = r.Unseen && rapid.Bool().Draw(t, "unseen")
			rows = append(rows, r)
		}
		q := Queue{Mode: rapid.SampledFrom(Modes[:]).Draw(t, "mode"), PermissionFirst: rapid.Bool().Draw(t, "first")}
		other := rapid.Permutation(rows).Draw(t, "order")
		if a, b := visitOrder(q, rows), visitOrder(q, other); a != b {
			t.Fatalf("%q and %q", a, b)
		}
		want := 0
		for i := range rows {
			if q.Wants(&rows[i]) {
				want++
			}
		}
		if got := len(q.After(rows, "")); got != want {
			t.Fatalf("%d of %d are visited", got, want)
		}
		q.PermissionFirst = false
		for _, r := range q.After(rows, "") {
			next, ok := q.Next(rows, r.SessionID)
			if !ok {
				continue
			}
			if back, _ := q.Prev(rows, next.SessionID); back.SessionID != r.SessionID {
				t.Fatalf("prev of next of %s is %s", r.SessionID, back.SessionID)
			}
		}
	})
}
