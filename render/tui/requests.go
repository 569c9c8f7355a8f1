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

// requestsMsg is all open requests, the oldest first.
type requestsMsg []card.Request

// drawn is the request on the screen, and how much of it: a key answers this one, whatever
// arrived since.
type drawn struct {
	of    *card.Request // nil for none
	width int
	first int // the panel's line that it begins at
	seen  int // its lines that were on the screen, without a gap
	since time.Time
	ends  struct{ card, always int } // lines of the call, and with the rules to choose from
}

// readTime is how long something must have been on the screen before a key counts for it: the
// time that a terminal may take to draw, and a finger to stop.
const readTime = 500 * time.Millisecond

// The least size of a screen on which a request can be read.
const minAnswerWidth, minAnswerHeight = 24, 8

// asked returns the request of a row's session, nil for none.
func (m *model) asked(r *render.Row) *card.Request {
	return m.requestOf(r, func(k request.Kind) bool { return k != request.Reply })
}

func (m *model) requestOf(r *render.Row, kind func(request.Kind) bool) *card.Request {
	if r == nil || r.Remote != nil {
		return nil
	}
	i := slices.IndexFunc(m.requests, func(o card.Request) bool { return o.Record == r.Record() && kind(o.Kind) })
	if i < 0 {
		return nil
	}
	return &m.requests[i]
}

var cardRole = map[card.Kind]role{card.Head: strong, card.Note: dim, card.Add: run, card.Delete: fault, card.Hunk: pack}

// request writes the whole request: a line that does not fit continues in the next, after a
// broken bar.
func (s *sheet) request(o *card.Request) {
	c := &o.Card
	d := drawn{of: o, width: s.width, first: len(s.lines)}
	if was := s.m.drawn.of; was == nil || was.ID != o.ID {
		s.m.peekTop = 0
	}
	add := func(bar, on string, as role, text string) {
		for part := range strings.SplitSeq(ansi.Hardwrap(text, max(1, s.width-term.Width(bar)), true), "\n") {
			s.lines = append(s.lines, s.m.pal.paint(faint, bar, false)+s.m.pal.paint(as, part, false))
			bar = on
		}
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
	d.ends.card = len(s.lines) - d.first
	for i, a := range c.Always {
		key := "a"
		if len(c.Always) > 1 {
			key = fmt.Sprintf("a %d", i+1)
		}
		add(key+": ", "   ", text, a)
	}
	d.ends.always = len(s.lines) - d.first
	s.m.drawing = d
}

// visible records which part of the request is on the screen: the panel's lines from top to end.
// What was skipped does not count, nor what follows it.
func (s *sheet) visible(top, end int) {
	m, d := s.m, &s.m.drawing
	if d.of == nil {
		return
	}
	was := &m.drawn
	if was.of != nil && was.of.ID == d.of.ID && was.of.Digest == d.of.Digest && was.width == d.width &&
		reflect.DeepEqual(was.of.Card, d.of.Card) {
		d.seen, d.since = was.seen, was.since
	} else {
		d.since = m.wall()
	}
	if now := min(end-d.first, d.ends.always); top-d.first <= d.seen && now > d.seen && !m.tooSmall() {
		d.seen, d.since = now, m.wall()
	}
}

// tooSmall reports whether lines would be cut, so that nothing counts as shown.
func (m *model) tooSmall() bool { return m.width < minAnswerWidth || m.height < minAnswerHeight }
