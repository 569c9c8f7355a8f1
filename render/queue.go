package render

import (
	"cmp"
	"path"
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
)

// Modes lists the queue modes.
var Modes = [...]Mode{Fair, Prio, Static, Grouped}

// Queue orders rows and finds the next one that wants the user. It has no state: the session
// that the user is in, and when each was last looked at, determine the position in a round.
type Queue struct {
	Mode Mode // the zero value is Fair
	// PermissionFirst puts permissions and questions first in fair and prio.
	PermissionFirst bool
	// All also visits the idle sessions that were looked at.
	All bool
	// Pins are projects that come before others of their group (Arrange).
	Pins []string
	// Window returns the terminal window that a row is in, for Grouped; nil uses the row
	// itself (Row.Window).
	Window func(*Row) string
}

// Wants reports whether next and prev visit r: it needs the user, or its turn ended and the
// user has not looked.
func (q Queue) Wants(r *Row) bool { return r.NeedsYou || r.Unseen || q.All && r.State == state.Idle }

// Order returns rows in the queue's order. Rows that no longer want the user keep a place, so
// that a cycle can continue from them.
func (q Queue) Order(rows []Row) []Row { return q.Grouped(pointers(rows), nil, false) }

// Arrange returns rows in the order of lists and screens: by need, then by group; within a
// group pinned projects first, then in the queue's order.
func (q Queue) Arrange(rows []Row) []Row { return q.Grouped(pointers(rows), nil, true) }

// Grouped sorts rows, and returns them, in the queue's order, those of a group together, in
// the groups' order (nil for none); with needs in Arrange's order.
func (q Queue) Grouped(rows []*Row, groups func(a, b *Row) int, needs bool) []Row {
	order := q.comparer(rows)
	slices.SortStableFunc(rows, func(a, b *Row) int {
		if groups != nil {
			if n := groups(a, b); n != 0 {
				return n
			}
		}
		if needs {
			n := cmp.Or(cmp.Compare(a.Group.Place(), b.Group.Place()), cmp.Compare(q.pin(a), q.pin(b)))
			if n != 0 {
				return n
			}
		}
		return order(a, b)
	})
	return taken(rows)
}

func (q Queue) comparer(rows []*Row) func(a, b *Row) int {
	opened := q.opened(rows)
	return func(a, b *Row) int {
		if q.leads() && urgent(a) != urgent(b) {
			if urgent(a) {
				return -1
			}
			return 1
		}
		if n := q.byMode(a, b, opened); n != 0 {
			return n
		}
		return cmp.Or(strings.Compare(a.SeatID, b.SeatID), strings.Compare(a.Record(), b.Record()))
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
	fresh, old := visited(q.candidates(rows, from))
	at := q.place(rows, from)
	if at != nil && !(q.leads() && !urgent(at) && slices.ContainsFunc(fresh, func(r Row) bool { return urgent(&r) })) {
		fresh = rotate(fresh, q.split(fresh, at, rows))
	}
	return slices.Concat(fresh, old)
}

// Before returns the rows to visit before from, in order: backwards through the queue, whether
// looked at or not.
func (q Queue) Before(rows []Row, from string) []Row {
	list := q.candidates(rows, from)
	if at := q.place(rows, from); at != nil {
		list = rotate(list, q.split(list, at, rows))
	}
	slices.Reverse(list)
	return list
}

// FromEnd returns the queue from its end, without from.
func (q Queue) FromEnd(rows []Row, from string) []Row {
	list := q.candidates(rows, from)
	slices.Reverse(list)
	return list
}

// candidates returns the rows that want the user, without from, in order.
func (q Queue) candidates(rows []Row, from string) []Row {
	return slices.DeleteFunc(q.Order(rows), func(r Row) bool { return !q.Wants(&r) || r.is(from) })
}

// visited splits list into the rows that were not looked at since they came to want the user,
// and the others, the one looked at longest ago first.
func visited(list []Row) (fresh, old []Row) {
	for _, r := range list {
		if r.looked.Before(r.Since) {
			fresh = append(fresh, r)
		} else {
			old = append(old, r)
		}
	}
	slices.SortStableFunc(old, func(a, b Row) int { return a.looked.Compare(b.looked) })
	return fresh, old
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

// split returns how many rows of the ordered list come before at.
func (q Queue) split(list []Row, at *Row, rows []Row) int {
	n, _ := slices.BinarySearchFunc(pointers(list), at, q.comparer(pointers(rows)))
	return n
}

// leads reports whether waiting sessions come first.
func (q Queue) leads() bool {
	return q.PermissionFirst && q.Mode != Static && q.Mode != Grouped
}

// urgent reports whether the agent waits in the middle of its turn.
func urgent(r *Row) bool { return r.State.Asks() }

func (q Queue) byMode(a, b *Row, opened map[string]time.Time) int {
	switch q.Mode {
	case Prio:
		return b.Since.Compare(a.Since)
	case Static:
		return a.FirstSeen.Compare(b.FirstSeen)
	case Grouped:
		x, y := q.window(a), q.window(b)
		return cmp.Or(opened[x].Compare(opened[y]), strings.Compare(x, y), a.FirstSeen.Compare(b.FirstSeen))
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

// pin returns the index of a row's project among the pins, their number for none of them.
func (q Queue) pin(r *Row) int {
	for i, pattern := range q.Pins {
		is, _ := path.Match(pattern, r.Project)
		if !is && r.Git != nil {
			is, _ = path.Match(pattern, r.Git.Repo)
		}
		if is {
			return i
		}
	}
	return len(q.Pins)
}

// is reports whether id, a record or a seat, identifies the row.
func (r *Row) is(id string) bool { return id != "" && (r.Record() == id || r.SeatID == id) }

func rotate(list []Row, n int) []Row { return slices.Concat(list[n:], list[:n]) }
