package steps

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

// Screen lets the user choose on a terminal and reports whether they confirmed. It uses the
// terminal's own colours, which are readable on any background.
func Screen(ctx context.Context, p *Plan, in io.Reader, out io.Writer, color bool) (do bool, err error) {
	m := &screen{plan: p, width: 80, height: 24, color: color}
	_, err = tea.NewProgram(m, tea.WithContext(ctx), tea.WithInput(in), tea.WithOutput(out)).Run()
	if errors.Is(err, tea.ErrInterrupted) || ctx.Err() != nil {
		return false, nil
	}
	return m.do, err
}

// screen is the model: a line for each step, and below what the selected one does, or what it
// changes.
type screen struct {
	plan          *Plan
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

// room returns the number of lines for the diff.
func (m *screen) room() int { return max(3, m.height-len(m.plan.Steps)-5) }

// preview returns what stands below the list: the changes of the selected step.
func (m *screen) preview() []string {
	s, chosen := m.plan.Steps[m.cursor], m.plan.Chosen[m.cursor]
	switch {
	case s.Absent != "" && !s.On:
		return []string{s.Absent}
	case s.Fixed:
		return []string{"set up already, and not by beckon setup"}
	case s.On && chosen:
		return []string{"set up already; space undoes it"}
	case m.diffing && !s.On && !chosen:
		return append([]string{"not chosen; it would change:"}, m.diff(s, true)...)
	case m.diffing:
		return m.diff(s, chosen)
	case chosen && s.Then != "":
		return []string{s.Then, "d shows what changes"}
	}
	return []string{"d shows what changes"}
}

func (m *screen) diff(s Step, on bool) []string {
	text, err := s.Diff(on)
	if err != nil {
		return strings.Split(err.Error(), "\n")
	}
	return strings.Split(strings.TrimRight(text, "\n"), "\n")
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
	line(bold, "beckon setup")
	line(dim, "space chooses, d shows the change, enter does it, q leaves everything as it is")
	b.WriteByte('\n')
	for i, s := range m.plan.Steps {
		style, at := lipgloss.NewStyle(), " "
		if i == m.cursor {
			style, at = style.Reverse(true), ">"
		} else if s.Absent != "" && !s.On {
			style = dim
		}
		line(style, fmt.Sprintf("%s%s %-11s %-8s %s ", at, m.mark(i), s.Name, m.state(i), s.Title))
	}
	b.WriteByte('\n')
	preview := m.preview()
	m.top = max(0, min(m.top, len(preview)-m.room()))
	for n, text := range preview[m.top:min(len(preview), m.top+m.room())] {
		if n == m.room()-1 && m.top+n < len(preview)-1 {
			line(dim, fmt.Sprintf("… %d more lines; page down shows them", len(preview)-m.top-n))
			break
		}
		line(diffStyle(text), text)
	}
	v := tea.NewView(strings.TrimSuffix(b.String(), "\n"))
	v.AltScreen = true
	return v
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
