package tui

import (
	"context"
	"slices"
	"time"

	"beckon/render"
	"beckon/render/card"
	"beckon/state/offer"

	tea "charm.land/bubbletea/v2"
)

// farAsked is what a session of another machine asks, as far as known.
type farAsked struct {
	key    string // of the row
	row    render.Row
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
	if r == nil || !m.peek || r.Remote == nil || m.opt.Far == nil || !r.NeedsYou || m.stale(r) > 0 {
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
	m.far.row, m.far.at, m.far.asking = row, m.wall(), true
	return func() tea.Msg {
		offers, err := m.opt.Far.Ask(context.Background(), row)
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

// giveBy returns the function that answers an offer, here or on another machine.
func (m *model) giveBy(id string) func(card.Offered, offer.Answer) (string, error) {
	if f := m.far; f != nil && slices.ContainsFunc(f.offers, func(o card.Offered) bool { return o.ID == id }) {
		row := f.row
		return func(o card.Offered, a offer.Answer) (string, error) {
			return m.opt.Far.Answer(context.Background(), row, o, a)
		}
	}
	return m.opt.Answer
}
