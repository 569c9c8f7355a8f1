package tui

import (
	"cmp"
	"slices"
	"strconv"
	"time"

	"beckon/render"
	"beckon/render/card"
	"beckon/render/hosts"
	"beckon/state"

	tea "charm.land/bubbletea/v2"
)

// Messages of the screen.
type (
	// lookMsg is the result of a look at this machine's sessions.
	lookMsg struct {
		snapshot Snapshot
		err      error
	}
	// othersMsg is the sessions of other machines, and what is wrong there.
	othersMsg struct {
		rows []render.Row
		err  error
	}
	// doneMsg is an action's result.
	doneMsg struct {
		text  string
		err   error
		leave bool // close the screen
	}
	// recentMsg is a session's history.
	recentMsg struct {
		key  string
		past Past
	}
	// ageMsg means that the text of some age may have changed.
	ageMsg struct{}
	// calmMsg means that nothing has changed since the change of that number, for a while.
	calmMsg int
)

type model struct {
	opt  Options
	wall func() time.Time // the machine's clock

	frames  func(every time.Duration) // sets the time between frames; nil if nothing is drawn
	changes int

	width, height int

	local   Snapshot
	taken   time.Time // wall time of local
	looked  bool
	problem string
	others  othersMsg // the newest

	rows    []render.Row // as arranged and filtered
	entries []entry
	total   int // rows before the filter
	counts  map[render.Group]int
	several bool // rows of more than one host

	filter   string
	selected string // key of the selected row
	cursor   int    // its index in rows
	top      int    // first visible entry

	peek    bool
	peekTop int
	recent  map[string]Past
	ended   bool // show the ended rows
	help    bool
	helpAt  int             // the selected key of the help
	marked  map[string]bool // keys of the rows that the user marked
	prompt  *prompt
	flash   string // result of the last action
	bad     bool   // it went wrong

	requests []card.Request  // of this machine
	sending  map[string]bool // those being answered
	drawn    drawn           // on the screen
	drawing  drawn           // in the frame being drawn

	frame string
	dirty bool
	young bool      // an age is shown in seconds
	due   time.Time // when the present tick fires; zero for none
}

func newModel(opt Options) *model {
	return &model{opt: opt, wall: time.Now, width: 80, height: 24,
		recent: map[string]Past{}, counts: map[render.Group]int{}, sending: map[string]bool{}, marked: map[string]bool{},
		dirty: true}
}

// Init implements tea.Model.
func (m *model) Init() tea.Cmd { return nil }

// Update implements tea.Model.
func (m *model) Update(msg tea.Msg) (tea.Model, tea.Cmd) {
	cmd := m.handle(msg)
	if m.dirty && m.frames != nil {
		m.frames(frameFast)
		m.changes++
		calm := calmMsg(m.changes)
		cmd = tea.Batch(cmd, tea.Tick(fastFor, func(time.Time) tea.Msg { return calm }))
	}
	return m, tea.Batch(cmd, m.tick())
}

func (m *model) handle(msg tea.Msg) tea.Cmd {
	m.dirty = true
	switch msg := msg.(type) {
	case tea.WindowSizeMsg:
		m.width, m.height = msg.Width, msg.Height
		m.follow()
	case lookMsg:
		if msg.err != nil {
			m.problem = msg.err.Error()
			return nil
		}
		m.looked, m.problem = true, msg.snapshot.Problem
		m.local, m.taken = msg.snapshot, m.wall()
		m.arrange()
		return m.recall()
	case othersMsg:
		m.others = msg
		for i := range msg.rows {
			msg.rows[i].Host = msg.rows[i].Remote.Name // the user's name for it
		}
		m.arrange()
	case recentMsg:
		m.recent = map[string]Past{msg.key: msg.past}
	case requestsMsg:
		m.requests = msg
		m.follow()
	case answeredMsg:
		m.answered(msg)
		return m.recall()
	case doneMsg:
		if m.done(msg); msg.leave {
			return tea.Quit
		}
	case ageMsg:
		m.due = time.Time{}
	case calmMsg:
		if m.dirty = false; int(msg) == m.changes {
			m.frames(frameSlow)
		}
	case tea.KeyPressMsg:
		return m.key(msg)
	case tea.PasteMsg:
		m.typed(msg.Content)
	default:
		m.dirty = false
	}
	return nil
}

// done shows an action's result, and has the sessions looked at again.
func (m *model) done(msg doneMsg) {
	if m.say(msg.text); msg.err != nil {
		m.fail(msg.err)
	}
	m.opt.Poke()
}

func (m *model) now() time.Time {
	if m.local.Still || m.local.Now.IsZero() {
		return m.local.Now
	}
	return m.local.Now.Add(m.wall().Sub(m.taken))
}

// stale returns how old the answer of a row's host is, 0 while it answers.
func (m *model) stale(r *render.Row) time.Duration {
	if r.Remote == nil || !r.Remote.Stale {
		return 0
	}
	return max(m.wall().Sub(r.Remote.AsOf), time.Second)
}

// keyOf identifies a row across looks: the seat survives /clear and a resume.
func keyOf(r *render.Row) string { return r.Host + "\x00" + cmp.Or(r.SeatID, r.Record()) }

func (m *model) arrange() {
	all := hosts.Distinct(m.local.Rows, m.others.rows)
	m.total, m.several = len(all), false
	clear(m.counts)
	for _, r := range all {
		m.counts[r.Group]++
		m.several = m.several || r.Host != all[0].Host
	}
	m.rows, m.entries = arrange(all, m.opt.Queue, m.filter, !m.ended)
	at := slices.IndexFunc(m.rows, func(r render.Row) bool { return keyOf(&r) == m.selected })
	if at < 0 {
		at = m.cursor
	}
	m.choose(at)
}

func (m *model) choose(i int) {
	m.cursor = max(0, min(i, len(m.rows)-1))
	old := m.selected
	if m.selected = ""; len(m.rows) > 0 {
		m.selected = keyOf(&m.rows[m.cursor])
	}
	if m.selected != old {
		m.peekTop = 0
	}
	m.follow()
}

func (m *model) current() *render.Row {
	if m.cursor >= len(m.rows) {
		return nil
	}
	return &m.rows[m.cursor]
}

// seen returns what is known about a row beyond itself.
func (m *model) seen(r *render.Row) (v state.Seen) {
	if r.Remote == nil {
		v = m.local.Seen[r.Record()]
	}
	return v
}

// follow scrolls to the selected row, and to its heading if it is the first of its group.
func (m *model) follow() {
	at := slices.IndexFunc(m.entries, func(e entry) bool { return e.row == m.cursor })
	height := m.layout().body
	if at < 0 || height <= 0 || len(m.entries) <= height {
		m.top = 0
		return
	}
	first := at
	for first > 0 && m.entries[first-1].row < 0 {
		first--
	}
	if first < m.top {
		m.top = first
	}
	if at >= m.top+height {
		m.top = at - height + 1
	}
	m.top = max(0, min(m.top, len(m.entries)-height))
}

// chooseNext selects the next row of a group, and reports whether there is one.
func (m *model) chooseNext(g render.Group) bool {
	for i := 1; i <= len(m.rows); i++ {
		if j := (m.cursor + i) % len(m.rows); m.rows[j].Group == g {
			m.choose(j)
			return true
		}
	}
	return false
}

// tick requests a message for when ages may have changed, unless one is pending: at the next second
// while one is shown in seconds, else within a quarter of a minute.
func (m *model) tick() tea.Cmd {
	m.draw()
	every := 15 * time.Second
	if m.young {
		every = time.Second
	}
	due := m.wall().Truncate(every).Add(every)
	if m.local.Still || !m.due.IsZero() && !m.due.After(due) {
		return nil
	}
	m.due = due
	return tea.Tick(due.Sub(m.wall()), func(time.Time) tea.Msg { return ageMsg{} })
}

// View implements tea.Model.
func (m *model) View() tea.View {
	m.draw()
	v := tea.NewView(m.frame)
	v.AltScreen = true
	v.WindowTitle = "beckon"
	switch n := m.counts[render.GroupNeedsYou]; n {
	case 0:
	case 1:
		v.WindowTitle += ": 1 session needs you"
	default:
		v.WindowTitle += ": " + strconv.Itoa(n) + " sessions need you"
	}
	return v
}
