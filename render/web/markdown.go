package web

import (
	"strconv"
	"strings"
	"sync"
	"unicode"

	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/parser"
	source "github.com/yuin/goldmark/text"
)

// block is a paragraph, heading, item or code of a Markdown text, for the page to
// draw. It has no markup of its own, so nothing in it can become an element.
type block struct {
	Kind  string `json:"kind"`            // p, h, item, code or quote
	Level int    `json:"level,omitempty"` // of a heading; how deep an item or quote is
	Mark  string `json:"mark,omitempty"`  // "3." before an item, "-" before one without a number
	Spans []span `json:"spans"`
}

type span struct {
	Style string `json:"style,omitempty"` // b, i or code
	Text  string `json:"text"`
}

// markdown is made when it is first needed. It has no tables: goldmark's extensions take as long to
// start as a whole program, and beckon starts often.
var markdown = sync.OnceValue(func() parser.Parser {
	return parser.NewParser(
		parser.WithBlockParsers(parser.DefaultBlockParsers()...),
		parser.WithInlineParsers(parser.DefaultInlineParsers()...),
	)
})

// blocksOf parses Markdown. It returns nothing for plain paragraphs, and for a text in which it would
// hide or change a word, such as the title of a link: readers have to see all of it.
func blocksOf(md string) []block {
	m := reader{source: []byte(md)}
	m.children(markdown().Parse(source.NewReader(m.source)), block{Kind: "p"})
	var shown strings.Builder
	plain := true
	for _, b := range m.blocks {
		shown.WriteString(b.Mark)
		for _, s := range b.Spans {
			shown.WriteString(s.Text)
			plain = plain && b.Kind == "p" && s.Style == ""
		}
	}
	if plain || words(shown.String()) != words(md) {
		return nil
	}
	return m.blocks
}

// words returns the letters and digits of a text.
func words(text string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsLetter(r) || unicode.IsNumber(r) {
			return r
		}
		return -1
	}, text)
}

type reader struct {
	source []byte
	blocks []block
}

func (m *reader) add(b block) {
	if len(b.Spans) > 0 {
		m.blocks = append(m.blocks, b)
	}
}

// children adds the blocks below a node; those without a kind of their own look like b.
func (m *reader) children(n ast.Node, b block) {
	for c := n.FirstChild(); c != nil; c = c.NextSibling() {
		m.block(c, b)
		if b.Kind == "item" {
			b.Mark = "" // stands before its first block alone
		}
	}
}

func (m *reader) block(n ast.Node, b block) {
	switch n := n.(type) {
	case *ast.Heading:
		b = block{Kind: "h", Level: n.Level, Mark: b.Mark}
	case *ast.CodeBlock, *ast.FencedCodeBlock, *ast.HTMLBlock:
		m.code(n, b.Mark)
		return
	case *ast.Blockquote:
		m.children(n, block{Kind: "quote", Level: b.Level + 1})
		return
	case *ast.List:
		number := n.Start
		for c := n.FirstChild(); c != nil; c = c.NextSibling() {
			item := block{Kind: "item", Level: b.Level + 1, Mark: "-"}
			if n.IsOrdered() {
				item.Mark = strconv.Itoa(number) + string(n.Marker)
				number++
			}
			m.children(c, item)
		}
		return
	}
	b.Spans = m.spans(n, "", nil)
	m.add(b)
}

// code adds the lines of code as they are, with its language.
func (m *reader) code(n ast.Node, mark string) {
	var lines strings.Builder
	if f, ok := n.(*ast.FencedCodeBlock); ok && f.Info != nil {
		lines.Write(f.Info.Value(m.source))
		lines.WriteByte('\n')
	}
	lines.Write(n.Lines().Value(m.source))
	if h, ok := n.(*ast.HTMLBlock); ok && h.HasClosure() {
		lines.Write(h.ClosureLine.Value(m.source))
	}
	m.add(block{Kind: "code", Mark: mark, Spans: []span{{Text: strings.TrimRight(lines.String(), "\n")}}})
}

// spans adds the text below a node to list, with the innermost style.
func (m *reader) spans(n ast.Node, style string, list []span) []span {
	say := func(text string) {
		if last := len(list) - 1; last >= 0 && list[last].Style == style {
			list[last].Text += text
		} else if text != "" {
			list = append(list, span{style, text})
		}
	}
	for c := n.FirstChild(); c != nil; c = c.NextSibling() {
		inner := style
		switch c := c.(type) {
		case *ast.Text:
			say(string(c.Value(m.source)))
			if c.SoftLineBreak() || c.HardLineBreak() {
				say("\n")
			}
		case *ast.AutoLink:
			say(string(c.Label(m.source)))
		case *ast.RawHTML:
			say(string(c.Segments.Value(m.source)))
		case *ast.CodeSpan:
			inner = "code"
		case *ast.Emphasis:
			inner = []string{"i", "b"}[min(c.Level, 2)-1]
		}
		list = m.spans(c, inner, list)
		if link, is := c.(*ast.Link); is {
			say(" (" + string(link.Destination) + ")")
		}
	}
	return list
}
