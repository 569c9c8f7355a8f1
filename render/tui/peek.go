package tui

import (
	"cmp"
	"fmt"
	"strings"
	"time"

	"beckon/render"
	"beckon/render/term"
	"beckon/state"

	tea "charm.land/bubbletea/v2"
)

// peekLines draws the panel of the selected row, in the space that the layout gives it.
func (m *model) peekLines(l layout) []string {
	left, inner := " ", max(8, l.peekWidth-2)
	if l.side {
		left, inner = m.pal.paint(faint, "│", false)+" ", max(8, l.peekWidth-3)
	}
	var out []string
	height := l.peekHeight
	if !l.side {
		out = append(out, " "+m.pal.paint(faint, strings.Repeat("─", max(0, l.peekWidth-2)), false))
		height--
	}
	s := &sheet{m: m, width: inner}
	if r := m.current(); r != nil {
		m.peekHead(r, s)
		if m.live.on {
			s.pane(height - len(s.lines))
		} else {
			m.peekText(r, s)
		}
	}
	lines := s.lines
	m.peekTop = max(0, min(m.peekTop, len(lines)-height))
	for _, s := range pad(lines[m.peekTop:], height) {
		out = append(out, left+s)
	}
	end := min(m.peekTop+height, len(lines))
	if over := len(lines) - end; over > 0 && len(out) > 0 {
		out[len(out)-1] = left + m.pal.paint(dim, fmt.Sprintf("… %s more, PgDn", term.Plural(over+1, "line")), false)
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
func (s *sheet) part(title string, as role, body ...string) {
	if len(body) == 0 {
		return
	}
	s.lines = append(s.lines, "", s.m.pal.paint(dim, title, false))
	for _, b := range body {
		for _, l := range wrap(b, s.width-2) {
			s.lines = append(s.lines, "  "+s.m.pal.paint(as, l, false))
		}
	}
}

// peekHead writes which session it is, and its status.
func (m *model) peekHead(r *render.Row, s *sheet) {
	now := m.now()
	age := term.Age(now.Sub(r.Since))
	if !m.local.Still {
		m.wake(now.Add(steps(now.Sub(r.Since))))
	}
	s.lines = append(s.lines, m.pal.paint(stateRole(r.State), term.Glyph(r.State)+" "+m.word(r), false)+
		m.pal.paint(dim, " for "+age, false)+"  "+m.pal.paint(strong, term.Cut(name(r), s.width-30), false)+
		m.pal.paint(dim, " "+branch(r), false))
}

func (m *model) peekText(r *render.Row, s *sheet) {
	now := m.now()
	past := m.recent[keyOf(r)]
	if o := m.asked(r); o != nil && m.opt.Answer != nil {
		s.request(o)
	} else if r.Question != nil {
		q := *r.Question
		q.Plan = cmp.Or(past.Plan, q.Plan)
		s.lines = append(s.lines, "", s.m.pal.paint(dim, "it asks", false))
		s.details(term.Asked(&q))
	}
	v, known := m.seen(r)
	title := r.Title
	if known && v.Session.Prompt.Text != "" {
		title = v.Session.Prompt.Text
	}
	if title != "" {
		s.part("you asked", text, title)
	}
	if said := cmp.Or(past.Said, v.Session.Stop.Message); known && said != "" {
		s.part("it said last", text, said)
	}
	s.running(r, v, now)
	s.turns(past.Turns, now)
	s.lines = append(s.lines, "")
	s.details(append([]term.Detail{{Label: "session", Text: r.SessionID}}, term.Facts(r)...))
}

// details writes labelled texts.
func (s *sheet) details(list []term.Detail) {
	for _, d := range list {
		for _, l := range wrap(d.Text, s.width-10) {
			s.lines = append(s.lines, s.m.pal.paint(dim, term.Fit(d.Label, 10, false), false)+l)
			d.Label = ""
		}
	}
}

// running writes the open calls.
func (s *sheet) running(r *render.Row, v state.Seen, now time.Time) {
	var calls []string
	for _, a := range v.Session.Actors {
		for _, c := range a.Calls {
			line := cmp.Or(c.Summary, c.Name)
			if a.ID != "" {
				line = strings.TrimSpace(a.Type+" ") + "> " + line
			}
			calls = append(calls, clean(line)+", "+term.Age(now.Sub(c.At.Time())))
		}
	}
	if v.Session.ID == "" && r.Tool != nil {
		calls = append(calls, clean(r.Tool.Summary))
	}
	s.part("open calls", text, calls...)
}

func (s *sheet) turns(recent []state.Turn, now time.Time) {
	if len(recent) == 0 {
		return
	}
	s.lines = append(s.lines, "", s.m.pal.paint(dim, "recent turns", false))
	for _, t := range recent {
		who := "agent"
		if t.Actor == state.SpeakerUser {
			who = "you"
		}
		head := "  " + term.Fit(term.Age(now.Sub(t.At.Time())), 4, true) + "  " + term.Fit(who, 6, false)
		text := term.Cut(clean(t.Text), s.width-term.Width(head))
		s.lines = append(s.lines, s.m.pal.paint(dim, head, false)+text)
	}
}

const paneEvery = time.Second

// paneMsg is the text of a session's pane, or why it cannot be read. turn is the turn of the
// livePane that requested it: older ones are dropped.
type paneMsg struct {
	turn int
	text string
	err  error
}

// paneDueMsg means that the pane is to be read again.
type paneDueMsg struct{ turn int }

// livePane is the pane of the selected session, shown in the peek panel.
type livePane struct {
	on    bool
	turn  int // counts the requests
	known bool
	lines []string
	err   error
}

// toggleLive shows or hides the selected session's pane in the peek panel.
func (m *model) toggleLive() tea.Cmd {
	if m.opt.Pane == nil {
		return nil
	}
	m.live.on = !(m.live.on && m.peek)
	m.peek, m.peekTop = true, 0
	m.follow()
	return m.recall()
}

// readPane reads the pane of the selected session, while it is shown.
func (m *model) readPane() tea.Cmd {
	r := m.current()
	m.live.turn++
	if !m.live.on || !m.peek || r == nil {
		return nil
	}
	row, turn := *r, m.live.turn
	if r.Remote != nil {
		return func() tea.Msg { return paneMsg{turn: turn, err: errRemote} }
	}
	return func() tea.Msg {
		text, err := m.opt.Pane(row)
		return paneMsg{turn, text, err}
	}
}

func (m *model) tookPane(msg paneMsg) tea.Cmd {
	if msg.turn != m.live.turn {
		return nil
	}
	m.live.known, m.live.err, m.live.lines = true, msg.err, render.Lines(msg.text)
	return tea.Tick(paneEvery, func(time.Time) tea.Msg { return paneDueMsg{msg.turn} })
}

// pane writes the last lines of the selected session's pane, as many as fit.
func (s *sheet) pane(height int) {
	live := &s.m.live
	switch {
	case !live.known:
		return
	case live.err != nil:
		s.part("its pane", text, errorLine(live.err))
		return
	}
	for _, l := range live.lines[max(0, len(live.lines)-height):] {
		s.lines = append(s.lines, term.Cut(l, s.width))
	}
}
