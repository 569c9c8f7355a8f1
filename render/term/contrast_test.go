package term

import (
	"image/color"
	"math"
	"slices"
	"strconv"
	"strings"
	"testing"

	"charm.land/lipgloss/v2"
)

// terminalColors are a terminal's 16 colours and its background.
type terminalColors struct {
	name string
	back string
	of16 [16]string
}

var (
	xterm = [16]string{"#000000", "#cd0000", "#00cd00", "#cdcd00", "#0000ee", "#cd00cd", "#00cdcd", "#e5e5e5",
		"#7f7f7f", "#ff0000", "#00ff00", "#ffff00", "#5c5cff", "#ff00ff", "#00ffff", "#ffffff"}
	solarized = [16]string{"#073642", "#dc322f", "#859900", "#b58900", "#268bd2", "#d33682", "#2aa198", "#eee8d5",
		"#002b36", "#cb4b16", "#586e75", "#657b83", "#839496", "#6c71c4", "#93a1a1", "#fdf6e3"}
	terminals = []terminalColors{
		{"black", "#000000", xterm}, {"white", "#ffffff", xterm},
		{"Solarized dark", "#002b36", solarized}, {"Solarized light", "#fdf6e3", solarized},
	}
)

// contrast returns the ratio that WCAG 2 defines, from 1 to 21.
func contrast(a, b color.Color) float64 {
	x, y := luminance(a), luminance(b)
	return (max(x, y) + 0.05) / (min(x, y) + 0.05)
}

func luminance(c color.Color) float64 {
	linear := func(v uint32) float64 {
		if s := float64(v) / 0xffff; s > 0.04045 {
			return math.Pow((s+0.055)/1.055, 2.4)
		} else {
			return s / 12.92
		}
	}
	r, g, b, _ := c.RGBA()
	return 0.2126*linear(r) + 0.7152*linear(g) + 0.0722*linear(b)
}

// looks returns the ways in which a colour may appear: many terminals brighten the first eight
// when bold.
func (t terminalColors) looks(name string, bold bool) []color.Color {
	n, err := strconv.Atoi(name)
	switch {
	case err != nil || n >= 16:
		return []color.Color{lipgloss.Color(name)}
	case n < 8 && bold:
		return []color.Color{lipgloss.Color(t.of16[n]), lipgloss.Color(t.of16[n+8])}
	}
	return []color.Color{lipgloss.Color(t.of16[n])}
}

// Text in every colour of the lists is readable, whatever a terminal's background
// and its number of colours.
func TestContrast(t *testing.T) {
	const least = 3 // of large or bold text and of signs, by WCAG
	check := func(t *testing.T, what string, fg, bg color.Color) {
		t.Helper()
		if c := contrast(fg, bg); c < least {
			t.Errorf("%s: contrast %.2f", what, c)
		}
	}
	for _, at := range terminals {
		back := lipgloss.Color(at.back)
		t.Run(at.name, func(t *testing.T) {
			for sgr, name := range Midtones {
				check(t, "lists of 256 colours, "+sgr, lipgloss.Color(name), back)
			}
			for _, sgr := range Safe {
				for _, fg := range at.looks(strings.TrimPrefix(sgr, "3"), true) {
					check(t, "lists of 16 colours, "+sgr, fg, back)
				}
			}
		})
	}
}

// The examples of WCAG and Solarized have their known contrasts.
func TestContrastOf(t *testing.T) {
	for _, c := range []struct {
		a, b string
		want float64
	}{{"#000000", "#ffffff", 21}, {"#777777", "#ffffff", 4.48}, {"#839496", "#002b36", 4.75}} {
		if got := contrast(lipgloss.Color(c.a), lipgloss.Color(c.b)); math.Abs(got-c.want) > 0.01 {
			t.Errorf("%s on %s: %.3f, want %v", c.a, c.b, got, c.want)
		}
	}
}

// A terminal with 16 colours gets only these.
func TestSixteenColors(t *testing.T) {
	st := Style{Color: true}
	for _, sgr := range []string{"31", "1;31", "32", "1;32", "33", "34", "35", "36", "2", "1"} {
		plain := st.Paint(sgr, "x")
		color := strings.TrimPrefix(strings.TrimSuffix(strings.TrimPrefix(plain, "\x1b["), "mx\x1b[0m"), "1;")
		if plain != "x" && color != "1" && !slices.Contains(Safe, color) {
			t.Errorf("SGR %s is painted %q", sgr, plain)
		}
	}
}
