package osc

import (
	"regexp"
	"strings"
	"testing"
	"unicode/utf8"

	"beckon/event"
)

func TestNotify(t *testing.T) {
	for _, c := range []struct {
		style       Style
		title, body string
		want        string
	}{
		{Bell, "t", "b", "\a"},
		{OSC9, "t", "b", "\x1b]9;t: b\a"},
		{OSC9, "t", "", "\x1b]9;t\a"},
		{OSC9, "4;1;50", "b", "\x1b]9;beckon: 4;1;50: b\a"}, // a progress bar to ConEmu
		{OSC777, "t;u", "a;b", "\x1b]777;notify;t,u;a,b\a"},
		{OSC99, "t", "b", "\x1b]99;i=id-1:d=0:o=unfocused;t\x1b\\\x1b]99;i=id-1:d=1:p=body:o=unfocused;b\x1b\\"},
		{OSC99, "t", "", "\x1b]99;i=id-1:o=unfocused;t\x1b\\"},
		{Both, "t", "b", "\x1b]9;t: b\a\a"},
		{"", "t", "b", "\a"},
	} {
		if got := Notify(c.style, "id:;-\x1b1", c.title, c.body); got != c.want {
			t.Errorf("Notify(%s, %q, %q) = %q, want %q", c.style, c.title, c.body, got, c.want)
		}
	}
}

func TestFor(t *testing.T) {
	for want, terminals := range map[Style][]event.Terminal{
		OSC99:  {{Kind: "kitty"}, {Kind: "tmux", Outer: "kitty"}},
		OSC777: {{Kind: "ghostty"}, {Kind: "ssh", Outer: "wezterm"}},
		OSC9:   {{Kind: "iterm2"}},
		Bell:   {{Kind: "vscode"}, {Kind: "apple-terminal"}},
		Both:   {{}, {Kind: "tmux"}, {Kind: "ssh"}},
	} {
		for _, term := range terminals {
			if got := For(term); got != want {
				t.Errorf("For(%+v) = %s, want %s", term, got, want)
			}
		}
	}
}

func TestTmux(t *testing.T) {
	if got, want := Tmux("\x1b]9;x\a"), "\x1bPtmux;\x1b\x1b]9;x\a\x1b\\"; got != want {
		t.Errorf("Tmux = %q, want %q", got, want)
	}
}

// allowed matches what the client passes on. Nothing else may be written, whatever the texts
// contain.
var allowed = regexp.MustCompile(`^(\x1b\](9|777|99|2);[^\x00-\x1f\x7f-\x{9f}]*(\a|\x1b\\))*\a?$`)

func FuzzNotify(f *testing.F) {
	f.Add("title", "body", "id")
	f.Add("\x1b]0;x\a", "\x9b31m\u202egnp", "\x1b\\")
	f.Add("a\nb\tc", strings.Repeat("ä", 500), "\xff")
	f.Fuzz(func(t *testing.T, title, body, id string) {
		for _, s := range []Style{Bell, OSC9, OSC777, OSC99, Both, "other"} {
			got := Notify(s, id, title, body)
			if !utf8.ValidString(got) || !allowed.MatchString(got) || len(got) > 600 {
				t.Fatalf("Notify(%s, %q, %q, %q) = %q", s, id, title, body, got)
			}
		}
		if got := Title(title); !allowed.MatchString(got) || strings.Count(got, "\x1b") != 1 {
			t.Fatalf("Title(%q) = %q", title, got)
		}
	})
}
