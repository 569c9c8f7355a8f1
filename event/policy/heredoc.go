package policy

import "strings"

// heredoc is a text that follows in the next lines.
type heredoc struct {
	end    string
	quoted bool // nothing in it is replaced
	tabs   bool // those before each line do not count
}

// readHeredoc reads what follows "<<" and returns its length; false when it is
// no word that is certain to be the end's.
func readHeredoc(text string) (h heredoc, n int, ok bool) {
	if h.tabs = strings.HasPrefix(text, "-"); h.tabs {
		n++
	}
	n += len(text[n:]) - len(strings.TrimLeft(text[n:], " \t"))
	var word strings.Builder
	for ; n < len(text) && strings.IndexByte(" \t\r\n;&|<>()", text[n]) < 0; n++ {
		switch c := text[n]; c {
		case '\'', '"':
			size := strings.IndexByte(text[n+1:], c)
			if size < 0 {
				return h, n, false
			}
			word.WriteString(text[n+1 : n+1+size])
			h.quoted = true
			n += size + 1
		case '\\', '$', '`', '{', '}':
			return h, n, false
		default:
			word.WriteByte(c)
		}
	}
	h.end = word.String()
	return h, n, h.end != ""
}

// body returns the lines before the one that ends h, and how much of text they
// and that one are; false when none ends it.
func (h heredoc) body(text string) (lines string, n int, ok bool) {
	for n < len(text) {
		line, _, _ := strings.Cut(text[n:], "\n")
		next := min(n+len(line)+1, len(text))
		if h.tabs {
			line = strings.TrimLeft(line, "\t")
		}
		if line == h.end {
			return text[:n], next, true
		}
		n = next
	}
	return text, n, false
}

// bodies reads the texts that begin at the line at hand. They are no commands
// of this line; what is in $(...) there is.
func (s *scanner) bodies() {
	for _, h := range s.here {
		lines, n, ok := h.body(s.text[s.at:])
		s.line.broken = s.line.broken || !ok
		s.at += n
		if !h.quoted {
			s.line.substitutions(lines, s.depth)
		}
	}
	s.here, s.start = nil, s.at
}

// substitutions reads the commands in a text that is not read as commands.
func (c *commandLine) substitutions(text string, depth int) {
	for {
		at := strings.IndexAny(text, "`$")
		if at < 0 {
			return
		}
		quote := text[at]
		text = text[at+1:]
		inside, ok := "", false
		switch {
		case quote == '`':
			inside, _, ok = strings.Cut(text, "`")
		case strings.HasPrefix(text, "("):
			inside, ok = bracketed(text)
		default:
			continue
		}
		if !ok {
			c.broken = true
			return
		}
		c.read(inside, depth+1)
		text = text[len(inside)+1:]
	}
}

// bracketed returns what is between the bracket that text begins with and the
// one that closes it; quotes and texts of the next lines are heeded.
func bracketed(text string) (string, bool) {
	depth, quote := 0, byte(0)
	var here []heredoc
	for i := 0; i < len(text); i++ {
		switch c := text[i]; {
		case c == '\\' && quote != '\'':
			i++
		case quote != 0:
			if c == quote {
				quote = 0
			}
		case c == '\'' || c == '"':
			quote = c
		case c == '\n':
			for _, h := range here {
				_, n, _ := h.body(text[i+1:])
				i += n
			}
			here = nil
		case strings.HasPrefix(text[i:], "<<<"):
			i += 2
		case strings.HasPrefix(text[i:], "<<"):
			if h, n, ok := readHeredoc(text[i+2:]); ok {
				here = append(here, h)
				i += 1 + n
			}
		case c == '(':
			depth++
		case c == ')':
			if depth--; depth == 0 {
				return text[1:i], true
			}
		}
	}
	return "", false
}
