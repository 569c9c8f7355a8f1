package tui

import (
	"time"

	"beckon/render"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"
)

const paneEvery = time.Second

// paneMsg is what a session's pane shows, or why it cannot be read. turn is the
// turn of the livePane that asked for it: older ones are dropped.
type paneMsg struct {
	turn int
	text string
	err  error
}

// paneDueMsg says that the pane is to be read again.
type paneDueMsg struct{ turn int }

// livePane is the pane of the selected session, which the peek panel shows instead of
// what is known of it.
type livePane struct {
	on    bool
	turn  int // counts what was asked for
	known bool
	lines []string
	err   error
}

// toggleLive shows the selected session's pane in the peek panel, or no more.
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
	if m.remote(r) {
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
		s.lines = append(s.lines, ansi.Truncate(l, s.width, "…"))
	}
}
