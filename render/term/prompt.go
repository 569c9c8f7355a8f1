package term

import (
	"slices"
	"strings"

	"beckon/render"
	"beckon/state"
)

// PromptFields are the fields of a prompt's template, as the manual has them.
var PromptFields = []string{"permission", "question", "failed", "working", "compacting", "idle", "backburner",
	"unknown", "unseen", "need", "total", "first", "state", "age", "names"}

// DefaultPrompt is the prompt's default template: empty if no session needs the user.
const DefaultPrompt = "[!{permission} ][?{question} ][x{failed}]"

// Target is where a prompt's text goes, which decides what must be escaped in the values.
// Values are never trusted: a branch may be called #(rm -rf ~).
type Target string

// The targets.
const (
	Plain    Target = "plain"
	Zsh      Target = "zsh"      // PROMPT: % begins a sequence
	Tmux     Target = "tmux"     // status-right: # begins one
	Polybar  Target = "polybar"  // %{ begins one
	Pango    Target = "pango"    // markup, as in waybar
	SwiftBar Target = "swiftbar" // | begins a line's parameters, a command among them
)

// Targets are all of them.
var Targets = []Target{Plain, Zsh, Tmux, Polybar, Pango, SwiftBar}

// escapes makes texts literal at a target.
var escapes = map[Target]*strings.Replacer{
	Zsh:  strings.NewReplacer("%", "%%"),
	Tmux: strings.NewReplacer("#", "##"),
	// polybar has no escape: a character without width keeps "%" and "{" apart.
	Polybar:  strings.NewReplacer("%", "%\u200b", "{", "\u200b{"),
	SwiftBar: strings.NewReplacer("|", "¦"),
	Pango:    strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;"),
}

func (t Target) escape(s string) string {
	if r := escapes[t]; r != nil {
		return r.Replace(s)
	}
	return s
}

// Prompt returns one line about the sessions, empty if the template's groups are.
func Prompt(rows []render.Row, f Format, t Target, st Style) string {
	line := f.fill(func(field string) string { return t.escape(promptField(rows, field, st)) }, 0)
	return strings.ReplaceAll(line, "\n", " ")
}

func promptField(rows []render.Row, field string, st Style) string {
	waiting := Waiting(rows)
	switch {
	case field == "names":
		_, list, _ := strings.Cut(NeedList(rows, Style{Now: st.Now}), ": ")
		return list
	case !slices.Contains([]string{"first", "state", "age"}, field):
		return count(rows, field)
	case len(waiting) == 0:
		return ""
	case field == "first":
		return names(waiting)[0]
	case field == "state":
		return string(waiting[0].State)
	}
	return Age(st.Now.Sub(waiting[0].Since))
}

// Bar is a status bar's module, in the format of waybar's custom modules.
type Bar struct {
	Text    string   `json:"text"`
	Alt     string   `json:"alt"` // the most urgent state, or "quiet"
	Tooltip string   `json:"tooltip"`
	Class   []string `json:"class"` // the states present, "needs-you" or "quiet"
}

// BarOf returns the module's content: the prompt, and a line for each waiting session in the
// tooltip. waybar reads both as Pango markup.
func BarOf(rows []render.Row, f Format, st Style) Bar {
	b := Bar{Text: Prompt(rows, f, Pango, st), Alt: "quiet", Class: []string{"quiet"}}
	waiting := Waiting(rows)
	if len(waiting) > 0 {
		b.Alt, b.Class[0] = string(waiting[0].State), "needs-you"
	}
	for _, s := range state.States {
		if count(rows, string(s)) != "" {
			b.Class = append(b.Class, string(s))
		}
	}
	var lines []string
	for i, name := range names(waiting) {
		entry := Style{Now: st.Now}.entry(name, &waiting[i])
		if what := waiting[i].What(); what != "" {
			entry += ": " + clean(what)
		}
		lines = append(lines, Pango.escape(entry))
	}
	b.Tooltip = strings.Join(lines, "\n")
	return b
}
