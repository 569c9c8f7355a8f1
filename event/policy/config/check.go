package config

import (
	"fmt"
	"os/exec"
	"slices"
	"strings"
	"sync"

	"beckon/event/agents"
	"beckon/event/policy/rule"
	"beckon/event/policy/shell"
	"beckon/event/policy/wire"
	"beckon/event/typed"
)

// Check returns warnings about valid hooks that are probably mistakes.
func Check(hooks []*Hook) (out []Problem) {
	for _, h := range hooks {
		warn := func(advice, format string, args ...any) {
			what := h.ID + ": " + fmt.Sprintf(format, args...)
			out = append(out, Problem{File: h.File, Line: h.Line, Path: h.Path, What: what, Advice: advice})
		}
		for _, name := range h.Gone {
			warn("leave it out; a rule that allows is off until then", "%q has no effect any more", name)
		}
		h.checkMatcher(warn)
		h.checkRule(hooks, warn)
	}
	return out
}

// warning adds a warning.
type warning func(advice, format string, args ...any)

func (h *Hook) checkMatcher(warn warning) {
	m, can := h.Matcher, wire.RulesOf(h.Event)
	if !can.Tool {
		return
	}
	names := m.Names
	if h.If != nil {
		name, _, _ := strings.Cut(h.If.Text, "(")
		names = append(slices.Clip(names), name)
	}
	for _, name := range names {
		for _, t := range strings.Fields(agents.Tools) {
			if strings.EqualFold(t, name) && t != name {
				warn(fmt.Sprintf("did you mean %q?", t),
					"the matcher %q is case-sensitive and takes no tool of the client", name)
			}
		}
	}
	if !m.All() && m.Match("Bash") && !m.Match("PowerShell") && can.Refuse != wire.NoWay && !h.Observe {
		warn(`"Bash|PowerShell"`, "where there is no Bash the client has PowerShell, which it does not match")
	}
}

// checkRule warns about conditions that can never hold.
func (h *Hook) checkRule(all []*Hook, warn warning) {
	r := h.Spec.Rule
	if r == nil {
		return
	}
	m := r.Match
	takes := func(names string) bool {
		return slices.ContainsFunc(strings.Fields(names), func(n string) bool {
			return !slices.ContainsFunc(m.Tools, func(m rule.Matcher) bool { return !m.Match(n) })
		})
	}
	if len(m.Commands)+len(m.Regex) > 0 && !takes("Bash PowerShell Monitor") {
		warn("", "no tool that it matches runs commands, so it never holds")
	}
	if len(m.Paths) > 0 && !takes("Bash PowerShell Edit Write Read NotebookEdit Glob Grep MultiEdit") {
		warn("", "no tool that it matches has a path, so it never holds")
	}
	if m.Allow && len(m.Words) > 0 && len(m.Paths)+len(m.Commands)+len(m.Regex) == 0 {
		warn("give it commands or paths", "it approves whatever has these words in it, and all that is beside them")
	}
	for _, text := range m.Doubts() {
		warn("", "%s", text)
	}
	if h.Level != Own && !strings.Contains(h.ID, "/") { // a pack's are tested
		for _, entry := range m.Commands {
			spelling(entry, all, warn)
		}
	}
}

// spelling warns about a word that the entries and examples of all rules and packs write differently: the program, or
// a word behind the same program.
func spelling(entry string, all []*Hook, warn warning) {
	lines := packed()
	for _, h := range all {
		if r := h.Spec.Rule; r != nil {
			lines = slices.Concat(lines, r.Match.Commands, r.Examples)
		}
	}
	words := strings.Fields(entry)
	var programs, known []string
	for _, line := range lines {
		if other := strings.Fields(line); line != entry && len(other) > 0 {
			if programs = append(programs, other[0]); other[0] == words[0] {
				known = append(known, other[1:]...)
			}
		}
	}
	if _, err := exec.LookPath(words[0]); err != nil && !shell.IsKnown(words[0]) {
		misspelt(entry, words[0], programs, warn)
	}
	for _, w := range words[1:] {
		misspelt(entry, w, known, warn)
	}
}

// misspelt warns about a word of an entry that is nearly one of the known ones. A plural is another word.
func misspelt(entry, word string, known []string, warn warning) {
	const short = 5 // shorter words are often near others
	if len(word) < short || slices.Contains(known, word) {
		return
	}
	sorted := func(word string) string { return string(slices.Sorted(slices.Values([]byte(word)))) }
	for _, k := range known {
		longer := len(word) - len(k)
		near := typed.Nearest(word, []string{k}) != "" && (longer == 1 || longer == -1 || sorted(word) == sorted(k))
		if near && k+"s" != word && word+"s" != k && !strings.HasPrefix(k, word+"-") {
			warn(fmt.Sprintf("did you mean %q?", k),
				"commands: %q of %q is near to a word that is known of the program", word, entry)
			return
		}
	}
}

// packed returns the entries of all packs.
var packed = sync.OnceValue(func() (list []string) {
	var d decoder
	for _, name := range Packs() {
		d.pack(name, place{})
	}
	for _, h := range d.hooks {
		list = append(list, h.Spec.Rule.Match.Commands...)
	}
	return list
})

// Describe describes what a hook does, for people.
func (h *Hook) Describe() string {
	s := h.Spec
	switch h.Type {
	case BuiltIn:
		return s.Rule.describe()
	case Command:
		return strings.Join(append([]string{s.Command}, s.Args...), " ")
	case Prompt:
		return s.Prompt
	}
	return s.URL
}

func (r *Rule) describe() string {
	parts := r.Match.Texts("")
	if r.Match.Says != nil {
		parts = append(parts, r.Match.Says.Text)
	}
	for _, m := range r.Match.Tools {
		parts = append(parts, "tool "+m.Text)
	}
	if r.Match.Unless != nil {
		parts = append(parts, r.Match.Unless.Texts("unless ")...)
	}
	return strings.TrimSuffix(string(r.Decision)+": "+strings.Join(parts, "; "), ": ")
}
