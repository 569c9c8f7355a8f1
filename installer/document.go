package installer

import (
	"bytes"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/tailscale/hujson"
)

// document is a settings file whose hooks have a known shape. Its tree has the white space and
// comments around every value, so what an edit does not touch cannot change.
type document struct {
	text    []byte // without a byte order mark
	lax     bool   // as in parse
	file    hujson.Value
	root    *hujson.Object
	hooks   *hujson.Object // nil when absent
	entries []hookEntry

	// flaw is the first structure that can be edited around but makes clients ignore the
	// file's hooks, ours included: 2.1.197 silently, 2.1.329 with a warning.
	flaw error
}

// hookEntry is a handler and where it is: groups is the event's array, list the group's.
type hookEntry struct {
	handler
	event   string
	groups  *hujson.Array
	group   int // index in groups
	matcher string
	list    *hujson.Array
	index   int // index in list
}

// switches are members of "hooks" that Gemini CLI and Qwen Code do not take for events.
var switches = []string{"enabled", "disabled", "notifications"}

var bom = []byte("\xef\xbb\xbf")

// cutBOM splits a byte order mark from the text.
func cutBOM(b []byte) (mark, text []byte) {
	if bytes.HasPrefix(b, bom) {
		return bom, b[len(bom):]
	}
	return nil, b
}

// parse parses text without a byte order mark. The settings of some agents are lax: they may
// contain comments, and below "hooks" switches beside the events. The error is a
// *settingsError.
func parse(text []byte, lax bool) (*document, error) {
	if !lax {
		if err := checkSyntax(text); err != nil {
			return nil, err
		}
	}
	file, err := parseLax(text)
	if err != nil {
		return nil, err
	}
	root, ok := file.Value.(*hujson.Object)
	if !ok {
		return nil, problemAt(text, file.StartOffset, "", "settings are not an object", "settings begin with { and end with }")
	}
	d := &document{text: text, lax: lax, file: file, root: root}
	return d, d.readHooks()
}

// readHooks checks and records everything below "hooks".
func (d *document) readHooks() error {
	v, err := d.member(d.root, "hooks", "hooks")
	if err != nil || v == nil {
		return err
	}
	var ok bool
	if d.hooks, ok = v.Value.(*hujson.Object); !ok {
		return d.problem(*v, "hooks", "not an object", "hooks maps event names to arrays of groups")
	}
	for _, m := range d.hooks.Members {
		name := stringValue(m.Name)
		path := "hooks" + pathKey(name)
		if _, err := d.member(d.hooks, name, path); err != nil {
			return err
		}
		if d.lax && slices.Contains(switches, name) {
			continue
		}
		groups, ok := m.Value.Value.(*hujson.Array)
		if !ok {
			return d.problem(m.Value, path, "not an array", "an event holds an array of groups")
		}
		for i, g := range groups.Elements {
			if err := d.readGroup(g, hookEntry{event: name, groups: groups, group: i}, fmt.Sprintf("%s[%d]", path, i)); err != nil {
				return err
			}
		}
	}
	return nil
}

// readGroup records the entries of a group; at says where the group is.
func (d *document) readGroup(v hujson.Value, at hookEntry, path string) error {
	obj, ok := v.Value.(*hujson.Object)
	if !ok {
		return d.problem(v, path, "not an object", `a group looks like {"matcher": "...", "hooks": [...]}`)
	}
	for _, m := range obj.Members {
		if stringValue(m.Name) != "matcher" {
			continue
		}
		if at.matcher = stringValue(m.Value); m.Value.Value.Kind() != '"' {
			d.flawed(m.Value, path+".matcher", "not a string")
		}
	}
	path += ".hooks"
	list, err := d.member(obj, "hooks", path)
	if err != nil {
		return err
	}
	if list == nil {
		d.flawed(v, strings.TrimSuffix(path, ".hooks"), "group has no hooks")
		return nil
	}
	if at.list, ok = list.Value.(*hujson.Array); !ok {
		return d.problem(*list, path, "not an array", "a group's hooks are an array of handlers")
	}
	for i, e := range at.list.Elements {
		here := fmt.Sprintf("%s[%d]", path, i)
		if _, ok := e.Value.(*hujson.Object); !ok {
			return d.problem(e, here, "not an object", `a handler looks like {"type": "command", ...}`)
		}
		at.index, at.handler = i, readHandler(standard(e))
		if lack := at.lacks(); lack != "" && !at.own() {
			d.flawed(e, here, "handler has no "+lack)
		}
		d.entries = append(d.entries, at)
	}
	return nil
}

// standard returns a value as JSON without comments.
func standard(v hujson.Value) []byte {
	v = v.Clone()
	v.Standardize()
	return v.Pack()
}

// member returns the value of key in obj, nil if absent, and refuses a repeated key: the client
// reads only the last, so an edit could have no effect.
func (d *document) member(obj *hujson.Object, key, path string) (v *hujson.Value, err error) {
	for i, m := range obj.Members {
		if stringValue(m.Name) != key {
			continue
		}
		if v != nil {
			return nil, d.problem(m.Name, path, "key appears twice", "the client reads only the last one: merge them")
		}
		v = &obj.Members[i].Value
	}
	return v, nil
}

// own returns beckon's entries in the slots that pick accepts.
func (d *document) own(pick func(slot string) bool) (all []hookEntry) {
	for _, e := range d.entries {
		if e.own() && pick(e.slot()) {
			all = append(all, e)
		}
	}
	return all
}

func (d *document) allOwn() []hookEntry { return d.own(func(string) bool { return true }) }

func (d *document) flawed(v hujson.Value, path, what string) {
	if d.flaw == nil && !d.lax { // a lax client ignores the flawed entry alone
		d.flaw = d.problem(v, path, what, "Claude Code ignores all hooks of a file with this: correct or remove it")
	}
}

func (d *document) problem(v hujson.Value, path, what, hint string) error {
	return problemAt(d.text, v.StartOffset, path, what, hint)
}

func problemAt(text []byte, offset int, path, what, hint string) error {
	line, column := position(text, offset)
	return &settingsError{Line: line, Column: column, Path: path, Problem: what, advice: advice(hint)}
}

// position returns line and column, both from 1, the column in characters.
func position(text []byte, offset int) (line, column int) {
	before := text[:min(offset, len(text))]
	line = 1 + bytes.Count(before, []byte("\n"))
	return line, 1 + utf8.RuneCount(before[bytes.LastIndexByte(before, '\n')+1:])
}

// stringValue returns the unescaped string, or "" for anything else.
func stringValue(v hujson.Value) string {
	if lit, ok := v.Value.(hujson.Literal); ok && lit.Kind() == '"' {
		return lit.String()
	}
	return ""
}

var plainKey = lazily(`^[A-Za-z_$][A-Za-z0-9_$-]*$`)

// keyLimit is the maximum length, in characters, of a key quoted in an error.
const keyLimit = 40

// pathKey returns one step of a JSON path.
func pathKey(key string) string {
	if plainKey().MatchString(key) && len(key) <= keyLimit {
		return "." + key
	}
	if r := []rune(key); len(r) > keyLimit {
		key = string(r[:keyLimit]) + "..."
	}
	return "[" + strconv.Quote(key) + "]"
}
