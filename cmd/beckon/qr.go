package main

import (
	"io"
	"strings"

	"rsc.io/qr"
)

// quiet is the margin around a QR code, in modules, as the standard requires.
const quiet = 4

// drawQR writes text as a QR code, two modules per character. It is dark on light whatever the
// terminal's colours are; without colour it assumes a dark terminal.
func drawQR(w io.Writer, text string, color bool) error {
	code, err := qr.Encode(text, qr.L)
	if err != nil {
		return err
	}
	begin, end, halves := "\x1b[30;107m", "\x1b[0m", [2][2]string{{" ", "▄"}, {"▀", "█"}} // upper, lower dark
	if !color {
		begin, end, halves = "", "", [2][2]string{{"█", "▀"}, {"▄", " "}}
	}
	dark := func(x, y int) int {
		if code.Black(x, y) { // false outside
			return 1
		}
		return 0
	}
	var b strings.Builder
	for y := -quiet; y < code.Size+quiet; y += 2 {
		b.WriteString(begin)
		for x := -quiet; x < code.Size+quiet; x++ {
			b.WriteString(halves[dark(x, y)][dark(x, y+1)])
		}
		b.WriteString(end + "\n")
	}
	_, err = io.WriteString(w, b.String())
	return err
}
