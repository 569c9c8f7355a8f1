package main

import (
	"fmt"
	"html"
	"image/color"
	"strings"

	uv "github.com/charmbracelet/ultraviolet"
	"github.com/charmbracelet/x/ansi"
)

// hex returns a colour in SVG's notation, "" for the first 16, which are the terminal's own.
func hex(c color.Color) string {
	switch c := c.(type) {
	case nil, ansi.BasicColor:
		return ""
	case ansi.IndexedColor:
		if c < 16 {
			return ""
		}
	}
	r, g, b, _ := c.RGBA()
	return fmt.Sprintf("#%02x%02x%02x", r>>8, g>>8, b>>8)
}

// Sizes of the picture, in pixels: a cell, the frame around the screen, and
// the bar above it.
const (
	cellWidth, cellHeight = 8.4, 19.0
	margin, bar           = 18.0, 34.0
	background            = "#0d1117"
	foreground            = "#e6edf3"
)

// svg draws the output of `tmux capture-pane -e` as a window of the same size.
func svg(screen, about string) string {
	text := uv.NewStyledString(strings.TrimRight(screen, "\n"))
	size := text.Bounds()
	cells := uv.NewScreenBuffer(size.Dx(), size.Dy())
	text.Draw(cells, size)
	w, h := float64(size.Dx())*cellWidth+2*margin, float64(size.Dy())*cellHeight+margin+bar
	var b strings.Builder
	fmt.Fprintf(&b, `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %.0f %.0f" width="%.0f" height="%.0f" role="img" aria-label="%s">`+"\n", w, h, w, h, html.EscapeString(about))
	fmt.Fprintf(&b, `<style>text{font:14px ui-monospace,SFMono-Regular,Menlo,Consolas,"DejaVu Sans Mono",monospace;white-space:pre;fill:%s}.b{font-weight:700}</style>`+"\n", foreground)
	fmt.Fprintf(&b, `<rect width="%.0f" height="%.0f" rx="10" fill="%s" stroke="#30363d"/>`+"\n", w, h, background)
	for i, c := range []string{"#ff5f57", "#febc2e", "#28c840"} {
		fmt.Fprintf(&b, `<circle cx="%d" cy="17" r="5.5" fill="%s"/>`+"\n", 20+i*19, c)
	}
	for y, line := range cells.Lines {
		drawLine(&b, line, bar+float64(y)*cellHeight)
	}
	return b.String() + "</svg>\n"
}

// drawLine draws the runs of one style of a line, backgrounds first.
func drawLine(b *strings.Builder, line uv.Line, top float64) {
	for i := 0; i < len(line); {
		end := i + 1
		for end < len(line) && line[end].Style.Equal(&line[i].Style) {
			end++
		}
		x, n := margin+float64(i)*cellWidth, float64(end-i)*cellWidth
		if bg := hex(line[i].Style.Bg); bg != "" && bg != background {
			fmt.Fprintf(b, `<rect x="%.1f" y="%.1f" width="%.1f" height="%.1f" fill="%s"/>`+"\n", x, top, n+0.7, cellHeight, bg)
		}
		drawText(b, line[i:end], x, top)
		i = end
	}
}

// drawText draws characters of one style, word by word: textLength keeps each on the grid with
// any font, and viewers drop blanks.
func drawText(b *strings.Builder, run uv.Line, x, top float64) {
	for i := 0; i < len(run); {
		end := i
		for end < len(run) && run[end].Content != " " {
			end++
		}
		if end > i {
			drawWord(b, run[i:end], x+float64(i)*cellWidth, top)
		}
		i = end + 1
	}
}

func drawWord(b *strings.Builder, word uv.Line, x, top float64) {
	var s strings.Builder
	for _, c := range word {
		s.WriteString(c.Content)
	}
	fg, attr := hex(word[0].Style.Fg), ""
	if fg != "" {
		attr += fmt.Sprintf(` style="fill:%s"`, fg)
	}
	if word[0].Style.Attrs&uv.AttrBold != 0 {
		attr += ` class="b"`
	}
	if word[0].Style.Attrs&uv.AttrFaint != 0 {
		attr += ` opacity="0.6"`
	}
	n := float64(len(word)) * cellWidth
	if word[0].Content == "─" { // the font's own character may leave gaps
		fmt.Fprintf(b, `<rect x="%.1f" y="%.1f" width="%.1f" height="1" fill="%s"/>`+"\n", x, top+cellHeight/2, n, fg)
		return
	}
	fmt.Fprintf(b, `<text x="%.1f" y="%.1f" textLength="%.1f"%s>%s</text>`+"\n", x, top+14, n, attr, html.EscapeString(s.String()))
}
