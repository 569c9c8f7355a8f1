package pick

import (
	"strings"
	"testing"

	tea "charm.land/bubbletea/v2"
)

var lines = []string{"! shop checkout  Write: note", "? website redesign  Which colour?", "- docs main  Done", "* shop main  Bash: make"}

// keys presses letters and named keys.
func keys(m *model, keys ...string) {
	for _, k := range keys {
		code := map[string]rune{"enter": tea.KeyEnter, "down": tea.KeyDown, "up": tea.KeyUp, "esc": tea.KeyEscape, "backspace": tea.KeyBackspace}[k]
		if code != 0 {
			m.Update(tea.KeyPressMsg{Code: code})
			continue
		}
		for _, r := range k {
			m.Update(tea.KeyPressMsg{Code: r, Text: string(r)})
		}
	}
}

func TestPick(t *testing.T) {
	for _, c := range []struct {
		press []string
		want  int
	}{
		{[]string{"enter"}, 0},
		{[]string{"down", "down", "enter"}, 2},
		{[]string{"up", "enter"}, 0},
		{[]string{"docs", "enter"}, 2},
		{[]string{"wsred", "enter"}, 1},
		{[]string{"shop", "enter"}, 3}, // the shorter line
		{[]string{"shop", "down", "enter"}, 0},
		{[]string{"docsx", "enter"}, -1},
		{[]string{"docsx", "backspace", "enter"}, 2},
		{[]string{"esc"}, -1},
		{[]string{"down", "down", "down", "down", "down", "enter"}, 3},
	} {
		m := newModel(lines)
		keys(m, c.press...)
		if m.chosen != c.want {
			t.Errorf("%v: chose %d, want %d", c.press, m.chosen, c.want)
		}
	}
}

// The cursor's line is on the screen, and no line is wider than the screen.
func TestView(t *testing.T) {
	var many []string
	for range 50 {
		many = append(many, lines...)
	}
	for _, color := range []bool{false, true} {
		m := newModel(many)
		m.color = color
		m.Update(tea.WindowSizeMsg{Width: 20, Height: 8})
		for range 120 {
			keys(m, "down")
		}
		text := m.View().Content
		if n := strings.Count(text, "\n") + 1; n > 8 || !color && !strings.Contains(text, "\n> !") {
			t.Errorf("%d lines:\n%s", n, text)
		}
		for line := range strings.Lines(text) {
			if w := len([]rune(strings.TrimSpace(line))); !color && w > 20 {
				t.Errorf("%d columns: %q", w, line)
			}
		}
	}
	m := newModel(lines)
	keys(m, "zzz")
	if text := m.View().Content; !strings.Contains(text, "nothing fits") {
		t.Error(text)
	}
}
