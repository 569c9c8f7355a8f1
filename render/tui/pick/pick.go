// Package pick lets the user choose one of several lines on a terminal: typing keeps the lines
// that contain the typed letters in this order, the best first.
package pick

import (
	"context"
	"errors"
	"io"
	"slices"
	"strings"

	tea "charm.land/bubbletea/v2"
	"charm.land/lipgloss/v2"
	"github.com/charmbracelet/x/ansi"
	"github.com/sahilm/fuzzy"
)

// ErrNone is returned if the user leaves without a choice.
var ErrNone = errors.New("nothing was chosen")

// Line returns the index of the line that the user chose. It draws on out, a terminal, and
// clears it afterwards.
func Line(ctx context.Context, lines []string, in io.Reader, out io.Writer, color bool) (int, error) {
	m := newModel(lines)
	m.color = color
	_, err := tea.NewProgram(m, tea.WithContext(ctx), tea.WithInput(in), tea.WithOutput(out)).Run()
	switch {
	case errors.Is(err, tea.ErrInterrupted), err == nil && m.chosen < 0:
		return -1, ErrNone
	case err != nil:
		return -1, err
	}
	return m.chosen, nil
}

type model struct {
	lines  []string
	query  string
	fits   []fuzzy.Match // the best first; for an empty query all, in order
	cursor int           // index in fits
	chosen int           // index in lines, -1 for none
	done   bool

	width, height int
	color         bool
}

func newModel(lines []string) *model {
	m := &model{lines: lines, chosen: -1, width: 80, height: 24}
	m.find()
	return m
}

func (m *model) find() {
	m.cursor = 0
	if m.query == "" {
		m.fits = make([]fuzzy.Match, len(m.lines))
		for i, l := range m.lines {
			m.fits[i] = fuzzy.Match{Str: l, Index: i}
		}
		return
	}
	m.fits = fuzzy.Find(m.query, m.lines)
}

// Init asks for nothing.
func (m *model) Init() tea.Cmd { return nil }

// Update handles a key.
func (m *model) Update(msg tea.Msg) (tea.Model, tea.Cmd) {
	switch msg := msg.(type) {
	case tea.WindowSizeMsg:
		m.width, m.height = msg.Width, msg.Height
	case tea.PasteMsg:
		m.typed(msg.Content)
	case tea.KeyPressMsg:
		switch msg.String() {
		case "enter":
			if len(m.fits) == 0 {
				return m, nil
			}
			m.chosen, m.done = m.fits[m.cursor].Index, true
			return m, tea.Quit
		case "esc", "ctrl+c", "ctrl+g":
			m.done = true
			return m, tea.Quit
		case "up", "ctrl+p", "ctrl+k", "shift+tab":
			m.cursor = max(0, m.cursor-1)
		case "down", "ctrl+n", "ctrl+j", "tab":
			m.cursor = max(0, min(len(m.fits)-1, m.cursor+1))
		case "backspace":
			if runes := []rune(m.query); len(runes) > 0 {
				m.query = string(runes[:len(runes)-1])
				m.find()
			}
		case "ctrl+u":
			m.query = ""
			m.find()
		default:
			m.typed(msg.Text)
		}
	}
	return m, nil
}

func (m *model) typed(text string) {
	if text = strings.Map(printable, text); text != "" {
		m.query += text
		m.find()
	}
}

func printable(r rune) rune {
	if r < ' ' || r == 0x7f {
		return -1
	}
	return r
}

// View draws the query and the matching lines around the cursor.
func (m *model) View() tea.View {
	if m.done {
		return tea.NewView("")
	}
	var b strings.Builder
	b.WriteString(m.cut("> " + m.query + "_"))
	room := max(1, min(m.height-2, len(m.lines)))
	top := max(0, m.cursor-room+1)
	for i := top; i < min(len(m.fits), top+room); i++ {
		b.WriteString("\n" + m.line(i))
	}
	if len(m.fits) == 0 {
		b.WriteString("\n  nothing fits")
	}
	v := tea.NewView(b.String())
	v.AltScreen = true // the previous content of the screen is restored
	return v
}

// line draws one line, with the typed letters in bold.
func (m *model) line(i int) string {
	f, mark := m.fits[i], "  "
	if i == m.cursor {
		mark = "> "
	}
	if !m.color {
		return m.cut(mark + f.Str)
	}
	style := lipgloss.NewStyle().Reverse(i == m.cursor)
	var b strings.Builder
	b.WriteString(style.Render(mark))
	for at, r := range f.Str {
		b.WriteString(style.Bold(slices.Contains(f.MatchedIndexes, at)).Render(string(r)))
	}
	return m.cut(b.String())
}

func (m *model) cut(s string) string { return ansi.Truncate(s, m.width, "…") }
