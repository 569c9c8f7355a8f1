// Package osc writes the terminal sequences that notify and that set a title: OSC 9, 777, 99
// and 2, and BEL. The client forwards only these for a hook (CONTRACT.md 9, terminalSequence).
//
// It guarantees that no text can end its sequence or begin another: control characters of both
// sets are removed, the separators of each protocol are replaced, and a text is cut to a
// stated length.
package osc

import (
	"strings"

	"beckon/event"
)

// Style is the sequence that a terminal understands as a notification.
type Style string

// The styles.
const (
	Bell   Style = "bell"
	OSC9   Style = "osc9"   // one text: iTerm2, and many others
	OSC777 Style = "osc777" // title and text: urxvt, foot, Ghostty, WezTerm, Warp
	OSC99  Style = "osc99"  // title and text, and only while the window is not in focus: kitty
	Both   Style = "both"   // OSC 9, and BEL for a terminal that does not know it
)

// Limits of texts, in bytes.
const (
	maxTitle = 80
	maxBody  = 200
)

// For returns the style for a terminal. Inside a multiplexer it is the outer terminal's: the
// client wraps its output for tmux.
func For(t event.Terminal) Style {
	kind := t.Kind
	switch kind {
	case "tmux", "zellij", "screen", "ssh", "herdr":
		kind = t.Outer
	}
	switch kind {
	case "kitty":
		return OSC99
	case "ghostty", "wezterm", "warp", "foot", "rxvt":
		return OSC777
	case "iterm2":
		return OSC9
	case "":
		return Both
	}
	return Bell
}

// Progress returns the sequence (OSC 9;4) by which a terminal shows that its program works, or waits
// for the user; at rest it shows nothing.
func Progress(works, waits bool) string {
	switch {
	case waits:
		return "\x1b]9;4;4;100\a"
	case works:
		return "\x1b]9;4;3;0\a"
	}
	return "\x1b]9;4;0;0\a"
}

// Notify returns the sequence that shows title and body. id distinguishes notifications where
// the protocol can.
func Notify(s Style, id, title, body string) string {
	title, body = event.OneLine(title, maxTitle), event.OneLine(body, maxBody)
	switch s {
	case OSC9:
		return osc9(title, body)
	case OSC777:
		semi := strings.NewReplacer(";", ",")
		return "\x1b]777;notify;" + semi.Replace(title) + ";" + semi.Replace(body) + "\a"
	case OSC99:
		return kitty(word(id), title, body)
	case Both:
		return osc9(title, body) + "\a"
	}
	return "\a"
}

// osc9 returns OSC 9. Text that begins with a number and a semicolon would be one of ConEmu's
// commands, which Windows Terminal knows too.
func osc9(title, body string) string {
	text := title + body
	if title != "" && body != "" {
		text = title + ": " + body
	}
	if text != "" && text[0] >= '0' && text[0] <= '9' {
		text = "beckon: " + text
	}
	return "\x1b]9;" + text + "\a"
}

// kitty returns OSC 99: the title opens the notification, the body completes it.
func kitty(id, title, body string) string {
	const unfocused = ":o=unfocused"
	if body == "" {
		return "\x1b]99;i=" + id + unfocused + ";" + title + "\x1b\\"
	}
	return "\x1b]99;i=" + id + ":d=0" + unfocused + ";" + title + "\x1b\\" +
		"\x1b]99;i=" + id + ":d=1:p=body" + unfocused + ";" + body + "\x1b\\"
}

// word returns the characters of id that are allowed in a value of OSC 99's metadata.
func word(id string) string {
	id = strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || r == '-' || r == '_' {
			return r
		}
		return -1
	}, id)
	if id == "" {
		return "beckon"
	}
	return event.Cut(id, 64)
}

// Title returns the sequence that sets the window's title.
func Title(text string) string { return "\x1b]2;" + event.OneLine(text, maxTitle) + "\a" }

// Tmux wraps a sequence so that tmux forwards it to the outer terminal, which it does only
// with allow-passthrough on, and for windows in the background only with all.
func Tmux(seq string) string {
	return "\x1bPtmux;" + strings.ReplaceAll(seq, "\x1b", "\x1b\x1b") + "\x1b\\"
}
