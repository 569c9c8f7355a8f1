package tui

import (
	"cmp"
	"slices"
	"strings"
	"unicode/utf8"

	"beckon/render"
	"beckon/render/term"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"
)

// prompt is a line being typed at the bottom of the screen.
type prompt struct {
	label, text, hint string
	after             string    // the text after the cursor
	long              bool      // more than a few words, or more than a line
	secret            bool      // not shown
	pick              []binding // keys to choose from, in place of a text
	move              func(n int)
	change            func(string)
	enter             func(string) tea.Cmd
	leave             func()
}

// maxTyped limits typed text, in bytes; maxLong limits text for an agent.
const (
	maxTyped = 200
	maxLong  = 16 << 10
)

func (m *model) prompted(msg tea.KeyPressMsg, name string) tea.Cmd {
	p := m.prompt
	m.flash = ""
	if i := slices.IndexFunc(p.pick, func(b binding) bool { return b.keys == name }); i >= 0 {
		m.prompt = nil
		return p.pick[i].do(m)
	} else if p.pick != nil && name != "esc" {
		return nil
	}
	switch name {
	case "enter":
		return p.enter(p.text + p.after)
	case "esc":
		m.prompt = nil
		if p.leave != nil {
			p.leave()
		}
	case "backspace":
		if p.text+p.after == "" {
			return m.prompted(msg, "esc")
		}
		p.set(cutLast(p.text))
	case "delete", "ctrl+d":
		_, p.after = cutFirst(p.after)
		p.set(p.text)
	case "left", "ctrl+b":
		rest := cutLast(p.text)
		p.text, p.after = rest, p.text[len(rest):]+p.after
	case "right", "ctrl+f":
		first, rest := cutFirst(p.after)
		p.text, p.after = p.text+first, rest
	case "home", "ctrl+a":
		p.text, p.after = "", p.text+p.after
	case "end", "ctrl+e":
		p.text, p.after = p.text+p.after, ""
	case "ctrl+k":
		p.after = ""
		p.set(p.text)
	case "ctrl+u":
		p.set("")
	case "ctrl+w":
		rest := strings.TrimRight(p.text, " \n")
		p.set(rest[:strings.LastIndexAny(rest, " \n")+1])
	case "up", "down":
		if p.move != nil {
			p.move(map[string]int{"up": -1, "down": 1}[name])
		}
	case "ctrl+j", "alt+enter", "shift+enter":
		m.typed("\n")
	default:
		m.typed(msg.Text)
	}
	return nil
}

func (m *model) typed(s string) {
	p := m.prompt
	if p == nil {
		return
	}
	limit := maxTyped
	if p.long {
		limit = maxLong
	}
	if len(p.text)+len(p.after)+len(s) > limit {
		return
	}
	lines := strings.Split(strings.ReplaceAll(strings.ReplaceAll(s, "\r\n", "\n"), "\r", "\n"), "\n")
	for i, l := range lines {
		lines[i] = render.Clean(l)
	}
	between := " "
	if p.long {
		between = "\n"
	}
	p.set(p.text + strings.Join(lines, between))
}

func (p *prompt) set(s string) {
	p.text = s
	if p.change != nil {
		p.change(p.text + p.after)
	}
}

// cutLast removes the last character as people see it.
func cutLast(s string) string {
	if rest, ok := strings.CutSuffix(s, "\n"); ok {
		return rest
	}
	head, line := "", s
	if i := strings.LastIndexByte(s, '\n'); i >= 0 {
		head, line = s[:i+1], s[i+1:]
	}
	return head + ansi.Truncate(line, max(0, term.Width(line)-1), "")
}

// cutFirst splits off the first character as people see it.
func cutFirst(s string) (first, rest string) {
	if rest, ok := strings.CutPrefix(s, "\n"); ok {
		return "\n", rest
	}
	first, _ = ansi.FirstGraphemeCluster(s, ansi.GraphemeWidth)
	return first, s[len(first):]
}

func (m *model) promptLine() string {
	p := m.prompt
	label := p.label
	if len(label) > 1 {
		label = term.Cut(clean(label), max(12, m.width/2)) + " "
	}
	line := " " + m.paint(accent, label)
	if p.pick != nil {
		width := m.width - term.Width(line) - 1
		if keys := m.keyHints(p.pick[:4:4], m.width-1); term.Width(keys) > width {
			return keys
		}
		return line + m.keyHints(p.pick, width)
	}
	if strings.HasSuffix(label, " ") {
		line += " "
	}
	room := max(4, m.width-term.Width(line)-2)
	typed, after := strings.ReplaceAll(p.text, "\n", "⏎"), strings.ReplaceAll(p.after, "\n", "⏎")
	if p.secret {
		typed = strings.Repeat("•", utf8.RuneCountInString(typed))
		after = strings.Repeat("•", utf8.RuneCountInString(after))
	}
	if n := term.Width(typed); n > room {
		typed = ansi.TruncateLeft(typed, n-room, "…")
	}
	line += typed + "▏" + term.Cut(after, max(0, room-term.Width(typed)))
	if p.text+p.after == "" || m.flash != "" {
		line += m.paint(dim, " "+clean(cmp.Or(m.flash, p.hint)))
	}
	return line
}
