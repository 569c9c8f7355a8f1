package main

import (
	"fmt"
	"html"
	"strconv"
	"strings"
	"unicode/utf8"
)

// cell is one character of a screen with its style.
type cell struct {
	r  rune
	as style
}

// style is what SGR sequences set: colours as "#rrggbb", empty for the
// terminal's own.
type style struct {
	fg, bg    string
	bold, dim bool
}

// parse reads what `tmux capture-pane -e` writes.
func parse(screen string) (lines [][]cell) {
	var as style
	for line := range strings.SplitSeq(strings.TrimRight(screen, "\n"), "\n") {
		var cells []cell
		for line != "" {
			if params, rest, ok := sgr(line); ok {
				as, line = as.with(params), rest
				continue
			}
			r, n := utf8.DecodeRuneInString(line)
			cells, line = append(cells, cell{r, as}), line[n:]
		}
		lines = append(lines, cells)
	}
	return lines
}

// sgr takes an SGR sequence off the front of s.
func sgr(s string) (params, rest string, ok bool) {
	if !strings.HasPrefix(s, "\x1b[") {
		return "", s, false
	}
	end := strings.IndexByte(s, 'm')
	if end < 0 {
		return "", s, false
	}
	return s[2:end], s[end+1:], true
}

func (s style) with(params string) style {
	p := strings.Split(params, ";")
	for i := 0; i < len(p); i++ {
		switch n, _ := strconv.Atoi(p[i]); {
		case n == 0:
			s = style{}
		case n == 1:
			s.bold = true
		case n == 2:
			s.dim = true
		case n == 22:
			s.bold, s.dim = false, false
		case n == 39:
			s.fg = ""
		case n == 49:
			s.bg = ""
		case (n == 38 || n == 48) && i+4 < len(p) && p[i+1] == "2":
			c := rgb(p[i+2 : i+5])
			if n == 38 {
				s.fg = c
			} else {
				s.bg = c
			}
			i += 4
		case (n == 38 || n == 48) && i+2 < len(p) && p[i+1] == "5":
			k, _ := strconv.Atoi(p[i+2])
			if c := indexed(k); n == 38 {
				s.fg = c
			} else {
				s.bg = c
			}
			i += 2
		}
	}
	return s
}

// indexed is a colour of the palette of 256, as xterm has it, empty for one of the
// first 16: those are the terminal's own.
func indexed(n int) string {
	switch {
	case n < 16 || n > 255:
		return ""
	case n >= 232:
		v := 8 + 10*(n-232)
		return fmt.Sprintf("#%02x%02x%02x", v, v, v)
	}
	level := func(v int) int {
		if v == 0 {
			return 0
		}
		return 55 + 40*v
	}
	n -= 16
	return fmt.Sprintf("#%02x%02x%02x", level(n/36), level(n/6%6), level(n%6))
}

func rgb(p []string) string {
	var v [3]int
	for i := range v {
		v[i], _ = strconv.Atoi(p[i])
	}
	return fmt.Sprintf("#%02x%02x%02x", v[0], v[1], v[2])
}

// Sizes of the picture, in pixels: a cell, the frame around the screen, and
// the bar above it.
const (
	cellWidth, cellHeight = 8.4, 19.0
	margin, bar           = 18.0, 34.0
	background            = "#0d1117"
	foreground            = "#e6edf3"
)

// svg draws lines of cells as a window.
func svg(lines [][]cell, width, height int, about string) string {
	w, h := float64(width)*cellWidth+2*margin, float64(height)*cellHeight+margin+bar
	var b strings.Builder
	fmt.Fprintf(&b, `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %.0f %.0f" width="%.0f" height="%.0f" role="img" aria-label="%s">`+"\n", w, h, w, h, html.EscapeString(about))
	fmt.Fprintf(&b, `<style>text{font:14px ui-monospace,SFMono-Regular,Menlo,Consolas,"DejaVu Sans Mono",monospace;white-space:pre;fill:%s}.b{font-weight:700}</style>`+"\n", foreground)
	fmt.Fprintf(&b, `<rect width="%.0f" height="%.0f" rx="10" fill="%s" stroke="#30363d"/>`+"\n", w, h, background)
	for i, c := range []string{"#ff5f57", "#febc2e", "#28c840"} {
		fmt.Fprintf(&b, `<circle cx="%d" cy="17" r="5.5" fill="%s"/>`+"\n", 20+i*19, c)
	}
	for y, line := range lines[:min(len(lines), height)] {
		drawLine(&b, line, bar+float64(y)*cellHeight)
	}
	return b.String() + "</svg>\n"
}

// drawLine draws the runs of one style of a line, backgrounds first.
func drawLine(b *strings.Builder, line []cell, top float64) {
	for i := 0; i < len(line); {
		end := i + 1
		for end < len(line) && line[end].as == line[i].as {
			end++
		}
		x, n, as := margin+float64(i)*cellWidth, float64(end-i)*cellWidth, line[i].as
		if as.bg != "" && as.bg != background {
			fmt.Fprintf(b, `<rect x="%.1f" y="%.1f" width="%.1f" height="%.1f" fill="%s"/>`+"\n", x, top, n+0.7, cellHeight, as.bg)
		}
		drawText(b, line[i:end], x, top)
		i = end
	}
}

// drawText draws characters of one style, word by word: textLength holds each
// to the grid whatever font there is, and no viewer keeps blanks.
func drawText(b *strings.Builder, run []cell, x, top float64) {
	for i := 0; i < len(run); {
		end := i
		for end < len(run) && run[end].r != ' ' {
			end++
		}
		if end > i {
			drawWord(b, run[i:end], x+float64(i)*cellWidth, top)
		}
		i = end + 1
	}
}

func drawWord(b *strings.Builder, word []cell, x, top float64) {
	var s strings.Builder
	for _, c := range word {
		s.WriteRune(c.r)
	}
	as := word[0].as
	attr := ""
	if as.fg != "" {
		attr += fmt.Sprintf(` style="fill:%s"`, as.fg)
	}
	if as.bold {
		attr += ` class="b"`
	}
	if as.dim {
		attr += ` opacity="0.6"`
	}
	n := float64(len(word)) * cellWidth
	if word[0].r == '─' { // a font's own may leave gaps
		fmt.Fprintf(b, `<rect x="%.1f" y="%.1f" width="%.1f" height="1" fill="%s"/>`+"\n", x, top+cellHeight/2, n, as.fg)
		return
	}
	fmt.Fprintf(b, `<text x="%.1f" y="%.1f" textLength="%.1f"%s>%s</text>`+"\n", x, top+14, n, attr, html.EscapeString(s.String()))
}
