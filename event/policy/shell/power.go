package shell

import "strings"

// power is a line of PowerShell being read.
type power struct {
	r     *reader
	text  string
	at    int
	words []string
	word  strings.Builder
	open  bool // a word has begun
}

func (p *power) next() {
	c, rest := p.text[p.at], p.text[p.at:]
	p.at++
	switch {
	case c == '`' && p.at < len(p.text):
		p.put(p.text[p.at : p.at+1])
		p.at++
	case c == '\'', c == '"':
		p.quoted(c)
	case strings.HasPrefix(rest, "‘"), strings.HasPrefix(rest, "’"), strings.HasPrefix(rest, "“"), strings.HasPrefix(rest, "”"):
		p.r.strange("it has typographic quotes, which PowerShell takes for its own")
		p.endWord()
		p.at += len("‘") - 1
	case strings.HasPrefix(rest, "<#"):
		p.skip("#>")
	case c == '#' && !p.open:
		p.skip("\n")
	case c == ' ', c == '\t', c == '\r', c == ',':
		p.endWord()
	case strings.IndexByte(";|&\n(){}", c) >= 0:
		p.end()
	case c == '$':
		p.variable()
	case c == '>':
		p.endWord()
	default:
		p.put(p.text[p.at-1 : p.at])
	}
}

func (p *power) put(text string) {
	p.open = true
	p.word.WriteString(text)
}

// skip goes behind the end of a comment.
func (p *power) skip(end string) {
	at := strings.Index(p.text[p.at:], end)
	if at < 0 {
		p.at = len(p.text)
		return
	}
	if p.at += at; end != "\n" {
		p.at += len(end)
	}
}

func (p *power) quoted(quote byte) {
	p.open = true
	for p.at < len(p.text) {
		c := p.text[p.at]
		p.at++
		switch {
		case c == quote && p.at < len(p.text) && p.text[p.at] == quote:
			p.put(string(quote))
			p.at++
		case c == quote:
			return
		case c == '`' && quote == '"' && p.at < len(p.text):
			p.put(p.text[p.at : p.at+1])
			p.at++
		case c == '$' && quote == '"' && strings.HasPrefix(p.text[p.at:], "("):
			p.put(Hole)
			p.subexpression()
		case c == '$' && quote == '"':
			p.variable()
		default:
			p.put(p.text[p.at-1 : p.at])
		}
	}
	p.r.strange("a quote does not close")
}

// subexpression reads the commands of "$(...)".
func (p *power) subexpression() {
	inner := power{r: p.r, text: p.text, at: p.at + 1}
	if p.r.depth++; p.r.depth > maxDepth {
		p.r.strange(tooMuch)
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
	p.r.depth--
	p.at = min(inner.at+1, len(p.text))
}

func (p *power) variable() {
	p.put(Hole)
	switch rest := p.text[p.at:]; {
	case strings.HasPrefix(rest, "("):
	case strings.HasPrefix(rest, "{"):
		p.skip("}")
	default:
		p.at += len(rest) - len(strings.TrimLeft(rest, "_:0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"))
	}
}

func (p *power) endWord() {
	if p.open {
		p.words = append(p.words, p.word.String())
		p.word.Reset()
		p.open = false
	}
}

func (p *power) end() {
	p.endWord()
	if len(p.words) > 0 && len(p.r.line.Commands) <= maxCommands {
		p.r.run(Command{Words: p.words, Globs: make([]bool, len(p.words))})
	}
	p.words = nil
}
