package tui

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"beckon/render"
	"beckon/render/term"
	"beckon/state/usage"

	"github.com/charmbracelet/x/ansi"
)

func (m *model) draw() {
	if !m.dirty {
		return
	}
	m.dirty, m.young = false, false
	lines := m.screen()
	for i, l := range lines {
		lines[i] = ansi.Truncate(l, m.width, "")
	}
	m.frame = strings.Join(lines, "\n")
}

func (m *model) screen() []string {
	l := m.layout()
	lines := []string{m.titleLine()}
	for len(lines) < l.head {
		lines = append(lines, "")
	}
	var body []string
	switch {
	case m.help:
		body = m.helpLines(l)
	case len(m.entries) == 0:
		body = m.emptyLines(l)
	default:
		body = m.listLines(l)
	}
	m.drawing = drawn{}
	body = pad(body, l.body)
	if m.peek && !m.help { // help uses the whole screen
		panel := m.peekLines(l)
		if !l.side {
			body = append(body, panel...)
			panel = nil
		}
		for i := range panel {
			body[i] = term.Fit(body[i], l.list, false) + panel[i]
		}
	}
	lines = append(lines, body...)
	m.drawn = m.drawing
	if l.foot > 0 {
		lines = append(lines, m.footLine()) // with the keys of what is drawn
	}
	return lines[:min(len(lines), max(1, m.height))]
}

func pad(lines []string, n int) []string {
	for len(lines) < n {
		lines = append(lines, "")
	}
	return lines[:max(0, n)]
}

func (m *model) titleLine() string {
	left := " " + m.paint(accent, cmp.Or(m.opt.Title, "beckon"))
	var right []string
	if m.filter != "" && m.prompt == nil {
		shown := " " + strconv.Itoa(len(m.rows)) + " of " + strconv.Itoa(m.total)
		right = append(right, m.paint(accent, "/"+clean(m.filter))+m.paint(dim, shown))
	}
	if n := len(m.chosen()); len(m.marked) > 0 {
		right = append(right, m.paint(accent, strconv.Itoa(n)+" marked"))
	}
	w, ok := usage.Nearest(m.local.Limits)
	if ok && (m.width >= shortWidth || w.Percent() >= term.NearlyFull) {
		limit := term.Limit(w, m.now().In(time.Local), m.width < sideWidth)
		right = append(right, m.paint(fullness(w.Percent()), limit))
	}
	end := strings.Join(right, m.paint(dim, " · "))
	if end != "" {
		end += " "
	}
	counts := m.countsText(m.width - term.Width(left) - term.Width(end) - 4)
	if counts != "" {
		left += "  " + counts
	}
	return left + strings.Repeat(" ", max(1, m.width-term.Width(left)-term.Width(end))) + end
}

var groupRole = map[render.Group]role{
	render.GroupNeedsYou: alarm, render.GroupWorking: run, render.GroupDone: rest,
	render.GroupIdle: dim, render.GroupBackburner: dim, render.GroupOver: dim,
}

func (m *model) countsText(width int) string {
	var parts []string
	for _, g := range render.Groups {
		n, word := m.counts[g], g.Words()
		if n == 0 {
			continue
		}
		if g == render.GroupNeedsYou && n > 1 {
			word = "need you"
		}
		word = strconv.Itoa(n) + " " + word
		if width -= len(word) + 3; width < 0 {
			break
		}
		parts = append(parts, m.paint(groupRole[g], word))
	}
	return strings.Join(parts, m.paint(dim, " · "))
}

func (m *model) listLines(l layout) []string {
	end := min(len(m.entries), m.top+l.body)
	c := m.measure(l.list)
	lines := make([]string, 0, end-m.top)
	for _, e := range m.entries[m.top:end] {
		switch {
		case e.row >= 0:
			lines = append(lines, m.rowLine(&m.rows[e.row], c, l.list, e.row == m.cursor))
		case e.heading != "":
			title := term.Cut(strings.ToUpper(e.heading.Words()), max(4, l.list-10))
			n := strconv.Itoa(e.count)
			if e.folded {
				n += ", e shows them"
			}
			line := strings.Repeat("─", max(0, l.list-term.Width(title)-len(n)-5))
			lines = append(lines, " "+m.paint(groupRole[e.heading], title)+" "+m.paint(dim, n+" "+line))
		default:
			lines = append(lines, "")
		}
	}
	return lines
}

// rowLine draws one row in exactly width columns.
func (m *model) rowLine(r *render.Row, c columns, width int, selected bool) string {
	var b strings.Builder
	used := 0
	put := func(as role, s string) {
		b.WriteString(m.paint(as, s))
		used += term.Width(s)
	}
	cell := func(as role, s string, w int, right bool) {
		if w > 0 {
			put(as, term.Fit(s, w, right))
			put(text, "  ")
		}
	}
	look := term.Color(r.State)
	is := func(live role) role { // what is over, or stale, is dimmed
		if !r.State.Live() || m.stale(r) > 0 {
			return dim
		}
		return live
	}
	emphasis := text
	if r.NeedsYou || r.Unseen {
		emphasis = strong
	}
	emphasis = is(emphasis)
	mark, dot := " ", " "
	if selected {
		mark, emphasis = "▌", picked
	}
	if m.marked[keyOf(r)] {
		dot = "•"
	}
	put(accent, mark+dot)
	put(look, term.Glyph(r.State)+" ")
	cell(look, m.word(r), c.word, false)
	cell(is(text), m.age(r.Since), c.age, true)
	cell(emphasis, term.Middle(name(r), c.name), c.name, false)
	cell(dim, term.Middle(branch(r), c.branch), c.branch, false)
	cell(is(text), clean(r.Title), c.title, false)
	doing := clean(r.What())
	if c.title > 0 && doing == clean(r.Title) {
		doing = ""
	}
	cell(is(text), doing, c.what, false)
	cell(dim, badges(r), c.badge, true)
	cell(is(fullness(cmp.Or(r.Context, &render.Context{}).UsedPercentage)), term.Used(r), c.context, true)
	cell(dim, m.hostName(r), c.host, false)
	put(text, strings.Repeat(" ", max(0, width-used)))
	return b.String()
}

// age returns how long ago a time is, and records whether that changes every second.
func (m *model) age(since time.Time) string {
	age := m.now().Sub(since)
	m.young = m.young || age < time.Minute
	return term.Age(age)
}

// footLine returns the line being typed, an action's result, a problem, else the keys.
func (m *model) footLine() string {
	warning := m.problem
	if warning == "" && m.others.err != nil {
		warning = m.others.err.Error()
	}
	switch {
	case m.prompt != nil:
		return m.promptLine()
	case m.flash != "" && m.bad:
		return " " + m.paint(alarm, "! "+clean(m.flash))
	case m.flash != "":
		return " " + m.paint(accent, clean(m.flash))
	case warning != "":
		return " " + m.paint(fault, "! "+clean(warning))
	}
	return m.hintLine()
}

func (m *model) hintLine() string {
	hints := m.answerHints()
	for _, k := range bindings() {
		if k.hint != "" && m.drawn.of == nil || k.keys == "?" {
			k.show, _, _ = strings.Cut(k.show, " ")
			hints = append(hints, k)
		}
	}
	return m.keyHints(hints, m.width-1)
}

// keyHints shows as many keys as fit, and always "?".
func (m *model) keyHints(hints []binding, room int) string {
	hints = slices.Clone(hints)
	columns := func(k binding) int { return term.Width(k.show) + len(k.hint) + 3 }
	for _, k := range hints {
		room -= columns(k)
	}
	for i := len(hints) - 1; i >= 0 && room < 0; i-- {
		if hints[i].keys != "?" {
			room += columns(hints[i])
			hints = slices.Delete(hints, i, i+1)
		}
	}
	var b strings.Builder
	for _, k := range hints {
		b.WriteString(" " + m.paint(keycap, k.show) + " " + m.paint(dim, k.hint) + " ")
	}
	return b.String()
}

func (m *model) emptyLines(l layout) []string {
	var say []string
	switch {
	case m.problem != "":
		say = []string{m.problem}
	case !m.looked:
		return nil
	case m.filter != "":
		say = []string{"no session has these words", "Esc clears the filter"}
	default:
		say = []string{"no sessions", "start an agent; `beckon setup` has it report"}
	}
	lines := make([]string, max(0, l.body/2-len(say)))
	for _, s := range say {
		s = term.Cut(clean(s), l.list-2)
		lines = append(lines, strings.Repeat(" ", max(0, l.list-term.Width(s))/2)+m.paint(dim, s))
	}
	return lines
}

// helpLines returns the table of keys, in two columns if need be, or the part with the selected key.
func (m *model) helpLines(l layout) []string {
	var lines []string
	at := 0
	for i, b := range m.helped() {
		head := "  "
		if i == m.helpAt {
			head, at = m.paint(accent, "▌ "), len(lines)
		}
		head += m.paint(keycap, term.Fit(b.show, 8, false))
		for _, text := range wrap(b.help, min(l.list, helpWidth)-11) {
			lines = append(lines, head+text)
			head = strings.Repeat(" ", 10)
		}
	}
	if half := (len(lines) + 1) / 2; len(lines) > l.body && l.list >= 2*helpWidth {
		for i := range half {
			if half+i < len(lines) {
				lines[i] = term.Fit(lines[i], helpWidth, false) + lines[half+i]
			}
		}
		lines, at = lines[:half], at%half
	}
	lines = lines[max(0, min(at-l.body/2, len(lines)-l.body)):]
	if more := len(lines) - l.body; more > 0 && l.body > 0 {
		lines[l.body-1] = "  " + m.paint(dim, fmt.Sprintf("… %s more, ↓", term.Plural(more+1, "line")))
	}
	return lines
}

// helpWidth is more than the longest line of the help.
const helpWidth = 40
