package rule

import (
	"strings"

	"beckon/event"
)

// The lines of a flat rule: a letter and a text. The entries of "unless" have a u before the letter.
const (
	flatRule  = "r" // a rule begins; "r allow" approves
	flatTool  = "t"
	flatOnly  = "o"
	flatSays  = "s"
	flatEntry = "c"
	flatRegex = "x"
	flatPath  = "p"
	flatWord  = "w"
)

// Flatten writes rules as lines, to be read by May in a moment.
func Flatten(rules []Rule) []byte {
	var out []byte
	line := func(kind string, texts ...string) {
		for _, text := range texts {
			out = append(out, kind...)
			out = append(out, ' ')
			out = append(out, strings.NewReplacer(`\`, `\\`, "\n", `\n`).Replace(text)...)
			out = append(out, '\n')
		}
	}
	list := func(prefix string, c Conditions) {
		line(prefix+flatEntry, c.Commands...)
		line(prefix+flatRegex, c.Regex...)
		line(prefix+flatPath, c.Paths...)
		line(prefix+flatWord, c.Words...)
	}
	for _, r := range rules {
		if r.Allow {
			line(flatRule, "allow")
		} else {
			line(flatRule, "")
		}
		for _, m := range r.Tools {
			line(flatTool, m.Text())
		}
		if r.Only != nil {
			line(flatOnly, r.Only.Text())
		}
		if r.Says != nil {
			line(flatSays, r.Says.Text())
		}
		list("", r.Conditions)
		if r.Unless != nil {
			line("u", "")
			list("u", *r.Unless)
		}
	}
	return out
}

// May reports whether one of the rules of Flatten decides, or may decide, a call. A text that
// cannot be read may.
func May(flat []byte, c *Call) bool {
	var allow []*Compiled
	rest, plain := string(flat), strings.NewReplacer(`\\`, `\`, `\n`, "\n")
	for rest != "" {
		r, after, ok := unflatten(rest, plain)
		if rest = after; !ok {
			return true
		}
		compiled := r.Compile()
		switch {
		case r.Only != nil && !r.Only.Match(c):
		case r.Allow:
			allow = append(allow, compiled)
		case compiled.Judge(c).Result > No:
			return true
		}
	}
	return len(allow) > 0 && Allows(allow, c)
}

// unflatten reads the first rule of a flat text.
func unflatten(text string, plain *strings.Replacer) (r Rule, rest string, ok bool) {
	for first := true; text != ""; first = false {
		line, after, whole := strings.Cut(text, "\n")
		kind, value, named := strings.Cut(line, " ")
		switch {
		case !whole || !named || first != (kind == flatRule):
			return r, text, !first && whole && named
		case strings.Contains(value, `\`):
			value = plain.Replace(value)
		}
		text = after
		into := &r.Conditions
		if short, unless := strings.CutPrefix(kind, "u"); unless {
			if kind = short; r.Unless == nil {
				r.Unless = &Conditions{}
			}
			into = r.Unless
		}
		switch kind {
		case flatRule:
			r.Allow = value == "allow"
		case flatTool:
			m, err := NewMatcher(event.PreToolUse, value)
			if err != nil {
				return r, text, false
			}
			r.Tools = append(r.Tools, m)
		case flatOnly, flatSays:
			p, err := NewPermission(value)
			if err != nil {
				return r, text, false
			}
			if r.Only = p; kind == flatSays {
				r.Only, r.Says = nil, p
			}
		case flatEntry:
			into.Commands = append(into.Commands, value)
		case flatRegex:
			into.Regex = append(into.Regex, value)
		case flatPath:
			into.Paths = append(into.Paths, value)
		case flatWord:
			into.Words = append(into.Words, value)
		}
	}
	return r, text, true
}
