package rule

import (
	"strconv"
	"strings"

	"beckon/event"
)

// lists returns the lists of conditions, in the order of their numbers in a flat text.
func (c *Conditions) lists() [4]*[]string {
	return [...]*[]string{&c.Commands, &c.Regex, &c.Paths, &c.Words}
}

// fields are the names of the lists.
var fields = [...]string{"commands", "regex", "paths", "words"}

// Texts returns the lists for people, each with a word before its name.
func (c *Conditions) Texts(before string) (out []string) {
	for i, list := range c.lists() {
		if len(*list) > 0 {
			out = append(out, before+fields[i]+" "+strings.Join(*list, ", "))
		}
	}
	return out
}

// Flatten writes rules as lines for May: a letter for a member of a rule, or the number of a list, and a quoted text.
// A rule begins with r; its exception with u, and then with the numbers of that one's lists.
func Flatten(rules []Rule) []byte {
	var out []byte
	line := func(kind, text string) { out = append(strconv.AppendQuote(append(out, kind...), text), '\n') }
	conditions := func(c *Conditions) {
		for i, list := range c.lists() {
			for _, text := range *list {
				line(strconv.Itoa(i), text)
			}
		}
	}
	for _, r := range rules {
		line("r", strconv.FormatBool(r.Allow))
		for _, m := range r.Tools {
			line("t", m.Text())
		}
		if r.Only != nil {
			line("o", r.Only.Text())
		}
		if r.Says != nil {
			line("s", r.Says.Text())
		}
		if conditions(&r.Conditions); r.Unless != nil {
			line("u", "")
			conditions(r.Unless)
		}
	}
	return out
}

// May reports whether one of the rules of Flatten decides, or may decide, a call. A text that cannot be read may.
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
		return r.Evaluate(c).Result > No
	}
	for line := range strings.Lines(string(flat)) {
		text, err := strings.TrimSuffix(line[1:], "\n"), error(nil)
		if plain := strings.Trim(text, `"`); len(plain)+2 == len(text) && !strings.Contains(plain, `\`) {
			text = plain // in a third of the time
		} else {
			text, err = strconv.Unquote(text)
		}
		switch {
		case err == nil && line[0] == 'r':
			if decides() {
				return true
			}
			r = &Rule{Allow: text == "true"}
		case err != nil, r == nil, r.read(line[0], text) != nil:
			return true
		}
	}
	return decides() || Allows(allow, c) != nil
}

// read adds a line of a flat text.
func (r *Rule) read(kind byte, text string) (err error) {
	switch kind {
	case 't':
		var m Matcher
		m, err = NewMatcher(event.PreToolUse, text)
		r.Tools = append(r.Tools, m)
	case 'o':
		r.Only, err = NewPermission(text)
	case 's':
		r.Says, err = NewPermission(text)
	case 'u':
		r.Unless = &Conditions{}
	case '0', '1', '2', '3':
		into := &r.Conditions
		if r.Unless != nil {
			into = r.Unless
		}
		list := into.lists()[kind-'0']
		*list = append(*list, text)
	default:
		err = strconv.ErrSyntax
	}
	return err
}
