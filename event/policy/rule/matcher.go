package rule

import (
	"errors"
	"regexp"
	"slices"
	"strings"

	"beckon/event"
	"beckon/event/policy/shell"
)

// Matcher says which invocations of an event a hook is for: all, those whose value is in a list, or those
// in whose value an expression matches.
type Matcher struct {
	text  string
	exact []string
	re    *regexp.Regexp
}

// NewMatcher parses a matcher for events of kind k. An expression that is invalid, or that the client would
// read differently, is an error.
func NewMatcher(k event.Kind, text string) (Matcher, error) {
	m := Matcher{text: text}
	if text == "" || text == "*" || text == ".*" {
		return m, nil
	}
	if info, _ := event.Lookup(k); info.Matcher == "" {
		return m, errors.New("the event has nothing to match; the client would ignore the matcher")
	}
	if list, ok := exactList(k, text); ok {
		m.exact = list
		return m, nil
	}
	if err := foreign(text); err != nil {
		return m, err
	}
	re, err := regexp.Compile(text)
	m.re = re
	return m, err
}

// exactList splits a list of plain names; false if text is an expression.
func exactList(k event.Kind, text string) ([]string, bool) {
	separators, more := "|,", "- ,"
	if k == event.FileChanged || k == event.StopFailure {
		separators, more = "|", ""
	}
	if strings.Trim(text, shell.Alphanumeric+"_|"+more) != "" {
		return nil, false
	}
	list := strings.FieldsFunc(text, func(r rune) bool { return strings.ContainsRune(separators, r) })
	for i := range list {
		list[i] = strings.TrimSpace(list[i])
	}
	return list, true
}

// foreign reports an escape that means something else in JavaScript, where matchers come from.
func foreign(text string) error {
	escapes := strings.Split(strings.ReplaceAll(text, `\\`, ""), `\`)
	for _, e := range escapes[1:] {
		if e != "" && strings.IndexByte("AzQEaCpP", e[0]) >= 0 {
			return errors.New("error parsing regexp: `\\" + e[:1] + "` means something else to the client")
		}
	}
	return nil
}

// All reports whether m matches every invocation.
func (m Matcher) All() bool { return m.exact == nil && m.re == nil }

// Names returns the values of a matcher that is a list; nil for an expression.
func (m Matcher) Names() []string { return m.exact }

// Text returns the matcher as written.
func (m Matcher) Text() string { return m.text }

// Match reports whether m matches the value.
func (m Matcher) Match(value string) bool {
	switch {
	case m.re != nil:
		return m.re.MatchString(value)
	case m.exact != nil:
		return slices.Contains(m.exact, value)
	}
	return true
}
