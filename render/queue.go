package render

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"beckon/state"
)

// Mode is the order in which next and prev visit the sessions that want the user.
type Mode string

// The queue modes.
const (
	Fair    Mode = "fair"    // a session that becomes idle goes to the end
	Prio    Mode = "prio"    // it goes to the front
	Static  Mode = "static"  // in the order the seats were first seen
	Grouped Mode = "grouped" // static, one terminal window after the other
	Labels  Mode = "labels"  // static, one label after the other
)

// Keeps reports whether sessions keep their places when they come to need the user.
func (m Mode) Keeps() bool { return m == Static || m == Grouped || m == Labels }

// Queue orders rows and finds the next one that wants the user. It has no state: the session
// that the user is in, and when each was last looked at, determine the position in a round.
type Queue struct {
	Mode Mode // the zero value is Fair
	// PermissionFirst puts permissions and questions first in fair and prio.
	PermissionFirst bool
	// All also visits the idle sessions that were looked at.
	All bool
	// Window returns the terminal window that a row is in, for Grouped; nil uses the row
	// itself (Row.Window).
	Window func(*Row) string
}

// Wants reports whether next and prev visit r: it needs the user, or its turn ended and the
// user has not looked.
func (q Queue) Wants(r *Row) bool { return r.NeedsYou || r.Unseen || q.All && r.State == state.Idle }

// Order returns rows in the queue's order. Rows that no longer want the user keep a place, so
// that a cycle can continue from them.
func (q Queue) Order(rows []Row) []Row { return q.Grouped(pointers(rows), false) }

// Arrange returns rows in the order of lists and screens: by group, within one in the queue's order.
func (q Queue) Arrange(rows []Row) []Row { return q.Grouped(pointers(rows), true) }

// Grouped sorts rows, and returns them: in Arrange's order with groups, else in Order's.
func (q Queue) Grouped(rows []*Row, groups bool) []Row {
	order := q.comparer(rows)
	slices.SortStableFunc(rows, func(a, b *Row) int {
		if n := cmp.Compare(a.Group.Place(), b.Group.Place()); groups && n != 0 {
			return n
		}
		return order(a, b)
	})
	sorted := make([]Row, len(rows))
	for i, r := range rows {
		sorted[i] = *r
	}
	return sorted
}

func (q Queue) comparer(rows []*Row) func(a, b *Row) int {
	opened := q.opened(rows)
	return func(a, b *Row) int {
		if x, y := a.State.Asks(), b.State.Asks(); q.leads() && x != y {
			if x {
				return -1
			}
			return 1
		}
		return cmp.Or(q.byMode(a, b, opened), strings.Compare(a.SeatID, b.SeatID), strings.Compare(a.Record(), b.Record()))
	}
}

// After returns the rows to visit after from, in order: a caller skips those whose pane is
// gone. A round visits every row once: first those that the user has not looked at since they
// came to need them, then the others, the one looked at longest ago first.
//
// Among those not looked at the cycle continues from the place of from. Without one (empty, or
// a working row) it starts anew; so it does with PermissionFirst when another row waits and
// from does not.
func (q Queue) After(rows []Row, from string) []Row {
	var fresh, old []Row
	anew, at := false, q.place(rows, from)
	for _, r := range q.candidates(rows, from) {
		if !r.looked.Before(r.Since) {
			old = append(old, r)
			continue
		}
		fresh = append(fresh, r)
		anew = anew || at != nil && q.leads() && !at.State.Asks() && r.State.Asks()
	}
	slices.SortStableFunc(old, func(a, b Row) int { return a.looked.Compare(b.looked) })
	if !anew {
		fresh = q.from(fresh, at, rows)
	}
	return slices.Concat(fresh, old)
}

// Before returns the rows to visit before from, in order: backwards through the queue, whether
// looked at or not.
func (q Queue) Before(rows []Row, from string) []Row {
	list := q.from(q.candidates(rows, from), q.place(rows, from), rows)
	slices.Reverse(list)
	return list
}

// FromEnd returns the queue from its end, without from.
func (q Queue) FromEnd(rows []Row, from string) []Row {
	list := q.candidates(rows, from)
	slices.Reverse(list)
	return list
}

func (q Queue) candidates(rows []Row, from string) []Row {
	return slices.DeleteFunc(q.Order(rows), func(r Row) bool { return !q.Wants(&r) || r.is(from) })
}

// place returns the row from, if it has a place in the cycle: one that works was just
// answered, so the cycle starts anew.
func (q Queue) place(rows []Row, from string) *Row {
	i := slices.IndexFunc(rows, func(r Row) bool { return r.is(from) })
	if i < 0 || !(rows[i].NeedsYou || rows[i].State == state.Idle) {
		return nil
	}
	return &rows[i]
}

// from returns an ordered list from the place of at on, and then what is before it.
func (q Queue) from(list []Row, at *Row, rows []Row) []Row {
	if at == nil {
		return list
	}
	n, _ := slices.BinarySearchFunc(pointers(list), at, q.comparer(pointers(rows)))
	return slices.Concat(list[n:], list[:n])
}

func (q Queue) leads() bool { return q.PermissionFirst && !q.Mode.Keeps() }

func (q Queue) byMode(a, b *Row, opened map[string]time.Time) int {
	switch q.Mode {
	case Prio:
		return b.Since.Compare(a.Since)
	case Static:
		return a.FirstSeen.Compare(b.FirstSeen)
	case Grouped:
		x, y := q.window(a), q.window(b)
		return cmp.Or(opened[x].Compare(opened[y]), strings.Compare(x, y), a.FirstSeen.Compare(b.FirstSeen))
	case Labels:
		const last = "\U0010ffff" // for rows without a label
		return cmp.Or(strings.Compare(cmp.Or(a.Label, last), cmp.Or(b.Label, last)), a.FirstSeen.Compare(b.FirstSeen))
	}
	return a.Since.Compare(b.Since)
}

// opened returns when each terminal window was first seen with a session.
func (q Queue) opened(rows []*Row) map[string]time.Time {
	if q.Mode != Grouped {
		return nil
	}
	first := map[string]time.Time{}
	for _, r := range rows {
		w, at := q.window(r), r.FirstSeen
		if t, ok := first[w]; !ok || at.Before(t) {
			first[w] = at
		}
	}
	return first
}

func (q Queue) window(r *Row) string {
	if q.Window != nil {
		return q.Window(r)
	}
	return r.Window()
}

// Window returns the terminal window that the row is in, as far as its terminal's ids say: a
// tmux server, a kitty or WezTerm process, a Zellij or screen session. A row without such ids
// is a window of its own.
func (r *Row) Window() string {
	p := &r.Pane
	switch {
	case p.Kind == "tmux":
		return "tmux:" + cmp.Or(p.Tmux.Session, p.Tmux.Socket)
	case strings.Contains(p.ID, ","):
		return p.Kind + ":" + p.ID[:strings.LastIndexByte(p.ID, ',')]
	case p.ID != "":
		return p.Kind + ":" + p.ID
	}
	return r.Host + ":" + r.SeatID + ":" + r.SessionID
}

// is reports whether id, a record or a seat, identifies the row.
func (r *Row) is(id string) bool { return id != "" && (r.Record() == id || r.SeatID == id) }
