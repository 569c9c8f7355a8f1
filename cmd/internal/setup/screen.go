package setup

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"beckon/render/term"

	tea "charm.land/bubbletea/v2"
	"charm.land/lipgloss/v2"
	"github.com/charmbracelet/x/ansi"
)

// chooseOnScreen lets the user choose on a terminal and reports whether they confirmed. It uses the
// terminal's own colours, which are readable on any background.
func chooseOnScreen(ctx context.Context, p *plan, in io.Reader, out io.Writer, color bool) (do bool, err error) {
	m := &screen{plan: p, width: 80, height: 24, color: color}
	_, err = tea.NewProgram(m, tea.WithContext(ctx), tea.WithInput(in), tea.WithOutput(out)).Run()
	if errors.Is(err, tea.ErrInterrupted) || ctx.Err() != nil {
		return false, nil
	}
	return m.do, err
}

// most is how many lines the screen takes at most, of a terminal with 24.
const most = 20

// screen is the model: a line for each step, and below what the selected one does; or, in the
// place of all that, what the selected one changes.
type screen struct {
	plan          *plan
	diffing       bool // what the step changes is shown
	cursor, top   int  // top is the first visible line of that
	width, height int
	color         bool
	do, done      bool
}

func (m *screen) Init() tea.Cmd { return nil }

func (m *screen) Update(msg tea.Msg) (tea.Model, tea.Cmd) {
	switch msg := msg.(type) {
	case tea.WindowSizeMsg:
		m.width, m.height = msg.Width, msg.Height
	case tea.KeyPressMsg:
		switch msg.String() {
		case "up", "k":
			m.move(-1)
		case "down", "j", "tab":
			m.move(1)
		case "pgdown", "ctrl+d", "ctrl+f":
			m.scroll(m.room() / 2)
		case "pgup", "ctrl+u", "ctrl+b":
			m.scroll(-m.room() / 2)
		case "d":
			m.diffing, m.top = !m.diffing, 0
		case "space", "x":
			m.plan.Choose(m.cursor, !m.plan.Chosen[m.cursor])
			m.top = 0
		case "enter":
			m.do, m.done = true, true
			return m, tea.Quit
		case "q", "esc", "ctrl+c":
			m.done = true
			return m, tea.Quit
		}
	}
	return m, nil
}

func (m *screen) move(by int) {
	m.cursor = max(0, min(m.cursor+by, len(m.plan.Steps)-1))
	m.top = 0
}

func (m *screen) scroll(by int) {
	m.top = max(0, min(m.top+by, len(m.preview())-m.room()))
}

// room returns the number of lines for the steps, or for a change: without the title, the keys, an
// empty line, and below the steps another one with two of text.
func (m *screen) room() int {
	if m.diffing {
		return max(3, m.height-4)
	}
	return max(3, min(m.height, most)-6)
}

// preview returns what the selected step does, or what it changes.
func (m *screen) preview() []string {
	s, chosen := m.plan.Steps[m.cursor], m.plan.Chosen[m.cursor]
	switch {
	case s.Absent != "" && !s.On:
		return m.wrapped(s.Absent)
	case s.Fixed:
		return m.wrapped("set up already, and not by beckon setup")
	case s.On && chosen && !s.Old:
		return m.wrapped("set up already; space undoes it")
	case m.diffing && !s.On && !chosen:
		return append([]string{"not chosen; it would change:"}, m.diff(true)...)
	case m.diffing:
		return m.diff(chosen)
	case chosen && s.Then != "":
		return m.wrapped(s.Then)
	}
	return m.wrapped("d shows what changes")
}

func (m *screen) wrapped(text string) []string {
	return strings.Split(ansi.Wordwrap(text, m.width, ""), "\n")
}

func (m *screen) diff(on bool) []string {
	text, err := m.plan.diff(m.cursor, on)
	if err != nil {
		return strings.Split(err.Error(), "\n")
	}
	return strings.Split(strings.TrimRight(text+m.plan.Steps[m.cursor].Text, "\n"), "\n")
}

func (m *screen) View() tea.View {
	if m.done {
		return tea.NewView("")
	}
	var b strings.Builder
	line := func(style lipgloss.Style, text string) {
		text = ansi.Truncate(strings.ReplaceAll(text, "\t", "    "), m.width, "…")
		if m.color {
			text = style.Render(text)
		}
		b.WriteString(text + "\n")
	}
	bold, dim := lipgloss.NewStyle().Bold(true), lipgloss.NewStyle().Faint(true)
	title, keys := "beckon setup", "space chooses, d shows the change, enter does it, q leaves everything as it is"
	if m.diffing {
		title, keys = title+": "+m.plan.Steps[m.cursor].Name, "d goes back, space chooses, page down shows more"
	}
	line(bold, title)
	line(dim, keys)
	b.WriteByte('\n')
	preview := m.preview()
	if m.diffing {
		m.top = max(0, min(m.top, len(preview)-m.room()))
		for n, text := range preview[m.top:min(len(preview), m.top+m.room())] {
			if n == m.room()-1 && m.top+n < len(preview)-1 {
				line(dim, fmt.Sprintf("… %d more lines; page down shows them", len(preview)-m.top-n))
				break
			}
			line(diffStyle(text), text)
		}
	} else {
		first := max(0, min(m.cursor-m.room()/2, len(m.plan.Steps)-m.room()))
		for i := first; i < min(len(m.plan.Steps), first+m.room()); i++ {
			m.step(i, line)
		}
		b.WriteByte('\n')
		for _, text := range preview[:min(len(preview), 2)] {
			line(lipgloss.NewStyle(), text)
		}
	}
	v := tea.NewView(strings.TrimSuffix(b.String(), "\n"))
	v.AltScreen = true
	return v
}

// step writes the line of a step.
func (m *screen) step(i int, line func(lipgloss.Style, string)) {
	s, style, at := m.plan.Steps[i], lipgloss.NewStyle(), " "
	if i == m.cursor {
		style, at = style.Reverse(true), ">"
	} else if s.Absent != "" && !s.On {
		style = style.Faint(true)
	}
	line(style, fmt.Sprintf("%s%s %-11s %-8s %s ", at, m.mark(i), s.Name, m.state(i), s.Title))
}

func (m *screen) mark(i int) string {
	switch s := m.plan.Steps[i]; {
	case s.Absent != "" && !s.On:
		return "[-]"
	case m.plan.Chosen[i]:
		return "[x]"
	}
	return "[ ]"
}

func (m *screen) state(i int) string {
	switch s := m.plan.Steps[i]; {
	case s.Old && m.plan.Chosen[i]:
		return "update"
	case s.On && m.plan.Chosen[i]:
		return "is there"
	case s.On:
		return "undo"
	case m.plan.Chosen[i]:
		return "add"
	}
	return ""
}

func diffStyle(line string) lipgloss.Style {
	style := lipgloss.NewStyle()
	switch {
	case strings.HasPrefix(line, "+++"), strings.HasPrefix(line, "---"):
		return style.Bold(true)
	case strings.HasPrefix(line, "+"):
		return style.Foreground(lipgloss.Color(term.Midtones["32"]))
	case strings.HasPrefix(line, "-"):
		return style.Foreground(lipgloss.Color(term.Midtones["31"]))
	case strings.HasPrefix(line, "@@"):
		return style.Foreground(lipgloss.Color(term.Midtones["36"]))
	}
	return style
}
