package tui

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
	"time"

	"beckon/render"
	"beckon/render/card"
	"beckon/render/term"
	"beckon/state/request"

	"github.com/charmbracelet/x/ansi"
)

// offersMsg is all open requests, the oldest first.
type offersMsg []card.Request

// drawn is the request on the screen, and how much of it: a key answers this one, whatever
// arrived since.
type drawn struct {
	of    *card.Request // nil for none
	seen  place         // everything before it was on the screen
	since time.Time
	rest  int // the panel's first line that was not
	ends  struct{ card, always int }
}

// place is a byte of a row in the panel's part about a request.
type place struct{ row, off int }

func (p place) before(q place) bool { return p.row < q.row || p.row == q.row && p.off < q.off }

// span is the part of such a row that one line of the panel shows.
type span struct{ from, to place }

// readTime is how long something must have been on the screen before a key counts for it: the
// time that a terminal may take to draw, and a finger to stop.
const readTime = 500 * time.Millisecond

// Below these sizes lines would be cut, and nothing counts as shown.
const minAnswerWidth, minAnswerHeight = 24, 8

// asked returns the request of a row's session, nil for none.
func (m *model) asked(r *render.Row) *card.Request {
	return m.offerOf(r, func(k request.Kind) bool { return k != request.Reply })
}

func (m *model) offerOf(r *render.Row, kind func(request.Kind) bool) *card.Request {
	if r == nil || r.Remote != nil {
		return nil
	}
	i := slices.IndexFunc(m.offers, func(o card.Request) bool { return o.Record == r.Record() && kind(o.Kind) })
	if i < 0 {
		return nil
	}
	return &m.offers[i]
}

var cardRole = map[card.Kind]role{card.Head: strong, card.Note: dim, card.Add: run, card.Delete: fault, card.Hunk: pack}

// offer writes the whole request: a line that does not fit continues in the next, after a
// broken bar.
func (s *sheet) offer(o *card.Request) {
	c := &o.Card
	d := &drawn{of: o}
	if was := s.m.drawn.of; was == nil || was.ID != o.ID {
		s.m.peekTop = 0
	}
	rows := 0
	add := func(bar, on string, as role, text string) {
		from := place{row: rows}
		for _, part := range strings.Split(ansi.Hardwrap(text, max(1, s.width-term.Width(bar)), true), "\n") {
			to := place{rows, from.off + len(part)}
			if to.off == len(text) {
				to = place{row: rows + 1}
			}
			s.spans[len(s.lines)] = span{from, to}
			s.lines = append(s.lines, s.m.pal.paint(faint, bar, false)+s.m.pal.paint(as, part, false))
			from, bar = to, on
		}
		rows++
	}
	title := c.Title
	if c.Agent != "" {
		title += ", asked by its subagent " + c.Agent
	}
	add("", "", strong, title)
	where := []string{c.Dir, c.Branch, c.Host}
	add("", "", dim, strings.Join(slices.DeleteFunc(where, func(w string) bool { return w == "" }), "  "))
	for _, l := range c.Lines {
		add("│ ", "┊ ", cardRole[l.Kind], l.Text)
	}
	if !c.Whole {
		add("", "", alarm, "not all of it can be shown ("+c.Why+"): allow it at its session; d refuses it")
	}
	d.ends.card = rows
	for i, a := range c.Always {
		key := "a"
		if len(c.Always) > 1 {
			key = fmt.Sprintf("a %d", i+1)
		}
		add(key+": ", "   ", text, a)
	}
	d.ends.always = rows
	if s.m.drawing = d; s.m.width < minAnswerWidth || s.m.height < minAnswerHeight {
		clear(s.spans)
	}
}

// visible records which part of the request is on the screen: the panel's lines from top to end.
// What was skipped does not count, nor what follows it.
func (s *sheet) visible(top, end int) {
	m, d := s.m, s.m.drawing
	if d == nil {
		return
	}
	was := &m.drawn
	if was.of != nil && was.of.ID == d.of.ID && was.of.Digest == d.of.Digest && reflect.DeepEqual(was.of.Card, d.of.Card) {
		d.seen, d.since = was.seen, was.since
	} else {
		d.since = m.wall()
	}
	for i := top; i < end; i++ {
		if at, ok := s.spans[i]; ok && !d.seen.before(at.from) && d.seen.before(at.to) {
			d.seen, d.since = at.to, m.wall()
		}
	}
	d.rest = len(s.lines)
	for i := range s.lines {
		if at, ok := s.spans[i]; ok && d.seen.before(at.to) {
			d.rest = i
			break
		}
	}
}
