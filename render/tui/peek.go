package tui

import (
	"cmp"
	"fmt"
	"strings"

	"beckon/render"
	"beckon/render/term"
	"beckon/state"
)

// peekLines draws the panel of the selected row, in the space that the layout gives it.
func (m *model) peekLines(l layout) []string {
	left, inner := " ", max(8, l.peekWidth-2)
	if l.side {
		left, inner = m.paint(dim, "│")+" ", max(8, l.peekWidth-3)
	}
	var out []string
	height := l.peekHeight
	if !l.side {
		out = append(out, " "+m.paint(dim, strings.Repeat("─", max(0, l.peekWidth-2))))
		height--
	}
	s := &sheet{m: m, width: inner}
	if r := m.current(); r != nil {
		m.peekText(r, s)
	}
	lines := s.lines
	m.peekTop = max(0, min(m.peekTop, len(lines)-height))
	for _, s := range pad(lines[m.peekTop:], height) {
		out = append(out, left+s)
	}
	end := min(m.peekTop+height, len(lines))
	if over := len(lines) - end; over > 0 && len(out) > 0 {
		out[len(out)-1] = left + m.paint(dim, fmt.Sprintf("… %s more, PgDn", term.Plural(over+1, "line")))
		end--
	}
	s.visible(m.peekTop, end)
	return out
}

// sheet collects the lines of the panel.
type sheet struct {
	m     *model
	width int
	lines []string
}

// part starts a part with its title, unless it is empty.
func (s *sheet) part(title string, body ...string) {
	if strings.Join(body, "") == "" {
		return
	}
	s.lines = append(s.lines, "", s.m.paint(dim, title))
	for _, b := range body {
		for _, l := range wrap(b, s.width-2) {
			s.lines = append(s.lines, "  "+l)
		}
	}
}

func (m *model) peekText(r *render.Row, s *sheet) {
	now := m.now()
	s.lines = append(s.lines, m.paint(term.Color(r.State), term.Glyph(r.State)+" "+m.word(r))+
		m.paint(dim, " for "+m.age(r.Since))+"  "+m.paint(strong, term.Cut(name(r), s.width-30))+
		m.paint(dim, " "+branch(r)))
	past := m.recent[keyOf(r)]
	if o := m.asked(r, false); o != nil && m.opt.Answer != nil {
		s.request(o)
	} else if r.Question != nil {
		q := *r.Question
		q.Plan = cmp.Or(past.Plan, q.Plan)
		s.lines = append(s.lines, "", s.m.paint(dim, "it asks"))
		s.details(term.Asked(&q))
	}
	known := m.seen(r).Session
	s.part("you asked", cmp.Or(known.Prompt.Text, r.Title))
	s.part("it said last", cmp.Or(past.Said, known.Stop.Message))
	var calls []string
	for _, a := range known.Actors {
		for _, c := range a.Calls {
			line := cmp.Or(c.Summary, c.Name)
			if a.ID != "" {
				line = strings.TrimSpace(a.Type+" ") + "> " + line
			}
			calls = append(calls, clean(line)+", "+term.Age(now.Sub(c.At.Time())))
		}
	}
	if known.ID == "" && r.Tool != nil {
		calls = append(calls, clean(r.Tool.Summary))
	}
	s.part("open calls", calls...)
	if len(past.Turns) > 0 {
		s.lines = append(s.lines, "", m.paint(dim, "recent turns"))
	}
	for _, t := range past.Turns {
		who := "agent"
		if t.Actor == state.SpeakerUser {
			who = "you"
		}
		head := "  " + term.Fit(term.Age(now.Sub(t.At.Time())), 4, true) + "  " + term.Fit(who, 6, false)
		s.lines = append(s.lines, m.paint(dim, head)+term.Cut(clean(t.Text), s.width-term.Width(head)))
	}
	s.lines = append(s.lines, "")
	s.details(append([]term.Detail{{Label: "session", Text: r.SessionID}}, term.Facts(r)...))
}

func (s *sheet) details(list []term.Detail) {
	for _, d := range list {
		for _, l := range wrap(d.Text, s.width-10) {
			s.lines = append(s.lines, s.m.paint(dim, term.Fit(d.Label, 10, false))+l)
			d.Label = ""
		}
	}
}
