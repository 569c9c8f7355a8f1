package policy

import (
	"fmt"
	"net/url"
	"slices"
	"strings"
	"time"

	"beckon/event"
	"beckon/event/policy/handler"
)

// Check returns what is probably not meant in hooks that load.
func Check(hooks []*Hook) []Problem {
	var out []Problem
	for _, h := range hooks {
		c := checking{h: h, all: hooks}
		c.time()
		c.reach()
		c.matcher()
		c.rule()
		c.condition()
		c.shadowed()
		c.address()
		c.observing()
		out = append(out, c.found...)
	}
	return out
}

// checking is one hook under Check.
type checking struct {
	h     *Hook
	all   []*Hook
	found []Problem
}

func (c *checking) warn(advice, format string, args ...any) {
	c.found = append(c.found, Problem{File: c.h.File, Line: c.h.Line, Path: c.h.Path, What: c.h.ID + ": " + fmt.Sprintf(format, args...), Advice: advice, Warning: true})
}

func (c *checking) time() {
	limit, h := DeadlineOf(c.h.Event), c.h
	switch worst := time.Duration(h.Spec.Retries+1)*h.Timeout + time.Duration(h.Spec.Retries)*h.Spec.RetryDelay; {
	case h.Timeout > limit:
		c.warn("", "its time, %s, is more than all hooks of %s have together, %s", h.Timeout, h.Event, limit)
	case h.Type == TypeServer && worst > limit && h.Event != event.SessionEnd:
		c.warn("lower retry_count or timeout_ms", "all of its tries may take %s; all hooks of %s together have %s", worst, h.Event, limit)
	}
}

// reach warns about events that the installer leaves out by default.
func (c *checking) reach() {
	if info, _ := event.Lookup(c.h.Event); info.Register == event.All {
		c.warn("beckon install --events all registers it", "%s is not among the core events", c.h.Event)
	}
}

// tools are the client's own tools, for matchers that miss them by a letter.
var tools = []string{"Bash", "PowerShell", "Edit", "Write", "Read", "NotebookEdit", "Glob", "Grep", "WebFetch", "WebSearch",
	"Agent", "Task", "AskUserQuestion", "EnterPlanMode", "ExitPlanMode", "Skill", "Monitor"}

func (c *checking) matcher() {
	m := c.h.Matcher
	if !rulesOf(c.h.Event).tool {
		return
	}
	for _, name := range m.exact {
		i := slices.IndexFunc(tools, func(t string) bool { return strings.EqualFold(t, name) })
		if i >= 0 && tools[i] != name {
			c.warn(fmt.Sprintf("did you mean %q?", tools[i]), "the matcher %q is case-sensitive and takes no tool of the client", name)
		}
		if strings.HasPrefix(name, "mcp__") && strings.Count(name, "__") == 1 {
			c.warn(fmt.Sprintf("%q takes all of the server's tools", name+"__.*"), "%q is the name of no tool", name)
		}
	}
	for _, t := range tools {
		if at := m.inside(t); at > 0 {
			c.warn("^ and $ hold it at its place", "the expression %q also finds something in %s", m.text, t)
			break
		}
	}
	shell := m.All() || m.Match("Bash")
	if shell && !m.All() && !m.Match("PowerShell") && rulesOf(c.h.Event).refuse != noRefusal && !c.h.Observe {
		c.warn(`"Bash|PowerShell"`, "where there is no Bash the client has PowerShell, which it does not match")
	}
}

// inside returns where an expression finds something in a name, past its
// beginning; else 0.
func (m Matcher) inside(name string) int {
	if m.re == nil {
		return 0
	}
	at := m.re.FindStringIndex(name)
	if at == nil {
		return 0
	}
	return at[0]
}

// rule warns about conditions that can never hold.
func (c *checking) rule() {
	r := c.h.Spec.Rule
	if r == nil {
		return
	}
	takes := func(names ...string) bool {
		return slices.ContainsFunc(names, func(n string) bool {
			return (c.h.Matcher.All() || c.h.Matcher.Match(n)) && (r.Tools.All() || r.Tools.Match(n))
		})
	}
	if len(r.Commands) > 0 && !takes("Bash", "PowerShell", "Monitor") {
		c.warn("", "no tool that it matches runs commands, so it never holds")
	}
	if len(r.Paths) > 0 && !takes("Edit", "Write", "Read", "NotebookEdit", "Glob", "Grep", "MultiEdit") {
		c.warn("", "no tool that it matches has a path, so it never holds")
	}
	if len(r.Paths) > 0 && len(r.Commands) > 0 {
		c.warn("make two rules of it", "no tool has both a path and a command, so it never holds")
	}
	if r.Decision == handler.Allow && len(r.Words) > 0 && len(r.Paths)+len(r.Commands) == 0 {
		c.warn("give it commands or paths", "it approves whatever has these words in it, and all that is beside them")
	}
}

// condition warns about an "if" for a tool that the client does not have under
// that name.
func (c *checking) condition() {
	if c.h.If == nil {
		return
	}
	name := c.h.If.tool
	i := slices.IndexFunc(tools, func(t string) bool { return strings.EqualFold(t, name) })
	switch {
	case i >= 0 && tools[i] != name:
		c.warn(fmt.Sprintf("did you mean %q?", tools[i]), "\"if\" names %q, which is no tool of the client", name)
	case !strings.HasPrefix(name, "mcp__") && strings.Contains(name, "*"):
		c.warn("leave it out for all tools", "\"if\" names %q, which is no tool", name)
	}
}

// shadowed warns about a rule that another, which holds whenever it does,
// leaves nothing to decide.
func (c *checking) shadowed() {
	r := c.h.Spec.Rule
	if r == nil {
		return
	}
	for _, other := range c.all {
		o := other.Spec.Rule
		if o == nil || other == c.h || other.Event != c.h.Event || !other.Enabled || !o.always() || other.If != nil {
			continue
		}
		wider := other.Matcher.All() || other.Matcher.text == c.h.Matcher.text
		if wider && (rank(o.Decision) > rank(r.Decision) || o.Decision == r.Decision && !r.always()) {
			c.warn("", "%s decides %s for all that it matches, so it is never heard", other.Name(), o.Decision)
			return
		}
	}
}

// always reports whether a rule has no conditions.
func (r *Rule) always() bool {
	return r.Tools.All() && len(r.Paths)+len(r.Commands)+len(r.Words) == 0
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

// observing warns about a rule that nobody hears: of the types that do nothing
// but decide it is a trial, and trials are forgotten.
func (c *checking) observing() {
	if c.h.Observe && (c.h.Type == TypeRule || c.h.Type == TypePrompt) {
		c.warn(`without "observe" it counts`, "it only observes: what it decides is in beckon policy trace and nowhere else")
	}
}

// Describe says in words what a hook does, for people.
func (h *Hook) Describe() string {
	s := h.Spec
	switch h.Type {
	case TypeRule:
		return s.Rule.describe()
	case TypeCommand:
		return strings.Join(append([]string{s.Command}, s.Args...), " ")
	case TypePrompt:
		return s.Prompt
	case TypeProgram:
		return "registered by the program"
	}
	return s.URL
}

func (r *Rule) describe() string {
	var parts []string
	for _, list := range []struct {
		name   string
		values []string
	}{{"commands", r.Commands}, {"paths", r.Paths}, {"words", r.Words}} {
		if len(list.values) > 0 {
			parts = append(parts, list.name+" "+strings.Join(list.values, ", "))
		}
	}
	if !r.Tools.All() {
		parts = append(parts, "tool "+r.Tools.text)
	}
	if len(parts) == 0 {
		return string(r.Decision)
	}
	return string(r.Decision) + ": " + strings.Join(parts, "; ")
}

// FailMode says what becomes of the event when the hook does not work.
func (h *Hook) FailMode() string {
	switch {
	case h.Type == TypeRule:
		return "-"
	case h.FailClosed:
		return "closed"
	}
	return "open"
}

var _ handler.Handler = (*Rule)(nil)
