package config

import (
	"bytes"
	"cmp"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"beckon/event/jsonenc"
	"beckon/event/typed"

	"github.com/tailscale/hujson"
)

// Problem is one error in a policy file, and its place.
type Problem struct {
	File   string
	Line   int    // from 1; 0 for the file as a whole
	Path   string // JSON path: $.hooks.PreToolUse[0].matcher
	What   string
	Advice string // what to do about it, or ""
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
		if a := p[i].Advice; a != "" {
			lines[i] += "\n  hint: " + a
		}
	}
	return strings.Join(lines, "\n")
}

// document is a policy file being parsed. It collects every problem, so that a user sees all at once.
type document struct {
	file     string
	text     []byte
	problems Problems
}

// place is where a value is: its JSON path, and the offset of the member's name, or of the list's element.
type place struct {
	path   string
	offset int
}

// member is a value of the file.
type member struct {
	place
	v hujson.ValueTrimmed
}

// object is an object being read. What has not been asked for by its end is an unknown member.
type object struct {
	*document
	place
	members map[string]member
	names   []string // in their order
	known   []string // those asked for
}

// gone are the members that an earlier release read and that have no effect any more. A file that
// has one stays in force: without the condition that it was, a rule covers more.
var gone = strings.Fields("strict exact trace unsure stop_blocks branch repository ci")

// read parses text, JSON with comments and trailing commas, which must be an object; nil if it is none.
func (d *document) read(text []byte) *object {
	d.text = text
	v, err := hujson.Parse(text)
	if err != nil {
		what, line := strings.TrimPrefix(err.Error(), "hujson: "), 1
		_, _ = fmt.Sscanf(what, "line %d", &line)
		const advice = "comments and trailing commas are allowed"
		d.problems = append(d.problems, Problem{File: d.file, Line: line, What: "not JSON: " + what, Advice: advice})
		return nil
	}
	return d.object(member{place{"$", v.StartOffset}, v.Value})
}

// err returns the problems in order, nil when there are none.
func (d *document) err() error {
	if len(d.problems) == 0 {
		return nil
	}
	slices.SortStableFunc(d.problems, func(a, b Problem) int { return cmp.Compare(a.Line, b.Line) })
	return d.problems
}

// fail adds a problem of the value at a place.
func (d *document) fail(at place, advice, format string, args ...any) {
	d.problems = append(d.problems, Problem{
		File:   d.file,
		Line:   d.line(at),
		Path:   at.path,
		What:   fmt.Sprintf(format, args...),
		Advice: advice,
	})
}

// line returns the line of a place, from 1.
func (d *document) line(at place) int { return 1 + bytes.Count(d.text[:at.offset], []byte("\n")) }

// kinds are the names of JSON's types, by the first byte of their values.
var kinds = map[hujson.Kind]string{
	'{': "an object",
	'[': "a list",
	'"': "a text",
	'0': "a number",
	't': "true or false",
	'f': "true or false",
	'n': "null",
}

// is reports whether a value has one of the types want, and a problem otherwise.
func (d *document) is(m member, want string) bool {
	got := m.v.Kind()
	if strings.IndexByte(want, byte(got)) >= 0 {
		return true
	}
	d.fail(m.place, "", "is %s, not %s", kinds[got], kinds[hujson.Kind(want[len(want)-1])])
	return false
}

// text returns the value of a text.
func (m member) text() string { return jsonenc.Unquote(string(m.v.(hujson.Literal)), -1) }

// object begins to read a value; nil if it is no object.
func (d *document) object(m member) *object {
	if !d.is(m, "{") {
		return nil
	}
	o := &object{document: d, place: m.place, members: map[string]member{}}
	for _, x := range m.v.(*hujson.Object).Members {
		name := member{v: x.Name.Value}.text()
		at := place{m.path + pathOf(name), x.Name.StartOffset}
		if o.has(name) { // parsers differ in which one counts
			d.fail(at, "", "is set twice")
		} else {
			o.names = append(o.names, name)
		}
		o.members[name] = member{at, x.Value.Value}
	}
	return o
}

// end reports the members that nobody asked for, and returns those in gone.
func (o *object) end() (ignored []string) {
	for _, name := range o.names {
		switch {
		case slices.Contains(o.known, name):
		case slices.Contains(gone, name):
			ignored = append(ignored, name)
		default:
			o.fail(o.at(name), suggest(name, o.known), "unknown key %q", name)
		}
	}
	return ignored
}

func (o *object) has(name string) bool {
	_, there := o.members[name]
	return there
}

// at returns the place of a member, or of the object if it has no such member.
func (o *object) at(name string) place {
	if m, there := o.members[name]; there {
		return m.place
	}
	return o.place
}

// get returns a member that is there and of one of the types want.
func (o *object) get(name, want string) (m member, ok bool) {
	o.known = append(o.known, name)
	m, there := o.members[name]
	return m, there && o.is(m, want)
}

// word returns a text, which may be empty.
func (o *object) word(name string) string {
	if m, ok := o.get(name, `"`); ok {
		return m.text()
	}
	return ""
}

// text returns a text that must not be blank, or must be one of several.
func (o *object) text(name string, of ...string) string {
	m, ok := o.get(name, `"`)
	if !ok {
		return ""
	}
	s := m.text()
	switch {
	case len(of) > 0 && !slices.Contains(of, s):
		o.fail(m.place, "one of "+strings.Join(of, ", "), "no such value %q", s)
	case strings.TrimSpace(s) == "":
		o.fail(m.place, "", "is empty")
	}
	return s
}

func (o *object) flag(name string, otherwise bool) bool {
	if m, ok := o.get(name, "tf"); ok {
		return m.v.(hujson.Literal).Bool()
	}
	return otherwise
}

// whole returns a whole number from 0 to most.
func (o *object) whole(name string, most, otherwise float64) float64 {
	m, ok := o.get(name, "0")
	if !ok {
		return otherwise
	}
	n := m.v.(hujson.Literal).Float()
	if n != math.Trunc(n) || n < 0 || n > most {
		o.fail(m.place, "", "is %v; a whole number from 0 to %v is wanted", n, most)
	}
	return n
}

// list returns the elements of a list; for want "[ also a text that stands alone.
func (o *object) list(name, want, of string) (list []member) {
	m, ok := o.get(name, want)
	a, several := m.v.(*hujson.Array)
	switch {
	case ok && several:
		for i, e := range a.Elements {
			x := member{place{m.path + "[" + strconv.Itoa(i) + "]", e.StartOffset}, e.Value}
			if o.is(x, of) {
				list = append(list, x)
			}
		}
	case ok:
		list = []member{m}
	}
	return list
}

// texts returns the texts of a list, none of which may be blank if it may be a text that stands alone.
func (o *object) texts(name, want string) (list []string) {
	if o.has(name) {
		list = []string{}
	}
	for _, m := range o.list(name, want, `"`) {
		if want != "[" && strings.TrimSpace(m.text()) == "" {
			o.fail(m.place, "", "is empty")
		}
		list = append(list, m.text())
	}
	return list
}

// objects returns the objects of a list.
func (o *object) objects(name string) (list []*object) {
	for _, m := range o.list(name, "[", "{") {
		list = append(list, o.object(m))
	}
	return list
}

// pathOf returns one step of a JSON path.
func pathOf(name string) string {
	if strings.Trim(name, wordBytes) != "" {
		return "[" + strconv.Quote(name) + "]"
	}
	return "." + name
}

// suggest returns the word that name was probably meant to be.
func suggest(name string, words []string) string {
	return cmp.Or(typed.DidYouMean(name, words), "known are "+strings.Join(words, ", "))
}
