package config

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"reflect"
	"slices"
	"strconv"
	"strings"

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
func (p Problems) Hint() string { return p[len(p)-1].Advice }

// document is a policy file being parsed. It collects every problem, so that a user sees all of
// them at once.
type document struct {
	file     string
	lines    []int          // offsets of the line breaks
	places   map[string]int // by JSON path: the offset of a member's name, or of a list's element
	ignored  []string       // JSON paths of members in gone
	problems Problems
}

// gone are the members that an earlier release read and that have no effect any more. A file that
// has one stays in force: without the condition that it was, a rule covers more.
var gone = strings.Fields("strict exact trace unsure stop_blocks branch repository ci")

// read decodes text, JSON with comments and trailing commas, into a struct as package json does.
// It reports what package json accepts silently: unknown, repeated and wrongly capitalized
// names, null, blank texts, and values that a field's tag excludes:
//
//   - in: the kinds of objects that have the field, for a struct that describes several; as: the
//     kind of object that the field's own value is
//   - one: the texts that are allowed
//   - max: a whole number from 0 to this
func (d *document) read(text []byte, into any) {
	for at, c := range text {
		if c == '\n' {
			d.lines = append(d.lines, at)
		}
	}
	v, err := hujson.Parse(text)
	if err != nil {
		d.syntax(err)
		return
	}
	d.places = map[string]int{"$": v.StartOffset}
	d.check(v, "$", reflect.TypeOf(into).Elem(), `as:"file"`)
	v.Standardize()
	if err := json.Unmarshal(v.Pack(), into); err != nil && len(d.problems) == 0 {
		d.fail("$", "", "%s", strings.TrimPrefix(err.Error(), "json: "))
	}
}

func (d *document) syntax(err error) {
	line := 1
	_, _ = fmt.Sscanf(err.Error(), "hujson: line %d", &line)
	what := strings.TrimPrefix(err.Error(), "hujson: ")
	if _, rest, ok := strings.Cut(what, ": "); ok && strings.HasPrefix(what, "line ") {
		what = rest
	}
	d.problems = append(d.problems, Problem{
		File:   d.file,
		Line:   line,
		What:   "not JSON: " + what,
		Advice: "comments and trailing commas are allowed",
	})
}

// err returns the problems in order, nil when there are none.
func (d *document) err() error {
	if len(d.problems) == 0 {
		return nil
	}
	slices.SortStableFunc(d.problems, func(a, b Problem) int { return cmp.Compare(a.Line, b.Line) })
	return d.problems
}

// fail adds a problem of the value at path.
func (d *document) fail(path, advice, format string, args ...any) {
	d.problems = append(d.problems, Problem{
		File:   d.file,
		Line:   d.line(path),
		Path:   path,
		What:   fmt.Sprintf(format, args...),
		Advice: advice,
	})
}

// line returns the line of the value at path, from 1.
func (d *document) line(path string) int {
	line, _ := slices.BinarySearch(d.lines, d.places[path])
	return 1 + line
}

// has reports whether the file has a value at path.
func (d *document) has(path string) bool {
	_, ok := d.places[path]
	return ok
}

// failed reports whether the value at path, or a part of it, has a problem.
func (d *document) failed(path string) bool {
	return slices.ContainsFunc(d.problems, func(p Problem) bool {
		return p.Path == path || strings.HasPrefix(p.Path, path+".")
	})
}

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

// accepted are the JSON types of the values that Go types decode.
var accepted = map[reflect.Kind]string{
	reflect.Interface: "\"0",
	reflect.Struct:    "{",
	reflect.Map:       "{",
	reflect.Slice:     "[",
	reflect.String:    `"`,
	reflect.Bool:      "tf",
	reflect.Float64:   "0",
}

// check reports what is wrong with a value for a Go type, and records the places of its parts.
func (d *document) check(v hujson.Value, path string, t reflect.Type, tag reflect.StructTag) {
	if t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	want, several := accepted[t.Kind()], t == reflect.TypeFor[texts]()
	if several {
		want = `"[`
	}
	if got := v.Value.Kind(); strings.IndexByte(want, byte(got)) < 0 {
		d.fail(path, "", "is %s, not %s", kinds[got], kinds[hujson.Kind(want[len(want)-1])])
		return
	}
	switch x := v.Value.(type) {
	case *hujson.Object:
		d.object(x, path, t, tag.Get("as"))
	case *hujson.Array:
		elem := t.Elem()
		if several {
			elem = reflect.TypeFor[text]()
		}
		for i, e := range x.Elements {
			at := fmt.Sprintf("%s[%d]", path, i)
			d.places[at] = e.StartOffset
			d.check(e, at, elem, tag)
		}
	case hujson.Literal:
		d.literal(x, path, t, tag)
	}
}

func (d *document) object(o *hujson.Object, path string, t reflect.Type, as string) {
	var known map[string]reflect.StructField
	if t.Kind() == reflect.Struct {
		if t == reflect.TypeFor[handler]() && as == "" {
			if as = d.kindOf(o, path); as == "" {
				return
			}
		}
		known = fieldsOf(t, as)
	}
	seen := map[string]bool{}
	for _, m := range o.Members {
		name := m.Name.Value.(hujson.Literal).String()
		at := path + pathOf(name)
		twice := seen[name]
		seen[name] = true
		d.places[at] = m.Name.StartOffset
		field, ok := known[name]
		switch {
		case twice: // parsers differ in which one counts
			d.fail(at, "", "is set twice")
		case known == nil:
			d.check(m.Value, at, t.Elem(), "")
		case ok:
			d.check(m.Value, at, field.Type, field.Tag)
		case slices.Contains(gone, name):
			d.ignored = append(d.ignored, at)
		default:
			d.fail(at, suggest(name, slices.Sorted(maps.Keys(known))), "unknown key %q", name)
		}
	}
}

// kindOf returns the kinds of objects that a handler is, by its type; "" if that is wrong.
func (d *document) kindOf(o *hujson.Object, path string) string {
	written, at := "", path
	for _, m := range o.Members {
		if l, ok := m.Value.Value.(hujson.Literal); ok && m.Name.Value.(hujson.Literal).String() == "type" {
			written, at = l.String(), path+".type"
			d.places[at] = m.Name.StartOffset
		}
	}
	const known = "command, server, http, prompt, rule"
	switch hint := foreignTypes[written]; {
	case Type(written) == BuiltIn:
		return "hook rule"
	case needs[Type(written)] != "":
		return "hook started " + written
	case hint != "":
		d.fail(at, hint, "type %q is the client's own", written)
	case written == "":
		d.fail(at, "type is one of "+known, "has no type")
	default:
		d.fail(at, "one of "+known, "no such value %q", written)
	}
	return ""
}

func (d *document) literal(l hujson.Literal, path string, t reflect.Type, tag reflect.StructTag) {
	switch l.Kind() {
	case '"':
		one := strings.Fields(tag.Get("one"))
		mustSay := t == reflect.TypeFor[text]() || t == reflect.TypeFor[texts]()
		switch s := l.String(); {
		case mustSay && strings.TrimSpace(s) == "":
			d.fail(path, "", "is empty")
		case len(one) > 0 && !slices.Contains(one, s):
			d.fail(path, "one of "+strings.Join(one, ", "), "no such value %q", s)
		}
	case '0':
		f, err := strconv.ParseFloat(string(l), 64)
		most, limited := tag.Lookup("max")
		limit, _ := strconv.ParseFloat(most, 64)
		switch {
		case err != nil:
			d.fail(path, "", "is too large a number")
		case limited && (f != math.Trunc(f) || f < 0 || f > limit):
			d.fail(path, "", "is %v; a whole number from 0 to %s is wanted", f, most)
		}
	}
}

// fieldsOf returns the fields by their names that objects of one of the kinds as have.
func fieldsOf(t reflect.Type, as string) map[string]reflect.StructField {
	out := map[string]reflect.StructField{}
	kinds := strings.Fields(as)
	for _, f := range reflect.VisibleFields(t) {
		in := strings.Fields(f.Tag.Get("in"))
		if len(in) == 0 || slices.ContainsFunc(in, func(kind string) bool { return slices.Contains(kinds, kind) }) {
			if name := f.Tag.Get("json"); name != "" {
				out[name] = f
			}
		}
	}
	return out
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

// suggest returns the word that name was probably meant to be.
func suggest(name string, words []string) string {
	return cmp.Or(typed.DidYouMean(name, words), "known are "+strings.Join(words, ", "))
}
