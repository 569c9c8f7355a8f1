package rule

import (
	"strings"

	"beckon/event"
)

// A flat text has a line for each member of a rule: a letter and a text. The conditions of "unless"
// have a u before the letter.
const (
	flatRule   = "r" // a rule begins; "r allow" approves
	flatTool   = "t"
	flatOnly   = "o"
	flatSays   = "s"
	flatUnless = "u"
	flatLists  = "cxpw" // see Conditions.list
)

// list returns the conditions of a kind.
func (c *Conditions) list(letter string) *[]string {
	switch letter {
	case "c":
		return &c.Commands
	case "x":
		return &c.Regex
	case "p":
		return &c.Paths
	case "w":
		return &c.Words
	}
	return new([]string)
}

// Flatten writes rules as lines, to be read by May in a moment.
func Flatten(rules []Rule) []byte {
	var out strings.Builder
	escapes := strings.NewReplacer(`\`, `\\`, "\n", `\n`)
	line := func(kind, text string) { out.WriteString(kind + " " + escapes.Replace(text) + "\n") }
	lists := func(prefix string, c *Conditions) {
		for letter := range strings.SplitSeq(flatLists, "") {
			for _, text := range *c.list(letter) {
				line(prefix+letter, text)
			}
		}
	}
	for _, r := range rules {
		line(flatRule, map[bool]string{true: "allow"}[r.Allow])
		for _, m := range r.Tools {
			line(flatTool, m.Text())
		}
		if r.Only != nil {
			line(flatOnly, r.Only.Text())
		}
		if r.Says != nil {
			line(flatSays, r.Says.Text())
		}
		if lists("", &r.Conditions); r.Unless != nil {
			line(flatUnless, "")
			lists(flatUnless, r.Unless)
		}
	}
	return []byte(out.String())
}

// May reports whether one of the rules of Flatten decides, or may decide, a call. A text that
// cannot be read may.
func May(flat []byte, c *Call) bool {
	var allow []*Rule
	var r *Rule
	decides := func() bool { // the rule that has been read
		if r == nil || r.Only != nil && !r.Only.Match(c) {
			return false
		}
		if r.Allow {
			allow = append(allow, r)
			return false
		}
		return r.Judge(c).Result > No
	}
	escapes := strings.NewReplacer(`\\`, `\`, `\n`, "\n")
	for line := range strings.Lines(string(flat)) {
		line, whole := strings.CutSuffix(line, "\n")
		kind, text, _ := strings.Cut(line, " ")
		if strings.Contains(text, `\`) {
			text = escapes.Replace(text)
		}
		switch {
		case whole && kind == flatRule:
			if decides() {
				return true
			}
			r = &Rule{Allow: text == "allow"}
		case !whole, r == nil, r.read(kind, text) != nil:
			return true
		}
	}
	return decides() || Allows(allow, c) != nil
}

// read adds a line of a flat text.
func (r *Rule) read(kind, text string) (err error) {
	into := &r.Conditions
	if letter, unless := strings.CutPrefix(kind, flatUnless); unless {
		if r.Unless == nil {
			r.Unless = &Conditions{}
		}
		kind, into = letter, r.Unless
	}
	switch kind {
	case flatTool:
		var m Matcher
		m, err = NewMatcher(event.PreToolUse, text)
		r.Tools = append(r.Tools, m)
	case flatOnly:
		r.Only, err = NewPermission(text)
	case flatSays:
		r.Says, err = NewPermission(text)
	default:
		list := into.list(kind)
		*list = append(*list, text)
	}
	return err
}
