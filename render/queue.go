package render

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"beckon/state"
)

// Mode is the order in which next and prev visit the sessions that want you
// (row A5, DESIGN.md section 7).
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

// Queue orders rows and finds the next one that wants the user. It is a value
// without state: the place in the cycle is the session the user sits in.
type Queue struct {
	Mode Mode // the zero value is Fair
	// PermissionFirst puts permission and question ahead in fair and prio.
	PermissionFirst bool
	// Window names the terminal window a row sits in, for Grouped; nil takes
	// what the row itself tells (Row.Window).
	Window func(*Row) string
}

// Wants reports whether next and prev visit r: it needs the user, or its turn
// ended and was not looked at.
func (q Queue) Wants(r *Row) bool { return r.NeedsYou || r.Unseen }

// Order returns rows in the queue's order. Rows that no longer want the user
// keep a place among the others, so that a cycle can go on from them.
func (q Queue) Order(rows []Row) []Row {
	out := slices.Clone(rows)
	slices.SortStableFunc(out, q.comparer(rows))
	return out
}

// comparer returns the order of rows.
func (q Queue) comparer(rows []Row) func(a, b Row) int {
	opened := q.opened(rows)
	return func(a, b Row) int {
		return cmp.Or(q.byUrgency(&a, &b), q.byMode(&a, &b, opened), cmp.Compare(a.SeatID, b.SeatID), cmp.Compare(a.SessionID, b.SessionID))
	}
}

// Next returns the first row after from that wants the user, from itself left
// out; rows are cycled. Without from (empty, or a row that is at work) it is
// the first of the queue. With PermissionFirst, a session that waits comes
// before any that does not, wherever the user is in the cycle.
func (q Queue) Next(rows []Row, from string) (Row, bool) { return first(q.After(rows, from)) }

// Prev is Next, backwards.
func (q Queue) Prev(rows []Row, from string) (Row, bool) { return first(q.Before(rows, from)) }

// Last returns the end of the queue, from left out.
func (q Queue) Last(rows []Row, from string) (Row, bool) {
	list := q.candidates(rows, from)
	slices.Reverse(list)
	return first(list)
}

// After returns what Next would try, in order: a caller passes over those
// whose pane is gone.
func (q Queue) After(rows []Row, from string) []Row {
	list := q.candidates(rows, from)
	at := q.place(rows, from)
	if at == nil || q.leads() && !urgent(at) && slices.ContainsFunc(list, func(r Row) bool { return urgent(&r) }) {
		return list
	}
	return rotate(list, q.split(list, at, rows))
}

// Before returns what Prev would try, in order.
func (q Queue) Before(rows []Row, from string) []Row {
	list := q.candidates(rows, from)
	if at := q.place(rows, from); at != nil {
		list = rotate(list, q.split(list, at, rows))
	}
	slices.Reverse(list)
	return list
}

// candidates returns the rows that want the user, from left out, in order.
func (q Queue) candidates(rows []Row, from string) []Row {
	return slices.DeleteFunc(q.Order(rows), func(r Row) bool { return !q.Wants(&r) || r.is(from) })
}

// place returns the row from, if it has a place in the cycle: one that works
// was just answered, and the queue begins anew.
func (q Queue) place(rows []Row, from string) *Row {
	i := slices.IndexFunc(rows, func(r Row) bool { return r.is(from) })
	if i < 0 || !(rows[i].NeedsYou || rows[i].State == state.Idle) {
		return nil
	}
	return &rows[i]
}

// split returns how many of list, which is in order, come before at.
func (q Queue) split(list []Row, at *Row, rows []Row) int {
	compare := q.comparer(rows)
	n, _ := slices.BinarySearchFunc(list, *at, compare)
	return n
}

// leads reports whether the waiting sessions are put ahead.
func (q Queue) leads() bool {
	return q.PermissionFirst && q.Mode != Static && q.Mode != Grouped
}

func (q Queue) byUrgency(a, b *Row) int {
	if !q.leads() || urgent(a) == urgent(b) {
		return 0
	}
	if urgent(a) {
		return -1
	}
	return 1
}

// urgent reports whether the agent waits in the middle of its turn.
func urgent(r *Row) bool { return r.State == state.Permission || r.State == state.Question }

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

// opened returns when each terminal window was first seen to hold a session.
func (q Queue) opened(rows []Row) map[string]time.Time {
	if q.Mode != Grouped {
		return nil
	}
	first := map[string]time.Time{}
	for i := range rows {
		w, at := q.window(&rows[i]), rows[i].FirstSeen
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

// Window names the terminal window the row sits in, as far as its terminal's
// ids tell: a tmux server, a kitty or WezTerm process, a Zellij or screen
// session. A row that tells nothing is a window of its own.
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

// is reports whether id names the row.
func (r *Row) is(id string) bool { return id != "" && (r.SessionID == id || r.SeatID == id) }

// rotate moves the first n of list to its end.
func rotate(list []Row, n int) []Row { return slices.Concat(list[n:], list[:n]) }

func first(list []Row) (Row, bool) {
	if len(list) == 0 {
		return Row{}, false
	}
	return list[0], true
}
