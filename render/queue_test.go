package render

import (
	"cmp"
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

// queued returns a row that was first seen and last changed at those times, in seconds.
func queued(id string, st state.State, seen, since int, window string) Row {
	return Row{SessionID: id, SeatID: "seat-" + id, State: st, NeedsYou: st.NeedsYou(), Unseen: st == state.Idle,
		FirstSeen: q0.Add(time.Duration(seen) * time.Second), Since: q0.Add(time.Duration(since) * time.Second),
		Pane: event.Terminal{Kind: "zellij", ID: window + "," + id}}
}

// office returns the rows of a busy user: p and q wait, a, b and c are done, f failed, w works
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

// desk is a user who presses keys in front of rows.
type desk struct {
	q    Queue
	rows []Row
	at   string
	now  time.Time
}

// press goes to the first row that a key leads to, and looks at it.
func (d *desk) press(key func([]Row, string) []Row) string {
	list := key(d.rows, d.at)
	if len(list) == 0 {
		return ""
	}
	d.at = list[0].SessionID
	d.now = cmp.Or(d.now, q0.Add(time.Hour)).Add(time.Second)
	r := d.row(d.at)
	r.looked, r.Unseen = d.now, false
	return d.at
}

func (d *desk) row(id string) *Row {
	return &d.rows[slices.IndexFunc(d.rows, func(r Row) bool { return r.SessionID == id })]
}

// visits presses next n times.
func (d *desk) visits(n int) string {
	var out []string
	for range n {
		out = append(out, d.press(d.q.After))
	}
	return strings.Join(out, " ")
}

var modes = []Mode{Fair, Prio, Static, Grouped, Labels}

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
		{Queue{Mode: Labels}, "c p a q b f"},
		{Queue{Mode: Static, PermissionFirst: true}, "c p a q b f"},
		{Queue{Mode: Grouped, PermissionFirst: true}, "c q b p a f"},
	} {
		if got := (&desk{q: c.q, rows: office()}).visits(6); got != c.want {
			t.Errorf("%+v visits %q, want %q", c.q, got, c.want)
		}
	}
}

// Sorting ten thousand rows is most of the work for the first screen of a fleet, so rows are
// compared without being copied.
func TestRowsAreNotCopiedToBeCompared(t *testing.T) {
	var rows []Row
	for i := range 200 {
		rows = append(rows, queued(fmt.Sprint(i), state.States[i%len(state.States)], i, i*7%200, "left"))
	}
	if n := testing.AllocsPerRun(5, func() { Queue{}.Arrange(rows) }); n > 20 {
		t.Errorf("Arrange of %d rows allocates %.0f times", len(rows), n)
	}
}

// With permission first, waiting rows come before those that are only done, even for a user in
// the middle of the done ones.
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
			if r := q.After(rows, from)[0]; r.SessionID != c.order[:1] {
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

// A session that becomes idle goes to the end in fair and to the front in prio, and keeps its
// place in the other modes.
func TestBecomingIdleMovesTheRow(t *testing.T) {
	for mode, want := range map[Mode]string{Fair: "a q b f p c w", Prio: "w c p f b q a", Static: "c p w a q b f", Grouped: "c w q b p a f"} {
		rows := office()
		rows[2].State, rows[2].Unseen, rows[2].Since = state.Idle, true, q0.Add(time.Minute)
		if got := visitOrder(Queue{Mode: mode}, rows); got != want {
			t.Errorf("%s: %q, want %q", mode, got, want)
		}
	}
}

// Looking at a session takes it out of the queue, and the cycle continues from its place.
func TestCycleGoesOnFromASeenSession(t *testing.T) {
	rows := office()
	for i := range rows {
		if rows[i].SessionID == "b" {
			rows[i].Unseen = false
		}
	}
	q := Queue{Mode: Static}
	if r := q.After(rows, "b")[0]; r.SessionID != "f" {
		t.Errorf("next after b is %s, want f", r.SessionID)
	}
	if r := q.Before(rows, "seat-b")[0]; r.SessionID != "q" {
		t.Errorf("prev before b is %s, want q", r.SessionID)
	}
	if r := q.FromEnd(rows, "f")[0]; r.SessionID != "q" {
		t.Errorf("last is %s, want q", r.SessionID)
	}
	if r := q.After(rows, "w")[0]; r.SessionID != "c" {
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
		if list := q.After(rows, ""); len(list) > 0 {
			t.Errorf("next is %s", list[0].SessionID)
		}
	}
	alone := office()[1:2]
	if list := (Queue{}).After(alone, "p"); len(list) > 0 {
		t.Errorf("next of the only one is %s", list[0].SessionID)
	}
}

// In every mode the order does not depend on the order of the input, next and prev undo each
// other, and a cycle visits every row that needs the user once.
func TestQueueProperties(t *testing.T) {
	states := rapid.SampledFrom(state.States[:])
	rapid.Check(t, func(t *rapid.T) {
		var rows []Row
		for i := range rapid.IntRange(0, 12).Draw(t, "rows") {
			r := queued(fmt.Sprint(i), states.Draw(t, "state"), rapid.IntRange(0, 5).Draw(t, "seen"), rapid.IntRange(0, 5).Draw(t, "since"), rapid.SampledFrom([]string{"x", "y", "z"}).Draw(t, "window"))
			r.Unseen = r.Unseen && rapid.Bool().Draw(t, "unseen")
			rows = append(rows, r)
		}
		q := Queue{Mode: rapid.SampledFrom(modes).Draw(t, "mode"), PermissionFirst: rapid.Bool().Draw(t, "first")}
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
			next := q.After(rows, r.SessionID)
			if len(next) == 0 {
				continue
			}
			if back := q.Before(rows, next[0].SessionID)[0]; back.SessionID != r.SessionID {
				t.Fatalf("prev of next of %s is %s", r.SessionID, back.SessionID)
			}
		}
	})
}

// d waits for a permission; a, b and c are done.
func oneWaits() []Row {
	return []Row{
		queued("a", state.Idle, 1, 10, "x"), queued("b", state.Idle, 2, 20, "x"), queued("c", state.Idle, 3, 30, "x"),
		queued("d", state.Permission, 4, 40, "x"),
	}
}

// A waiting session is visited once per round, like the others, although it still waits and
// comes first.
func TestRoundVisitsEachOnce(t *testing.T) {
	for _, nowhere := range []bool{false, true} {
		d := &desk{q: Queue{PermissionFirst: true}, rows: oneWaits()}
		var got string
		for range 4 {
			got += d.press(d.q.After)
			if nowhere { // no terminal shows where the user is
				d.at = ""
			}
		}
		if got != "dabc" {
			t.Errorf("a round visits %s, want dabc", got)
		}
	}
}

func TestAllGoesRoundTheIdleOnesToo(t *testing.T) {
	d := &desk{q: Queue{PermissionFirst: true, All: true}, rows: append(oneWaits(), queued("w", state.Working, 5, 50, "x"))}
	if got := d.visits(10); got != "d a b c d a b c d a" {
		t.Errorf("next visits %s", got)
	}
	if got := d.press(d.q.Before) + d.press(d.q.Before) + d.press(d.q.Before); got != "dcb" {
		t.Errorf("prev visits %s", got)
	}
	if got := d.press(d.q.FromEnd); got != "c" {
		t.Errorf("last is %s", got)
	}
}

// A need that arises during a round is visited before any row is visited again, and a waiting
// row before a done one.
func TestNewNeedInARound(t *testing.T) {
	d := &desk{q: Queue{PermissionFirst: true}, rows: oneWaits()}
	got := d.visits(2)
	d.now = d.now.Add(time.Minute)
	since := int(d.now.Sub(q0).Seconds())
	d.rows = append(d.rows, queued("e", state.Question, 5, since, "x"), queued("f", state.Idle, 6, since, "x"))
	d.row("a").State, d.row("a").NeedsYou, d.row("a").Since = state.Failed, true, d.now
	if got += " " + d.visits(7); got != "d a e b c a f d e" {
		t.Errorf("visited %s", got)
	}
}

// In any mode, whatever arises: no row is visited again while another has not been looked at,
// and the one looked at longest ago comes next.
func TestRoundProperties(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		d := &desk{q: Queue{Mode: rapid.SampledFrom(modes).Draw(t, "mode"), PermissionFirst: rapid.Bool().Draw(t, "first"), All: rapid.Bool().Draw(t, "all")}, rows: office()}
		for range rapid.IntRange(1, 30).Draw(t, "presses") {
			if rapid.Bool().Draw(t, "changes") {
				r := &d.rows[rapid.IntRange(0, len(d.rows)-1).Draw(t, "row")]
				s := rapid.SampledFrom([]state.State{state.Permission, state.Idle, state.Working}).Draw(t, "state")
				d.now = cmp.Or(d.now, q0.Add(time.Hour)).Add(time.Second)
				r.State, r.NeedsYou, r.Unseen, r.Since = s, s.NeedsYou(), s == state.Idle, d.now
			}
			was, from := slices.Clone(d.rows), d.at
			id := d.press(d.q.After)
			to := slices.IndexFunc(was, func(r Row) bool { return r.SessionID == id })
			for i := range was {
				r := &was[i]
				if !d.q.Wants(r) || r.is(from) || r.is(id) {
					continue
				}
				if id == "" {
					t.Fatalf("%s was not visited", r.SessionID)
				}
				fresh, visited := r.looked.Before(r.Since), !was[to].looked.Before(was[to].Since)
				if visited && (fresh || r.looked.Before(was[to].looked)) {
					t.Fatalf("%s was visited again before %s", id, r.SessionID)
				}
			}
		}
	})
}
