package main

import (
	"image"
	"image/color"
	"strings"
	"testing"

	"github.com/makiuchi-d/gozxing"
	"github.com/makiuchi-d/gozxing/qrcode"
)

// scan reads a QR code from a terminal, as a phone's camera does: light is what the terminal
// shows as light.
func scan(t *testing.T, screen string, darkTerminal bool) string {
	t.Helper()
	const side = 4 // pixels of a module
	lines := strings.Split(strings.TrimSuffix(screen, "\n"), "\n")
	wide := len([]rune(plainText(lines[0])))
	img := image.NewGray(image.Rect(0, 0, wide*side, 2*len(lines)*side))
	for y, line := range lines {
		for x, c := range []rune(plainText(line)) {
			for half, inks := range []string{"█▀", "█▄"} {
				shade := color.Gray{255}
				if strings.ContainsRune(inks, c) != darkTerminal { // ink is dark, unless the terminal is
					shade = color.Gray{0}
				}
				for i := range side * side {
					img.Set(x*side+i%side, (2*y+half)*side+i/side, shade)
				}
			}
		}
	}
	bitmap, err := gozxing.NewBinaryBitmapFromImage(img)
	if err != nil {
		t.Fatal(err)
	}
	read, err := qrcode.NewQRCodeReader().Decode(bitmap, map[gozxing.DecodeHintType]any{gozxing.DecodeHintType_TRY_HARDER: true})
	if err != nil {
		t.Fatalf("no code is seen in\n%s\n%v", screen, err)
	}
	return read.GetText()
}

// plainText returns the text of a line, without its colours.
func plainText(line string) string {
	return strings.NewReplacer("\x1b[30;107m", "", "\x1b[0m", "").Replace(line)
}

// Another program's reader of QR codes can read the code, with and without colour.
func TestQR(t *testing.T) {
	for _, text := range []string{"x", "http://192.0.2.7:7483/#ticket=6f1ed002ab5595859014ebf0951522d9", "https://a-machine-with-a-long-name.tail1234.ts.net:7483/#ticket=6f1ed002ab5595859014ebf0951522d9"} {
		for _, colored := range []bool{true, false} {
			code, err := drawQR(text, colored)
			if err != nil {
				t.Fatal(err)
			}
			if got := scan(t, code, !colored); got != text {
				t.Errorf("it is read as %q, want %q", got, text)
			}
			if lines := strings.Split(code, "\n"); len([]rune(plainText(lines[0]))) > 80 || len(lines) > 30 {
				t.Errorf("%d lines of %d columns", len(lines), len([]rune(plainText(lines[0]))))
			}
		}
	}
}
