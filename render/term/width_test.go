package term

import "github.com/charmbracelet/x/ansi"

func stringWidth(s string) int { return ansi.StringWidth(s) }
func strip(s string) string    { return ansi.Strip(s) }
