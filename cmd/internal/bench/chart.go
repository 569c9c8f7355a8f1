package main

import (
	"fmt"
	"html"
	"math"
	"strings"
)

// The colour of the page around the chart is unknown: the chart has no background, and its
// colours are readable on white and on black.
const chartStyle = `
  text { font: 13px system-ui, -apple-system, "Segoe UI", "DejaVu Sans", sans-serif; fill: #737c87; }
  .title { font-weight: 600; font-size: 15px; }
  .value { font-variant-numeric: tabular-nums; }
  .bar { fill: #8c959f; } .ours, .dot { fill: #3b82f6; }
  .line { fill: none; stroke: #3b82f6; stroke-width: 2; }
  .axis { stroke: #8c959f; stroke-opacity: .5; }
  text.own { fill: #3b82f6; font-weight: 600; }`

const (
	chartWidth = 760
	barsLeft   = 280
	rowHeight  = 26
)

// chart draws the tables of hooks: the first as bars, the others as lines.
func chart(tables []table) string {
	var b strings.Builder
	y := 24
	text(&b, "title", "start", 0, y, "One hook on one tool event: CPU time, as multiples of a Go hello-world")
	y = bars(&b, tables[0].lines, y+14)
	y += 40
	text(&b, "title", "start", 0, y, "beckon-hook, as things grow")
	panel := chartWidth / 3
	for i, t := range tables[1:4] {
		lines(&b, t, i*panel, y+16, panel-36, 130)
	}
	y += 16 + 130 + 44
	return svg(&b, y, "CPU time of hooks as multiples of a Go hello-world")
}

// svg begins a chart of that height, with a description for people who cannot see it.
func svg(b *strings.Builder, height int, label string) string {
	return fmt.Sprintf(`<svg xmlns="http://www.w3.org/2000/svg" viewBox="-8 0 %d %d" width="%d" role="img" aria-label="%s">
<style>%s
</style>
%s</svg>
`, chartWidth+16, height, chartWidth+16, html.EscapeString(label), chartStyle, b.String())
}

func text(b *strings.Builder, class, anchor string, x, y int, s string) {
	fmt.Fprintf(b, `<text class="%s" text-anchor="%s" x="%d" y="%d">%s</text>`+"\n", class, anchor, x, y, html.EscapeString(s))
}

// drawn returns what the chart shows of a line: CPU time, the mean of both runs.
func drawn(l line) float64 { return (l.runs[0].cpu + l.runs[1].cpu) / 2 }

func bars(b *strings.Builder, rows []line, y int) int {
	top := 0.0
	for _, l := range rows {
		top = max(top, drawn(l))
	}
	for _, l := range rows {
		name, own := strings.ReplaceAll(l.name, "**", ""), strings.HasPrefix(l.name, "**")
		class, words := "bar", ""
		if own {
			class, words = "ours", "own"
		}
		w := max(int(drawn(l)/top*float64(chartWidth-barsLeft-60)), 2)
		text(b, words, "end", barsLeft-10, y+17, name)
		fmt.Fprintf(b, `<rect class="%s" x="%d" y="%d" width="%d" height="%d" rx="2"/>`+"\n", class, barsLeft, y+4, w, rowHeight-8)
		text(b, strings.TrimSpace("value "+words), "start", barsLeft+w+8, y+17, ratio(drawn(l)))
		y += rowHeight
	}
	return y
}

// lines draws one sweep.
func lines(b *strings.Builder, t table, x, y, w, h int) {
	var points []point
	for _, l := range t.lines[1:] { // without the hello-world
		points = append(points, point{short(l.name), ratio(drawn(l)), drawn(l)})
	}
	curve(b, t.title, points, x, y, w, h)
}

// point is one step of a curve.
type point struct {
	name, label string
	value       float64
}

// curve draws a curve. Its steps are side by side at equal distances.
func curve(b *strings.Builder, title string, points []point, x, y, w, h int) {
	top := 2.0
	for _, p := range points {
		top = max(top, p.value*1.15)
	}
	at := func(i int) (int, int) {
		return x + 14 + i*(w-28)/(len(points)-1), y + h - int(math.Round(points[i].value/top*float64(h-16)))
	}
	fmt.Fprintf(b, `<line class="axis" x1="%d" y1="%d" x2="%d" y2="%d"/>`+"\n", x, y+h, x+w, y+h)
	var path strings.Builder
	for i, p := range points {
		px, py := at(i)
		fmt.Fprintf(&path, "%d,%d ", px, py)
		fmt.Fprintf(b, `<circle class="dot" cx="%d" cy="%d" r="3"/>`+"\n", px, py)
		anchor := "middle"
		if i+1 < len(points) {
			if _, next := at(i + 1); py-next > 20 { // the line would cross it
				anchor, px = "end", px+8
			}
		}
		text(b, "value", anchor, px, py-9, p.label)
		px, _ = at(i)
		text(b, "", "middle", px, y+h+17, p.name)
	}
	fmt.Fprintf(b, `<polyline class="line" points="%s"/>`+"\n", strings.TrimSpace(path.String()))
	text(b, "", "middle", x+w/2, y+h+37, title)
}

// short makes a step's name fit under its point.
func short(name string) string {
	return strings.NewReplacer(",000", "k", " KB", "K", " MB", "M").Replace(name)
}
