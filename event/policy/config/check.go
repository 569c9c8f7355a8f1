package config

import (
	"fmt"
	"os/exec"
	"slices"
	"strings"
	"sync"

	"beckon/event/policy/rule"
	"beckon/event/policy/shell"
	"beckon/event/policy/wire"
	"beckon/event/typed"
)

// Check returns warnings about valid hooks that are probably mistakes.
func Check(hooks []*Hook) []Problem {
	var out []Problem
	for _, h := range hooks {
		c := checking{h: h, all: hooks}
		for _, name := range h.Gone {
			c.warn("leave it out; a rule that allows is off until then", "%q has no effect any more", name)
		}
		c.matcher()
		c.rule()
		out = append(out, c.found...)
	}
	return out
}

// checking is the state of Check for one hook.
type checking struct {
	h     *Hook
	all   []*Hook
	found []Problem
}

func (c *checking) warn(advice, format string, args ...any) {
	c.found = append(c.found, Problem{
		File:    c.h.File,
		Line:    c.h.Line,
		Path:    c.h.Path,
		What:    c.h.ID + ": " + fmt.Sprintf(format, args...),
		Advice:  advice,
		Warning: true,
	})
}

// clientTools are the client's own tools, to find matchers that misspell them.
const clientTools = `Bash PowerShell Edit Write Read NotebookEdit Glob Grep WebFetch WebSearch
	Agent Task AskUserQuestion EnterPlanMode ExitPlanMode Skill Monitor`

func (c *checking) matcher() {
	m, can := c.h.Matcher, wire.RulesOf(c.h.Event)
	if !can.Tool {
		return
	}
	names := m.Names()
	if c.h.If != nil {
		name, _, _ := strings.Cut(c.h.If.Text(), "(")
		names = append(slices.Clip(names), name)
	}
	for _, name := range names {
		for _, t := range strings.Fields(clientTools) {
			if strings.EqualFold(t, name) && t != name {
				c.warn(fmt.Sprintf("did you mean %q?", t),
					"the matcher %q is case-sensitive and takes no tool of the client", name)
			}
		}
	}
	if !m.All() && m.Match("Bash") && !m.Match("PowerShell") && can.Refuse != wire.NoWay && !c.h.Observe {
		c.warn(`"Bash|PowerShell"`, "where there is no Bash the client has PowerShell, which it does not match")
	}
}

// rule warns about conditions that can never hold.
func (c *checking) rule() {
	r := c.h.Spec.Rule
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
		c.warn("", "no tool that it matches runs commands, so it never holds")
	}
	if len(m.Paths) > 0 && !takes("Bash PowerShell Edit Write Read NotebookEdit Glob Grep MultiEdit") {
		c.warn("", "no tool that it matches has a path, so it never holds")
	}
	if m.Allow && len(m.Words) > 0 && len(m.Paths)+len(m.Commands)+len(m.Regex) == 0 {
		c.warn("give it commands or paths", "it approves whatever has these words in it, and all that is beside them")
	}
	for _, p := range m.Check() {
		if p.Doubt {
			c.warn("", "%s", strings.TrimPrefix(p.Field+": "+p.What, ": "))
		}
	}
	if c.h.Level != Own && !strings.Contains(c.h.ID, "/") { // a pack's are tested
		for _, entry := range m.Commands {
			c.spelling(entry)
		}
	}
}

// spelling warns about a word that the entries and examples of all rules and packs write differently.
func (c *checking) spelling(entry string) {
	lines := packed()
	for _, h := range c.all {
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
		c.misspelt(entry, words[0], programs)
	}
	for _, w := range words[1:] {
		c.misspelt(entry, w, known)
	}
}

// misspelt warns about a word of an entry that is nearly one of the known ones. A plural is another word.
func (c *checking) misspelt(entry, word string, known []string) {
	const short = 5 // shorter words are often near others
	if len(word) < short || slices.Contains(known, word) {
		return
	}
	sorted := func(word string) string { return string(slices.Sorted(slices.Values([]byte(word)))) }
	for _, k := range known {
		longer := len(word) - len(k)
		near := typed.Nearest(word, []string{k}) != "" && (longer == 1 || longer == -1 || sorted(word) == sorted(k))
		if near && k+"s" != word && word+"s" != k && !strings.HasPrefix(k, word+"-") {
			c.warn(fmt.Sprintf("did you mean %q?", k),
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
		parts = append(parts, r.Match.Says.Text())
	}
	for _, m := range r.Match.Tools {
		parts = append(parts, "tool "+m.Text())
	}
	if r.Match.Unless != nil {
		parts = append(parts, r.Match.Unless.Texts("unless ")...)
	}
	return strings.TrimSuffix(string(r.Decision)+": "+strings.Join(parts, "; "), ": ")
}
