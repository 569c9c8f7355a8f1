package tui

import (
	"time"

	"beckon/render"
	"beckon/render/card"

	tea "charm.land/bubbletea/v2"
)

// farAsked is what a session of another machine asks, as far as known.
type farAsked struct {
	key    string    // of the row
	at     time.Time // when it was asked
	asking bool
	offers []card.Offered
	err    error
}

type farMsg struct {
	key    string
	offers []card.Offered
	err    error
}

// farAgain is how soon another machine is asked again for its session's requests: only for the
// session in the panel.
const farAgain = 3 * time.Second

// askFar asks another machine for the requests of its selected session, while the panel is
// open.
func (m *model) askFar() tea.Cmd {
	r := m.current()
	if r == nil || !m.peek || r.Remote == nil || m.opt.Ask == nil || !r.NeedsYou || m.stale(r) > 0 {
		if r == nil || m.farOf(r) == nil || !r.NeedsYou {
			m.far = nil
		}
		return nil
	}
	row, key, f := *r, keyOf(r), m.farOf(r)
	switch {
	case f == nil:
		m.far = &farAsked{key: key}
	case f.asking || m.wall().Sub(f.at) < farAgain:
		return nil
	}
	m.far.at, m.far.asking = m.wall(), true
	return func() tea.Msg {
		offers, err := m.opt.Ask(row)
		return farMsg{key, offers, err}
	}
}

// farOf returns what is known about a row's requests, nil for nothing.
func (m *model) farOf(r *render.Row) *farAsked {
	if m.far == nil || m.far.key != keyOf(r) {
		return nil
	}
	return m.far
}

// notFar returns why a request on another machine cannot be answered here, "" if it can.
func (m *model) notFar(r *render.Row) string {
	if f := m.farOf(r); f != nil && f.err != nil {
		return "it cannot be answered from here: " + errorLine(f.err)
	}
	return ""
}
