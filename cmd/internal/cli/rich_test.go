package cli

import (
	"testing"

	"github.com/charmbracelet/colorprofile"
)

// Rich agrees with colorprofile for every kind of terminal.
func TestRich(t *testing.T) {
	names := []string{"", "dumb", "linux", "vt100", "ansi", "xterm", "xterm-color", "xterm-16color", "xterm-256color", "xterm-direct",
		"xterm-kitty", "xterm-ghostty", "alacritty", "foot-extra", "contour", "rio", "st", "st-256color", "wezterm", "tmux", "tmux-256color",
		"screen", "screen.xterm-256color", "rxvt-unicode", "rxvt-unicode-256color", "konsole", "eterm-color"}
	for _, name := range names {
		for _, color := range []string{"", "truecolor", "24bit", "TrueColor", "yes", "no"} {
			for _, session := range []string{"", "8f1c"} {
				env := map[string]string{"TERM": name, "COLORTERM": color, "WT_SESSION": session}
				var list []string
				for k, v := range env {
					list = append(list, k+"="+v)
				}
				a := &App{Getenv: func(k string) string { return env[k] }}
				if got, want := a.Rich(), colorprofile.Env(list) >= colorprofile.ANSI256; got != want {
					t.Errorf("%v: 256 colours %t, want %t", env, got, want)
				}
			}
		}
	}
}
