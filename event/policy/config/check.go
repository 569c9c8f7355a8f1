package config

import (
	"fmt"
	"net/url"
	"os/exec"
	"slices"
	"strings"
	"sync"
	"time"

	"beckon/event"
	"beckon/event/policy/packs"
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
		for _, name := range h.Ignored {
			c.warn("leave it out", "%q has no effect any more", name)
		}
		c.time()
		c.matcher()
		c.rule()
		c.condition()
		c.address()
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

func (c *checking) time() {
	limit, h := wire.DeadlineOf(c.h.Event), c.h
	switch worst := time.Duration(h.Spec.Retries+1)*h.Timeout + time.Duration(h.Spec.Retries)*h.Spec.RetryDelay; {
	case h.Timeout > limit:
		c.warn("", "its time, %s, is more than all hooks of %s have together, %s", h.Timeout, h.Event, limit)
	case h.Type == Server && worst > limit && h.Event != event.SessionEnd:
		c.warn("lower retry_count or timeout_ms",
			"all of its tries may take %s; all hooks of %s together have %s", worst, h.Event, limit)
	}
}

// clientTools are the client's own tools, to find matchers that misspell them.
const clientTools = `Bash PowerShell Edit Write Read NotebookEdit Glob Grep WebFetch WebSearch
	Agent Task AskUserQuestion EnterPlanMode ExitPlanMode Skill Monitor`

// misspelt returns the tool of the client that name is but for the case of its letters; "" if there
// is none, or it is right.
func misspelt(name string) string {
	for _, t := range strings.Fields(clientTools) {
		if strings.EqualFold(t, name) && t != name {
			return t
		}
	}
	return ""
}

func (c *checking) matcher() {
	m := c.h.Matcher
	if !wire.RulesOf(c.h.Event).Tool {
		return
	}
	for _, name := range m.Names() {
		if t := misspelt(name); t != "" {
			c.warn(fmt.Sprintf("did you mean %q?", t),
				"the matcher %q is case-sensitive and takes no tool of the client", name)
		}
		if strings.HasPrefix(name, "mcp__") && strings.Count(name, "__") == 1 {
			c.warn(fmt.Sprintf("%q takes all of the server's tools", name+"__.*"), "%q is the name of no tool", name)
		}
	}
	for _, t := range strings.Fields(clientTools) {
		if m.Find(t) > 0 {
			c.warn("^ and $ hold it at its place", "the expression %q also finds something in %s", m.Text(), t)
			break
		}
	}
	shell := m.All() || m.Match("Bash")
	if shell && !m.All() && !m.Match("PowerShell") && wire.RulesOf(c.h.Event).Refuse != wire.NoWay && !c.h.Observe {
		c.warn(`"Bash|PowerShell"`, "where there is no Bash the client has PowerShell, which it does not match")
	}
}

// rule warns about conditions that can never hold.
func (c *checking) rule() {
	r := c.h.Spec.Rule
	if r == nil {
		return
	}
	takes := func(names string) bool {
		return slices.ContainsFunc(strings.Fields(names), func(n string) bool {
			return !slices.ContainsFunc(r.Match.Tools, func(m rule.Matcher) bool { return !m.Match(n) })
		})
	}
	m := r.Match
	if len(m.Commands)+len(m.Regex) > 0 && !takes("Bash PowerShell Monitor") {
		c.warn("", "no tool that it matches runs commands, so it never holds")
	}
	if len(m.Paths) > 0 && !takes("Bash PowerShell Edit Write Read NotebookEdit Glob Grep MultiEdit") {
		c.warn("", "no tool that it matches has a path, so it never holds")
	}
	if r.Decision == wire.Allow && len(m.Words) > 0 && len(m.Paths)+len(m.Commands)+len(m.Regex) == 0 {
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

// spelling warns about a program, subcommand or flag that other rules, packs and examples write
// differently.
func (c *checking) spelling(entry string) {
	words := strings.Fields(entry)
	others := c.lines(entry)
	var programs, known []string
	for _, line := range others {
		other := strings.Fields(line)
		programs = append(programs, other[0])
		if other[0] == words[0] {
			known = append(known, other[1:]...)
		}
	}
	if !slices.Contains(programs, words[0]) && !shell.IsKnown(words[0]) {
		if _, err := exec.LookPath(words[0]); err != nil {
			c.misspelt(entry, words[0], programs)
		}
	}
	for _, w := range words[1:] {
		if !slices.Contains(known, w) {
			c.misspelt(entry, w, known)
		}
	}
}

// misspelt warns about a word of an entry that is nearly one of the known ones. A plural is another
// word.
func (c *checking) misspelt(entry, word string, known []string) {
	const short = 5 // shorter words are often near others
	for _, k := range known {
		near := typed.Nearest(word, []string{k}) != "" && (abs(len(word)-len(k)) == 1 || sorted(word) == sorted(k))
		if near && len(word) >= short && k+"s" != word && word+"s" != k && !strings.HasPrefix(k, word+"-") {
			c.warn(
				fmt.Sprintf("did you mean %q?", k),
				"commands: %q of %q is near to a word that is known of the program",
				word,
				entry,
			)
			return
		}
	}
}

func abs(n int) int { return max(n, -n) }

func sorted(word string) string {
	letters := []byte(word)
	slices.Sort(letters)
	return string(letters)
}

// lines returns the other entries and the examples of all rules, and those of the packs.
func (c *checking) lines(entry string) (list []string) {
	for _, h := range c.all {
		if r := h.Spec.Rule; r != nil {
			list = append(append(list, r.Match.Commands...), r.Examples...)
		}
	}
	list = slices.DeleteFunc(list, func(line string) bool { return line == entry || strings.TrimSpace(line) == "" })
	return append(list, packed()...)
}

// packed returns the entries of all packs.
var packed = sync.OnceValue(func() (list []string) {
	for _, name := range packs.Names() {
		rules, _ := packs.Load(name)
		for _, r := range rules {
			list = append(list, r.Commands...)
		}
	}
	return list
})

// condition warns about an "if" for a tool that the client does not have.
func (c *checking) condition() {
	if c.h.If == nil {
		return
	}
	name, _, _ := strings.Cut(c.h.If.Text(), "(")
	switch t := misspelt(name); {
	case t != "":
		c.warn(fmt.Sprintf("did you mean %q?", t), "\"if\" names %q, which is not a tool of the client", name)
	case !strings.HasPrefix(name, "mcp__") && strings.Contains(name, "*"):
		c.warn("leave it out for all tools", "\"if\" names %q, which is not a tool", name)
	}
}

func (c *checking) address() {
	u, err := url.Parse(c.h.Spec.URL)
	if err != nil || u.Scheme != "http" {
		return
	}
	if name := u.Hostname(); name != "localhost" && !strings.HasPrefix(name, "127.") && name != "::1" {
		c.warn("https keeps them private", "what the agent does goes to %s as plain text", u.Host)
	}
}

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
	var parts []string
	list := func(name string, values []string) {
		if len(values) > 0 {
			parts = append(parts, name+" "+strings.Join(values, ", "))
		}
	}
	conditions := func(prefix string, c rule.Conditions) {
		list(prefix+"commands", c.Commands)
		list(prefix+"regex", c.Regex)
		list(prefix+"paths", c.Paths)
		list(prefix+"words", c.Words)
	}
	conditions("", r.Match.Conditions)
	if r.Match.Says != nil {
		parts = append(parts, r.Match.Says.Text())
	}
	for _, m := range r.Match.Tools[min(len(r.Match.Tools), 1):] { // the first is the group's
		list("tool", []string{m.Text()})
	}
	list("branch", r.Branches)
	list("repository", r.Repositories)
	if r.CI != nil {
		list("ci", []string{fmt.Sprint(*r.CI)})
	}
	if r.Match.Unless != nil {
		conditions("unless ", *r.Match.Unless)
	}
	if len(parts) == 0 {
		return string(r.Decision)
	}
	return string(r.Decision) + ": " + strings.Join(parts, "; ")
}

// FailMode says what happens to the event when the hook fails.
func (h *Hook) FailMode() string {
	switch {
	case h.Type == BuiltIn:
		return "-"
	case h.FailClosed:
		return "closed"
	}
	return "open"
}
