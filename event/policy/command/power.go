package command

import "strings"

// power reads PowerShell as words, quotes and separators of commands. The rest of the language
// (expressions, types) stays unknown.
func (w *walker) power(text string) {
	p := power{w: w, text: text}
	for p.at < len(p.text) {
		p.next()
	}
	p.end()
}

type power struct {
	w     *walker
	text  string
	at    int
	words []Word
	word  strings.Builder
	open  bool
	holed bool
}

func (p *power) next() {
	c := p.text[p.at]
	rest := p.text[p.at:]
	p.at++
	switch {
	case c == '`' && p.at < len(p.text):
		p.put(p.text[p.at])
		p.at++
	case c == '\'', c == '"':
		p.quoted(c)
	case strings.HasPrefix(rest, "‘"), strings.HasPrefix(rest, "’"), strings.HasPrefix(rest, "“"), strings.HasPrefix(rest, "”"), strings.HasPrefix(rest, "„"):
		p.w.unknown("typographic quotes, which PowerShell takes for its own")
		p.endWord()
		p.at += len("‘") - 1
	case strings.HasPrefix(rest, "<#"):
		p.skip("#>")
	case c == '#' && !p.open:
		p.skip("\n")
	case c == ' ', c == '\t', c == '\r':
		p.endWord()
	case strings.IndexByte(";|&\n(){}", c) >= 0:
		p.end()
	case c == '$':
		p.variable()
	case c == '>':
		p.endWord()
	default:
		p.put(c)
	}
}

func (p *power) put(c byte) {
	p.open = true
	p.word.WriteByte(c)
}

func (p *power) skip(end string) {
	at := strings.Index(p.text[p.at:], end)
	if at < 0 {
		p.at = len(p.text)
		return
	}
	p.at += at + len(end)
	if end == "\n" {
		p.at--
	}
}

func (p *power) quoted(quote byte) {
	p.open = true
	for p.at < len(p.text) {
		c := p.text[p.at]
		p.at++
		switch {
		case c == quote && p.at < len(p.text) && p.text[p.at] == quote:
			p.put(c)
			p.at++
		case c == quote:
			return
		case c == '`' && quote == '"' && p.at < len(p.text):
			p.put(p.text[p.at])
			p.at++
		case c == '$' && quote == '"' && strings.HasPrefix(p.text[p.at:], "("):
			p.word.WriteString(hole)
			p.holed = true
			p.subexpression()
		case c == '$' && quote == '"':
			p.variable()
		default:
			p.put(c)
		}
	}
	p.w.unknown("a quote that does not close")
}

// subexpression walks over the commands of "$(...)".
func (p *power) subexpression() {
	inner := power{w: p.w, text: p.text, at: p.at + 1}
	if p.w.depth++; p.w.depth >= maxDepth {
		p.w.unknown("the line is too long or too deep to be read")
		inner.at = len(p.text)
	}
	for open := 1; inner.at < len(p.text); inner.next() {
		if c := p.text[inner.at]; c == '(' {
			open++
		} else if c == ')' {
			open--
		}
		if open == 0 {
			break
		}
	}
	inner.end()
	p.w.depth--
	p.at = min(inner.at+1, len(p.text))
}

func (p *power) variable() {
	p.word.WriteString(hole)
	p.holed, p.open = true, true
	if strings.HasPrefix(p.text[p.at:], "(") {
		return
	}
	if strings.HasPrefix(p.text[p.at:], "{") {
		p.skip("}")
	} else {
		for p.at < len(p.text) && (p.text[p.at] == '_' || p.text[p.at] == ':' || p.text[p.at] >= '0' && p.text[p.at] <= '9' || p.text[p.at]|0x20 >= 'a' && p.text[p.at]|0x20 <= 'z') {
			p.at++
		}
	}
}

func (p *power) endWord() {
	if !p.open {
		return
	}
	word := known(p.word.String())
	if p.holed {
		word = partly(word.Text)
	}
	p.words = append(p.words, word)
	p.word.Reset()
	p.open, p.holed = false, false
}

func (p *power) end() {
	p.endWord()
	if len(p.words) > 0 {
		p.w.run(p.words, nil, stream{})
	}
	p.words = nil
}
