package tui

import (
	"cmp"
	"errors"
	"maps"
	"slices"
	"strings"
	"time"

	"beckon/event"
	"beckon/event/typed"
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
		{"n tab", "n Tab", "next", "the next that needs you", func(m *model) tea.Cmd {
			if m.chooseNext(render.GroupNeedsYou) || m.chooseNext(render.GroupDone) {
				return m.recall()
			}
			return m.say("nothing needs you")
		}},
		{"space", "Space", "peek", "what it asks, said and runs", (*model).togglePeek},
		{"y", "y", "", "allow what it asks", (*model).showAsked},
		{"d", "d", "", "deny it", (*model).showAsked},
		{"a", "a", "", "allow it always", (*model).showAsked},
		{"1 2 3 4 5 6 7 8 9", "1-9", "", "choose an option", (*model).showAsked},
		{"r", "r", "", "answer in your own words", (*model).reply},
		{"S", "S", "", "stop its turn", (*model).stop},
		{"m", "m", "seen", "mark as seen", func(m *model) tea.Cmd {
			return m.act(m.chosen(), state.Action{Kind: state.ActSeen}, "seen")
		}},
		{"b", "b", "aside", "set aside, or take back", (*model).backburner},
		{"l", "l", "", "label it", (*model).label},
		{"x", "x", "", "mark several for m, b, l, Del", (*model).mark},
		{"delete X", "Del X", "", "remove an ended session", (*model).remove},
		{"z", "z", "undo", "undo seen, aside, removed", (*model).undo},
		{"e", "e", "", "show or fold ended sessions", func(m *model) tea.Cmd {
			m.ended = !m.ended
			m.arrange()
			return nil
		}},
		{"/", "/", "filter", "filter: words, !word, label:x", (*model).startFilter},
		{"?", "?", "help", "this help", (*model).openHelp},
		{"esc", "Esc", "", "close; clear marks and filter", (*model).escape},
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
	return m.pressed(name)
}

func (m *model) pressed(name string) tea.Cmd {
	if cmd, used := m.answerKey(name); used {
		return cmd
	}
	for _, b := range bindings() {
		if slices.Contains(strings.Fields(b.keys), name) {
			return b.do(m)
		}
	}
	return nil
}

// openHelp shows the keys. What is typed filters them, and Enter does what the selected one does.
func (m *model) openHelp() tea.Cmd {
	m.help, m.helpAt = true, 0
	leave := func() { m.help, m.prompt = false, nil }
	return m.ask(prompt{label: "?", hint: "a word finds a key, Enter presses it; Esc closes", leave: leave,
		change: func(string) { m.helpAt = 0 },
		move:   func(n int) { m.helpAt += n },
		enter: func(string) tea.Cmd {
			found := m.helped()
			if leave(); len(found) == 0 {
				return nil
			}
			name, _, _ := strings.Cut(found[m.helpAt].keys, " ")
			return m.pressed(name)
		}})
}

// helped returns the keys that the help shows: those with all words that are typed.
func (m *model) helped() []binding {
	words := wordsOf(m.prompt.typed())
	found := slices.DeleteFunc(bindings(), func(b binding) bool {
		text := strings.ToLower(b.show + " " + b.hint + " " + b.help)
		return slices.ContainsFunc(words, func(w string) bool { return !strings.Contains(text, w) })
	})
	m.helpAt = max(0, min(m.helpAt, len(found)-1))
	return found
}

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
	m.flash, m.bad = err.Error(), true
	if hint := typed.HintOf(err); hint != "" {
		m.flash += ": " + hint
	}
	return nil
}

func (m *model) jump() tea.Cmd {
	r := m.current()
	if r == nil {
		return nil
	}
	row := *r
	return func() tea.Msg {
		text, err := m.opt.Jump(row)
		return doneMsg{text: text, err: err, leave: err == nil && m.opt.Leave}
	}
}

var errRemote = errors.New("that session is on another host")

func (m *model) mark() tea.Cmd {
	if m.selected == "" {
		return nil
	}
	if m.marked[m.selected] {
		delete(m.marked, m.selected)
	} else {
		m.marked[m.selected] = true
	}
	return m.goTo(m.cursor + 1)
}

// chosen returns the marked rows that the list shows; the selected one if none is marked.
func (m *model) chosen() (rows []render.Row) {
	for i := range m.rows {
		if m.marked[keyOf(&m.rows[i])] {
			rows = append(rows, m.rows[i])
		}
	}
	if r := m.current(); len(m.marked) == 0 && r != nil {
		rows = []render.Row{*r}
	}
	return rows
}

func several(rows []render.Row) string {
	if len(rows) == 1 {
		return name(&rows[0])
	}
	return term.Plural(len(rows), "session")
}

func (m *model) act(rows []render.Row, a state.Action, done string) tea.Cmd {
	switch {
	case len(m.marked) > 0 && len(rows) == 0:
		return m.say("the list does not show the marked rows; Esc takes the marks off")
	case len(rows) == 0:
		return nil
	case slices.ContainsFunc(rows, func(r render.Row) bool { return r.Remote != nil }):
		return m.fail(errRemote)
	}
	clear(m.marked)
	return m.do(func() (string, error) { return done + ": " + several(rows), m.opt.Act(a, rows...) })
}

func (m *model) remove() tea.Cmd {
	rows := m.chosen()
	if slices.ContainsFunc(rows, func(r render.Row) bool { return r.State.Live() && r.Remote == nil }) {
		return m.say("it has not ended: Del removes ended sessions")
	}
	return m.act(rows, state.Action{Kind: state.ActRemove}, "removed")
}

// undo takes back the newest mark of all sessions, whichever program made it.
func (m *model) undo() tea.Cmd {
	newest, marked := state.NewestMark(slices.Collect(maps.Values(m.local.Seen)))
	if marked == nil {
		return m.say("there is nothing to undo")
	}
	word := map[state.ActionKind]string{state.ActBackburner: "aside", state.ActBackburnerOff: "back",
		state.ActRemove: "removed"}[newest.Kind]
	return m.act(render.Rows(marked, true), state.Action{Kind: state.ActUndo}, "no longer "+cmp.Or(word, "seen"))
}

// label asks for the words to put on sessions.
func (m *model) label() tea.Cmd {
	rows := m.chosen()
	if len(rows) == 0 {
		return nil
	}
	hint := "Enter labels " + several(rows) + "; no words, no label"
	m.ask(prompt{label: "label", hint: hint, enter: func(words string) tea.Cmd {
		m.prompt = nil
		return m.act(rows, state.Action{Kind: state.ActLabel, Label: words}, "labelled "+cmp.Or(words, "no longer"))
	}})
	m.prompt.put(0, 0, rows[0].Label)
	return nil
}

// backburner brings back sessions that are set aside, or asks how long to set them aside.
func (m *model) backburner() tea.Cmd {
	rows := m.chosen()
	here := func(r render.Row) bool { return r.Remote == nil && r.State != state.Backburned }
	if !slices.ContainsFunc(rows, here) {
		return m.act(rows, state.Action{Kind: state.ActBackburnerOff}, "back")
	}
	now := m.now().In(time.Local)
	hour := now.Add(time.Hour)
	evening := time.Date(now.Year(), now.Month(), now.Day(), 18, 0, 0, 0, now.Location())
	later := "this evening, "
	if !evening.After(now) {
		evening, later = hour, "until "
	}
	morning := time.Date(now.Year(), now.Month(), now.Day()+1, 9, 0, 0, 0, now.Location())
	until := func(key, word string, at event.Millis) binding {
		return binding{key, cmp.Or(map[string]string{"enter": "Enter"}[key], key), word, "", func(m *model) tea.Cmd {
			return m.act(rows, state.Action{Kind: state.ActBackburner, Until: at}, "set aside")
		}}
	}
	short := m.width < shortWidth
	word := func(long, s string) string {
		if short {
			return s
		}
		return long
	}
	return m.ask(prompt{label: "set " + several(rows) + " aside", pick: []binding{
		until("1", word("an hour", "1h"), event.MillisOf(hour)),
		until("2", word(later+evening.Format("15:04"), evening.Format("15:04")), event.MillisOf(evening)),
		until("3", word("tomorrow, 9:00", "9:00"), event.MillisOf(morning)),
		until("4", word("until it needs you", "needs you"), state.UntilNeeded),
		until("enter", "until your next prompt", 0),
	}})
}

func (m *model) startFilter() tea.Cmd {
	before, was := m.filter, m.selected
	m.ask(prompt{label: "/", move: func(n int) { m.choose(m.cursor + n) },
		enter: func(string) tea.Cmd { m.prompt = nil; return nil },
		leave: func() { m.filter, m.selected = before, was; m.arrange() }})
	m.prompt.put(0, 0, before)
	m.prompt.change = func(s string) {
		m.filter = s
		m.arrange()
		if words := wordsOf(s); len(words) > 0 {
			m.choose(best(m.rows, words))
		}
	}
	return nil
}

func (m *model) escape() tea.Cmd {
	switch {
	case m.peek:
		m.peek = false
		m.follow()
	case len(m.marked) > 0:
		clear(m.marked)
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

func (m *model) recall() tea.Cmd {
	r := m.current()
	if !m.peek || r == nil || r.Remote != nil {
		return nil
	}
	row := *r
	s := m.seen(r).Session
	return func() tea.Msg { return recentMsg{keyOf(&row), m.opt.Recent(row, s)} }
}
