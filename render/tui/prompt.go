package tui

import (
	"cmp"
	"slices"
	"strings"

	"beckon/render"
	"beckon/render/term"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"
)

// prompt is a line being typed at the bottom of the screen.
type prompt struct {
	label, hint string
	text        []string  // the characters, as people see them
	at          int       // those before the cursor
	long        bool      // more than a few words, or more than a line
	secret      bool      // not shown
	pick        []binding // keys to choose from, in place of a text
	move        func(n int)
	change      func(string)
	enter       func(string) tea.Cmd
	leave       func()
}

func (m *model) ask(p prompt) tea.Cmd {
	m.prompt = &p
	return nil
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
		return p.enter(p.typed())
	case "esc":
		m.prompt = nil
		if p.leave != nil {
			p.leave()
		}
	case "backspace":
		if len(p.text) == 0 {
			return m.prompted(msg, "esc")
		}
		p.put(p.at-1, p.at, "")
	case "delete", "ctrl+d":
		p.put(p.at, p.at+1, "")
	case "left", "ctrl+b":
		p.at = max(0, p.at-1)
	case "right", "ctrl+f":
		p.at = min(p.at+1, len(p.text))
	case "home", "ctrl+a":
		p.at = 0
	case "end", "ctrl+e":
		p.at = len(p.text)
	case "ctrl+k":
		p.put(p.at, len(p.text), "")
	case "ctrl+u":
		p.put(0, p.at, "")
	case "ctrl+w":
		rest := strings.TrimRight(strings.Join(p.text[:p.at], ""), " \n")
		p.put(0, p.at, rest[:strings.LastIndexAny(rest, " \n")+1])
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
	if len(p.typed())+len(s) > limit {
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
	p.put(p.at, p.at, strings.Join(lines, between))
}

// typed returns the whole text.
func (p *prompt) typed() string { return strings.Join(p.text, "") }

// put replaces the characters from one to another by a text, behind which the cursor is then.
func (p *prompt) put(from, to int, s string) {
	before := strings.Join(p.text[:max(0, from)], "") + s
	after := strings.Join(p.text[min(to, len(p.text)):], "")
	p.text, p.at = nil, 0
	for rest := before + after; rest != ""; rest = rest[len(p.text[len(p.text)-1]):] {
		if len(rest) > len(after) {
			p.at++
		}
		first, _ := ansi.FirstGraphemeCluster(rest, ansi.GraphemeWidth)
		p.text = append(p.text, first)
	}
	if p.change != nil {
		p.change(p.typed())
	}
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
	shown := slices.Clone(p.text)
	for i, c := range shown {
		if p.secret {
			shown[i] = "•"
		} else if c == "\n" {
			shown[i] = "⏎"
		}
	}
	typed, after := strings.Join(shown[:p.at], ""), strings.Join(shown[p.at:], "")
	if n := term.Width(typed); n > room {
		typed = ansi.TruncateLeft(typed, n-room, "…")
	}
	line += typed + "▏" + term.Cut(after, max(0, room-term.Width(typed)))
	if len(p.text) == 0 || m.flash != "" {
		line += m.paint(dim, " "+clean(cmp.Or(m.flash, p.hint)))
	}
	return line
}
