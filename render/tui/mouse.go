package tui

import tea "charm.land/bubbletea/v2"

// click selects the row under the pointer, then jumps; the right button peeks.
func (m *model) click(msg tea.MouseClickMsg) tea.Cmd {
	if m.help {
		m.help, m.prompt = false, nil
		return nil
	}
	i, ok := m.rowAt(msg.X, msg.Y)
	if !ok {
		return nil
	}
	again := i == m.cursor
	m.flash = ""
	m.choose(i)
	switch {
	case msg.Button == tea.MouseRight:
		m.peek = again && !m.peek || !again
		m.follow()
	case msg.Button == tea.MouseLeft && again:
		return m.jump()
	}
	return m.recall()
}

// rowAt returns the index of the row drawn at a position of the screen.
func (m *model) rowAt(x, y int) (int, bool) {
	l := m.layout()
	at := m.top + y - l.head
	if y < l.head || y >= l.head+l.body || x >= l.list || at >= len(m.entries) || m.entries[at].row < 0 {
		return 0, false
	}
	return m.entries[at].row, true
}

// wheelRows is how far one notch of the wheel goes.
const wheelRows = 3

// wheel scrolls what is under the pointer: the peek panel, or the list with its selection.
func (m *model) wheel(msg tea.MouseWheelMsg) {
	way := 1
	switch msg.Button {
	case tea.MouseWheelUp:
		way = -1
	case tea.MouseWheelDown:
	default:
		return
	}
	if m.help {
		m.helpAt += way
		return
	}
	l := m.layout()
	if m.peek && (msg.X >= l.list || msg.Y >= l.head+l.body) {
		m.peekTop = max(0, m.peekTop+way*wheelRows)
		return
	}
	m.choose(m.cursor + way*wheelRows)
}
