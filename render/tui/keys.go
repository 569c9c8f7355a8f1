package tui

import (
	"cmp"
	"errors"
	"strings"

	"beckon/render"
	"beckon/render/term"
	"beckon/state"

	tea "charm.land/bubbletea/v2"
)

type binding struct {
	keys string // tea's names, separated by blanks
	show string // as help shows them
	hint string // short, for the last line; empty if not shown there
	help string
	do   func(*model) tea.Cmd
}

// bindings is the table of keys, in the order that help shows them.
func bindings() []binding {
	move := func(n int) func(*model) tea.Cmd {
		return func(m *model) tea.Cmd { return m.goTo(m.cursor + n) }
	}
	return []binding{
		{"up k ctrl+p", "↑ k", "", "up", move(-1)},
		{"down j ctrl+n", "↓ j", "", "down", move(1)},
		{"pgup ctrl+u", "PgUp", "", "a page up; back in a peek", func(m *model) tea.Cmd { return m.turnPage(-1) }},
		{"pgdown ctrl+d", "PgDn", "", "a page down; on in a peek", func(m *model) tea.Cmd { return m.turnPage(1) }},
		{"home", "Home", "", "the first row", func(m *model) tea.Cmd { return m.goTo(0) }},
		{"end G", "End G", "", "the last row", func(m *model) tea.Cmd { return m.goTo(len(m.rows) - 1) }},
		{"enter", "Enter", "jump", "jump to the session's pane", (*model).jump},
		{"n tab", "n Tab", "next", "the next that needs you", (*model).nextNeed},
		{"space", "Space", "peek", "what it asks, said and runs", (*model).togglePeek},
		{"v", "v", "", "its live pane", (*model).toggleLive},
		{"", "y d", "", "in a peek: allow, deny", nil},
		{"", "a 1-9", "", "in a peek: always, an option", nil},
		{"", "r S", "", "your own words; stop its turn", nil},
		{"m", "m", "seen", "mark as seen", (*model).markSeen},
		{"b", "b", "aside", "set aside, or take back", (*model).backburner},
		{"e", "e", "", "show or fold ended sessions", (*model).toggleEnded},
		{"x", "x", "", "remove an ended session", (*model).remove},
		{"/", "/", "filter", "only rows with these words", (*model).startFilter},
		{"g", "g", "group", "group: need, project, host", (*model).regroup},
		{"s o", "s o", "sort", "sort in another order", (*model).resort},
		{"?", "?", "help", "this help", func(m *model) tea.Cmd { m.help, m.helpTop = true, 0; return nil }},
		{"esc", "Esc", "", "close it; clear the filter", (*model).escape},
		{"q ctrl+c", "q", "quit", "quit", func(*model) tea.Cmd { return tea.Quit }},
	}
}

// key handles a key: in the line being typed, else in help, else by the table.
func (m *model) key(msg tea.KeyPressMsg) tea.Cmd {
	name := msg.String()
	if name == "ctrl+c" {
		return tea.Quit
	}
	if m.prompt != nil {
		return m.prompted(msg, name)
	}
	m.flash = ""
	if m.help && m.inHelp(name) {
		return nil
	}
	if cmd, used := m.answerKey(name); used {
		return cmd
	}
	for _, b := range bindings() {
		for k := range strings.FieldsSeq(b.keys) {
			if k == name {
				return b.do(m)
			}
		}
	}
	return nil
}

// inHelp turns the pages of the help, or closes it, and reports whether it handled the key.
func (m *model) inHelp(name string) bool {
	switch name {
	case "down", "j", "pgdown":
		m.helpTop++
	case "up", "k", "pgup":
		m.helpTop--
	default:
		m.help = false
		return name != "q"
	}
	return true
}

// turnPage turns a page, of the peek panel if it is open.
func (m *model) turnPage(way int) tea.Cmd {
	l := m.layout()
	if m.peek {
		m.peekTop = max(0, m.peekTop+way*max(1, l.peekHeight/2))
		return nil
	}
	return m.goTo(m.cursor + way*max(1, l.body-2))
}

func (m *model) goTo(i int) tea.Cmd {
	m.choose(i)
	return m.recall()
}

func (m *model) regroup() tea.Cmd {
	m.grouping = next(groupings, m.grouping)
	m.arrange()
	return m.say("grouped by " + string(m.grouping))
}

func (m *model) toggleEnded() tea.Cmd {
	m.ended = !m.ended
	m.arrange()
	return nil
}

func (m *model) resort() tea.Cmd {
	m.order = next(render.Modes[:], m.order)
	m.arrange()
	return m.say("sorted " + string(m.order) + ": " + orderMeans[m.order])
}

// do runs an action and shows its result.
func (m *model) do(f func() (string, error)) tea.Cmd {
	return func() tea.Msg {
		text, err := f()
		return doneMsg{text: text, err: err}
	}
}

func (m *model) say(text string) tea.Cmd {
	m.flash, m.bad = text, false
	return nil
}

func (m *model) fail(err error) tea.Cmd {
	m.flash, m.bad = errorLine(err), true
	return nil
}

func (m *model) jump() tea.Cmd {
	r := m.current()
	switch {
	case r == nil:
		return nil
	case m.opt.Jump == nil:
		return m.say(cmp.Or(term.Place(r), "its pane is not known"))
	}
	row := *r
	return func() tea.Msg {
		text, err := m.opt.Jump(row)
		return doneMsg{text: text, err: err, leave: err == nil && m.opt.Leave}
	}
}

var errRemote = errors.New("that session is on another host")

// act folds an action on a session of this machine; done describes it.
func (m *model) act(r *render.Row, a state.Action, done string) tea.Cmd {
	switch {
	case r == nil || m.opt.Act == nil:
		return nil
	case r.Remote != nil:
		return m.fail(errRemote)
	}
	row := *r
	return m.do(func() (string, error) { return done + ": " + name(&row), m.opt.Act(row, a) })
}

func (m *model) markSeen() tea.Cmd {
	return m.act(m.current(), state.Action{Kind: state.ActSeen}, "seen")
}

func (m *model) remove() tea.Cmd {
	r := m.current()
	if r != nil && r.State.Live() && r.Remote == nil {
		return m.say("it has not ended: x removes ended sessions")
	}
	return m.act(r, state.Action{Kind: state.ActRemove}, "removed")
}

// backburner brings back a session that is set aside, or asks how long to set one aside.
func (m *model) backburner() tea.Cmd {
	r := m.current()
	if r == nil || r.Remote != nil || m.opt.Act == nil || r.State == state.Backburned {
		return m.act(r, state.Action{Kind: state.ActBackburnerOff}, "back")
	}
	row := *r
	m.prompt = &prompt{label: "set " + name(r) + " aside for", hint: "30m 2h 3d 15:30; empty: until your next prompt",
		enter: func(s string) tea.Cmd {
			until, err := render.Until(s, m.now())
			if err != nil {
				return m.fail(err)
			}
			m.prompt = nil
			return m.act(&row, state.Action{Kind: state.ActBackburner, Until: until}, "set aside")
		}}
	return nil
}

func (m *model) startFilter() tea.Cmd {
	before, was := m.filter, m.selected
	m.prompt = &prompt{label: "/", text: before,
		change: func(s string) {
			m.filter = s
			m.arrange()
			if words := wordsOf(s); len(words) > 0 {
				m.choose(best(m.rows, words))
			}
		},
		enter: func(string) tea.Cmd { m.prompt = nil; return nil },
		leave: func() { m.filter, m.selected = before, was; m.arrange() }}
	return nil
}

// escape closes the topmost panel or prompt.
func (m *model) escape() tea.Cmd {
	switch {
	case m.peek:
		m.peek = false
		m.follow()
	case m.filter != "":
		m.filter = ""
		m.arrange()
	}
	return nil
}

func (m *model) togglePeek() tea.Cmd {
	m.peek, m.peekTop = !m.peek, 0
	m.follow()
	return m.recall()
}

// recall reads the history of the selected session for the peek panel, or its pane.
func (m *model) recall() tea.Cmd {
	if m.live.on {
		return m.readPane()
	}
	r := m.current()
	if !m.peek || r == nil || r.Remote != nil || m.opt.Recent == nil {
		return nil
	}
	row := *r
	v, _ := m.seen(r)
	return func() tea.Msg { return recentMsg{keyOf(&row), m.opt.Recent(row, v.Session)} }
}
