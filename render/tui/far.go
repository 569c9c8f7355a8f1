package tui

import (
	"slices"
	"time"

	"beckon/render"
	"beckon/state/offer"

	tea "charm.land/bubbletea/v2"
)

// farAsked is what a session of another machine asks, as far as that told.
type farAsked struct {
	key    string // of the row
	row    render.Row
	at     time.Time // when it was asked
	asking bool
	offers []Offered
	err    error
}

// farMsg is an answer to Far.Ask.
type farMsg struct {
	key    string
	offers []Offered
	err    error
}

// farAgain is how soon another machine is asked again what its session asks: only
// the session in the panel is.
const farAgain = 3 * time.Second

// askFar asks what the selected session asks, if it is on another machine and the
// panel is open.
func (m *model) askFar() tea.Cmd {
	r := m.current()
	if r == nil || !m.peek || !m.remote(r) || m.opt.Far.Ask == nil || !r.NeedsYou || m.stale(r) > 0 {
		if r == nil || m.far == nil || m.far.key != keyOf(r) || !r.NeedsYou {
			m.far = nil
		}
		return nil
	}
	row, key := *r, keyOf(r)
	if m.far != nil && m.far.key == key && (m.far.asking || m.wall().Sub(m.far.at) < farAgain) {
		return nil
	}
	if m.far == nil || m.far.key != key {
		m.far = &farAsked{key: key}
	}
	m.far.row, m.far.at, m.far.asking = row, m.wall(), true
	return func() tea.Msg {
		offers, err := m.opt.Far.Ask(row)
		return farMsg{key, offers, err}
	}
}

// farCame notes what another machine said.
func (m *model) farCame(msg farMsg) {
	if m.far == nil || m.far.key != msg.key {
		return
	}
	m.far.asking, m.far.offers, m.far.err = false, msg.offers, msg.err
	m.follow()
}

// farOffer returns an offer of a session on another machine.
func (m *model) farOffer(r *render.Row, kind func(offer.Kind) bool) *Offered {
	if m.far == nil || m.far.key != keyOf(r) {
		return nil
	}
	i := slices.IndexFunc(m.far.offers, func(o Offered) bool { return kind(o.Kind) })
	if i < 0 {
		return nil
	}
	return &m.far.offers[i]
}

// notFar says why what a session on another machine asks is not answered here, empty
// where it may be.
func (m *model) notFar(r *render.Row) string {
	if m.far == nil || m.far.key != keyOf(r) || m.far.err == nil {
		return ""
	}
	return "it cannot be answered from here: " + errorLine(m.far.err)
}

// giveBy is what gives an answer to an offer, here or on another machine.
func (m *model) giveBy(id string) func(Offered, offer.Answer) (string, error) {
	if f := m.far; f != nil && slices.ContainsFunc(f.offers, func(o Offered) bool { return o.ID == id }) {
		row := f.row
		return func(o Offered, a offer.Answer) (string, error) { return m.opt.Far.Answer(row, o, a) }
	}
	return m.opt.Answer
}

// replyFar asks for the next prompt of a session on another machine.
func (m *model) replyFar(r *render.Row) tea.Cmd {
	if r.State.AtWork() {
		return m.say("it is at work: a reply reaches a session whose turn is over")
	}
	row := *r
	m.prompt = &prompt{label: "to " + name(r) + " on " + r.Host, hint: "its next prompt; Ctrl+J a new line; Esc leaves it", long: true, enter: func(s string) tea.Cmd {
		m.prompt = nil
		return m.do(func() (string, error) { return m.opt.Far.Say(row, s) })
	}}
	return nil
}
