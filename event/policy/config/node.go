package config

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"beckon/event/nearest"

	"github.com/tailscale/hujson"
)

// Problem is one error in a policy file, and its place.
type Problem struct {
	File   string
	Line   int    // from 1; 0 for the file as a whole
	Path   string // JSON path: $.hooks.PreToolUse[0].matcher
	What   string
	Advice string // what to do about it, or ""
	// Warning marks a valid setting that is probably a mistake (only from Check).
	Warning bool
}

func (p Problem) Error() string {
	at := p.File
	if p.Line > 0 {
		at = fmt.Sprintf("%s:%d", p.File, p.Line)
	}
	if p.Path != "" {
		at += ": " + p.Path
	}
	return at + ": " + p.What
}

// Problems are all errors of a file, ordered by line. It is an error if it is not empty.
type Problems []Problem

func (p Problems) Error() string {
	lines := make([]string, len(p))
	for i := range p {
		lines[i] = p[i].Error()
		if a := p[i].Advice; a != "" && i < len(p)-1 {
			lines[i] += "\n  hint: " + a
		}
	}
	return strings.Join(lines, "\n")
}

// Hint returns the advice of the last problem; Error contains that of the others.
func (p Problems) Hint() string {
	if len(p) == 0 {
		return ""
	}
	return p[len(p)-1].Advice
}

// err returns p in order, nil when it is empty.
func (p Problems) err() error {
	if len(p) == 0 {
		return nil
	}
	slices.SortStableFunc(p, func(a, b Problem) int { return cmp.Compare(a.Line, b.Line) })
	return p
}

// document is a policy file being parsed; it collects every problem, so that a user sees all
// of them at once.
type document struct {
	file     string
	text     []byte
	lines    []int // offsets of the line breaks
	problems Problems
}

// node is one value of the document with its place.
type node struct {
	doc  *document
	v    hujson.Value
	path string
	at   int // offset of the member's name, else of the value
}

// parse parses the document's syntax: JSON with comments and trailing commas.
func (d *document) parse() (node, bool) {
	for at, c := range d.text {
		if c == '\n' {
			d.lines = append(d.lines, at)
		}
	}
	v, err := hujson.Parse(d.text)
	if err == nil {
		return node{doc: d, v: v, path: "$", at: v.StartOffset}, true
	}
	line := 1
	_, _ = fmt.Sscanf(err.Error(), "hujson: line %d", &line)
	what := strings.TrimPrefix(err.Error(), "hujson: ")
	if _, rest, ok := strings.Cut(what, ": "); ok && strings.HasPrefix(what, "line ") {
		what = rest
	}
	d.problems = append(d.problems, Problem{File: d.file, Line: line, What: "not JSON: " + what, Advice: "comments and trailing commas are allowed"})
	return node{}, false
}

// line returns the node's line in the file, from 1. Every hook has one, so counting from the
// start each time would take most of the time that a file of thousands of rules takes.
func (n node) line() int {
	line, _ := slices.BinarySearch(n.doc.lines, n.at)
	return 1 + line
}

// fail adds a problem of n.
func (n node) fail(advice, format string, args ...any) {
	n.doc.problems = append(n.doc.problems, Problem{
		File: n.doc.file, Line: n.line(), Path: n.path, What: fmt.Sprintf(format, args...), Advice: advice})
}

// field is one name and value of an object.
type field struct {
	name  string
	value node
}

// object returns the members of n in their order. A repeated name is a problem: JSON parsers
// differ in which one counts.
func (n node) object() ([]field, bool) {
	o, ok := n.v.Value.(*hujson.Object)
	if !ok {
		n.fail("", "is %s, not an object", n.kind())
		return nil, false
	}
	out := make([]field, 0, len(o.Members))
	seen := map[string]bool{}
	for _, m := range o.Members {
		name := m.Name.Value.(hujson.Literal).String()
		value := node{n.doc, m.Value, n.path + pathOf(name), m.Name.StartOffset}
		if seen[name] {
			value.fail("", "is set twice")
			continue
		}
		seen[name] = true
		out = append(out, field{name, value})
	}
	return out, true
}

// pathOf returns one step of a JSON path.
func pathOf(name string) string {
	for i, r := range name {
		if r != '_' && (r < 'a' || r > 'z') && (r < 'A' || r > 'Z') && (i == 0 || r < '0' || r > '9') {
			return "[" + strconv.Quote(name) + "]"
		}
	}
	return "." + name
}

// unknown reports an unknown member, with the nearest known name.
func (f field) unknown(known []string) {
	f.value.fail(suggest(f.name, known), "unknown key %q", f.name)
}

// items returns the elements of a list.
func (n node) items() []node {
	a, ok := n.v.Value.(*hujson.Array)
	if !ok {
		n.fail("", "is %s, not a list", n.kind())
		return nil
	}
	out := make([]node, len(a.Elements))
	for i, v := range a.Elements {
		out[i] = node{n.doc, v, fmt.Sprintf("%s[%d]", n.path, i), v.StartOffset}
	}
	return out
}

// text returns a string.
func (n node) text() (string, bool) {
	l, ok := n.v.Value.(hujson.Literal)
	if !ok || l.Kind() != '"' {
		n.fail("", "is %s, not a text", n.kind())
		return "", false
	}
	return l.String(), true
}

// filled returns a string that is not blank.
func (n node) filled() (string, bool) {
	s, ok := n.text()
	if ok && strings.TrimSpace(s) == "" {
		n.fail("", "is empty")
		return "", false
	}
	return s, ok
}

// oneOf returns a string that is one of the words.
func (n node) oneOf(words ...string) (string, bool) {
	s, ok := n.text()
	if ok && !slices.Contains(words, s) {
		n.fail("one of "+strings.Join(words, ", "), "no such value %q", s)
		return "", false
	}
	return s, ok
}

// truth returns true or false.
func (n node) truth() (value, ok bool) {
	l, ok := n.v.Value.(hujson.Literal)
	if !ok || l.Kind() != 't' && l.Kind() != 'f' {
		n.fail("", "is %s, not true or false", n.kind())
		return false, false
	}
	return l.Kind() == 't', true
}

// number returns a number.
func (n node) number() (float64, bool) {
	l, ok := n.v.Value.(hujson.Literal)
	if !ok || l.Kind() != '0' {
		n.fail("", "is %s, not a number", n.kind())
		return 0, false
	}
	f, err := strconv.ParseFloat(string(l), 64)
	if err != nil {
		n.fail("", "is too large a number")
	}
	return f, err == nil
}

// count returns an integer of at least min and at most max.
func (n node) count(min, max int) (int, bool) {
	f, ok := n.number()
	if ok && (f != math.Trunc(f) || f < float64(min) || f > float64(max)) {
		n.fail("", "is %v; a whole number from %d to %d is wanted", f, min, max)
		return 0, false
	}
	return int(f), ok
}

// texts returns one string, or a list of them.
func (n node) texts() []string {
	if l, ok := n.v.Value.(hujson.Literal); ok && l.Kind() == '"' {
		s, _ := n.filled()
		return []string{s}
	}
	var out []string
	for _, item := range n.items() {
		if s, ok := item.filled(); ok {
			out = append(out, s)
		}
	}
	return out
}

// values returns a list of strings in which empty ones are fine.
func (n node) values() []string {
	out := []string{}
	for _, item := range n.items() {
		if s, ok := item.text(); ok {
			out = append(out, s)
		}
	}
	return out
}

// strings reads an object of strings.
func (n node) strings() map[string]string {
	members, ok := n.object()
	if !ok {
		return nil
	}
	out := map[string]string{}
	for _, m := range members {
		if s, ok := m.value.text(); ok {
			out[m.name] = s
		}
	}
	return out
}

// kind returns the type of n, for people.
func (n node) kind() string {
	switch n.v.Value.Kind() {
	case '{':
		return "an object"
	case '[':
		return "a list"
	case '"':
		return "a text"
	case '0':
		return "a number"
	case 't', 'f':
		return "true or false"
	}
	return "null"
}

// suggest returns the word that name was probably meant to be.
func suggest(name string, words []string) string {
	return cmp.Or(nearest.DidYouMean(name, words), "known are "+strings.Join(words, ", "))
}
