package setup

import (
	"cmp"
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
func chooseOnScreen(ctx context.Context, p plan, in io.Reader, out io.Writer, color bool) (do bool, err error) {
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
	plan          plan
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
			m.cursor, m.top = max(0, m.cursor-1), 0
		case "down", "j", "tab":
			m.cursor, m.top = min(m.cursor+1, len(m.plan)-1), 0
		case "pgdown":
			m.top += m.room() / 2 // at most to the end, when it is shown
		case "pgup":
			m.top -= m.room() / 2
		case "d":
			m.diffing, m.top = !m.diffing, 0
		case "space", "x":
			m.plan.Choose(m.cursor, !m.plan[m.cursor].Chosen)
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
	s := m.plan[m.cursor]
	_, text, changes := s.state()
	if !m.diffing || !changes {
		return strings.Split(ansi.Wordwrap(cmp.Or(text, "d shows what changes"), m.width, ""), "\n")
	}
	diff, err := s.diff(s.Chosen || !s.On)
	if err != nil {
		diff = err.Error()
	} else if diff += s.Text; !s.On && !s.Chosen {
		diff = "not chosen; it would change:\n" + diff
	}
	return strings.Split(strings.TrimRight(diff, "\n"), "\n")
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
	plain := lipgloss.NewStyle()
	title, keys := "beckon setup", "space chooses, d shows the change, enter does it, q leaves everything as it is"
	if m.diffing {
		title, keys = title+": "+m.plan[m.cursor].Name, "d goes back, space chooses, page down shows more"
	}
	line(plain.Bold(true), title)
	line(plain.Faint(true), keys)
	b.WriteByte('\n')
	preview, room := m.preview(), m.room()
	if m.diffing {
		m.top = max(0, min(m.top, len(preview)-room))
		for n, text := range preview[m.top:min(len(preview), m.top+room)] {
			if n == room-1 && m.top+n < len(preview)-1 {
				text = fmt.Sprintf("… %d more lines; page down shows them", len(preview)-m.top-n)
			}
			line(diffStyle(text), text)
		}
	} else {
		first := max(0, min(m.cursor-room/2, len(m.plan)-room))
		for i := first; i < min(len(m.plan), first+room); i++ {
			style, at := plain, " "
			s := m.plan[i]
			mark, _, _ := s.state()
			if i == m.cursor {
				style, at = style.Reverse(true), ">"
			} else if s.Absent != "" && !s.On {
				style = style.Faint(true)
			}
			line(style, fmt.Sprintf("%s%s %-11s %-8s %s ", at, mark[:3], s.Name, mark[3:], s.Title))
		}
		b.WriteByte('\n')
		for _, text := range preview[:min(len(preview), 2)] {
			line(plain, text)
		}
	}
	v := tea.NewView(strings.TrimSuffix(b.String(), "\n"))
	v.AltScreen = true
	return v
}

// state returns whether the step is chosen, in three characters, and what will be done; what to tell of it,
// and whether it has anything to change.
func (s Step) state() (mark, text string, changes bool) {
	switch {
	case s.Absent != "" && !s.On:
		return "[-]", s.Absent, false
	case s.Fixed:
		return "[x]is there", "set up already, and not by beckon setup", false
	case s.On && s.Chosen && !s.Old:
		return "[x]is there", "set up already; space undoes it", false
	case s.On && s.Chosen:
		return "[x]update", s.Then, true
	case s.On:
		return "[ ]undo", "", true
	case s.Chosen:
		return "[x]add", s.Then, true
	}
	return "[ ]", "", true
}

// diffStyle returns the style of a line of a diff: green, red, or cyan for a place.
func diffStyle(line string) lipgloss.Style {
	color, known := map[byte]string{'+': "32", '-': "31", '@': "36"}[(line + " ")[0]]
	if !known {
		return lipgloss.NewStyle()
	}
	return lipgloss.NewStyle().Foreground(lipgloss.Color(term.Midtones[color]))
}
