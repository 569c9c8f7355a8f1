package installer

import (
	"bytes"
	"fmt"
	"slices"
	"strconv"
	"unicode/utf8"

	"github.com/tailscale/hujson"
)

// The tree below holds offsets only: edits splice the text, so what is not spliced cannot
// change.

// item is an element of an array, or a member of an object from the start of its
// name to the end of its value.
type item struct{ start, end int }

// container is an array or object: the offsets of its brackets, and its items.
type container struct {
	open, close int
	items       []item
}

// hookEntry is one handler inside a group.
type hookEntry struct {
	item
	handler
}

// hookGroup is one element of an event's array.
type hookGroup struct {
	item
	matcher string
	list    container // its "hooks" array; no items if there is none
	entries []hookEntry
}

// hookEvent is one member of "hooks".
type hookEvent struct {
	item
	name   string
	list   container
	groups []hookGroup
}

// document is a settings file whose hooks have a known shape.
type document struct {
	text   []byte
	plain  []byte // text without its comments
	lax    bool   // as in parse
	root   container
	tree   *hujson.Object
	at     int // index of "hooks" in root.items, -1 when absent
	hooks  container
	events []hookEvent

	// flaw is the first structure that can be edited around but makes clients ignore the
	// file's hooks, ours included: 2.1.197 silently, 2.1.329 with a warning.
	flaw error
}

// switches are members of "hooks" that Gemini CLI and Qwen Code do not take for events.
var switches = []string{"enabled", "disabled", "notifications"}

// place is the position of one entry.
type place struct{ event, group, entry int }

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
	plain := text
	var err error
	if lax {
		plain, err = withoutComments(text)
	}
	if err == nil {
		err = checkSyntax(plain)
	}
	if err != nil {
		return nil, err
	}
	v, err := hujson.Parse(plain)
	if err != nil {
		// JSON that the tree cannot represent; hujson's message could quote the file.
		return nil, problemAt(text, 0, "", "not plain JSON", "")
	}
	root, ok := v.Value.(*hujson.Object)
	if !ok {
		return nil, problemAt(text, v.StartOffset, "", "settings are not an object", "settings begin with { and end with }")
	}
	d := &document{text: text, plain: plain, lax: lax, tree: root, root: objectContainer(v, root), at: -1}
	return d, d.readHooks()
}

// readHooks checks and records everything below "hooks".
func (d *document) readHooks() error {
	at, err := d.member(d.tree, "hooks", "hooks")
	if err != nil || at < 0 {
		return err
	}
	v := d.tree.Members[at].Value
	obj, ok := v.Value.(*hujson.Object)
	if !ok {
		return d.problem(v, "hooks", "not an object", "hooks maps event names to arrays of groups")
	}
	d.at, d.hooks = at, objectContainer(v, obj)
	seen := map[string]bool{}
	for i, m := range obj.Members {
		name := stringValue(m.Name)
		path := "hooks" + pathKey(name)
		if seen[name] {
			return d.problem(m.Name, path, "key appears twice", "the client reads only the last one: merge them")
		}
		seen[name] = true
		var ev hookEvent
		if !d.lax || !slices.Contains(switches, name) {
			ev, err = d.readEvent(m.Value, path)
		}
		if err != nil {
			return err
		}
		ev.item, ev.name = d.hooks.items[i], name
		d.events = append(d.events, ev)
	}
	return nil
}

func (d *document) readEvent(v hujson.Value, path string) (hookEvent, error) {
	arr, ok := v.Value.(*hujson.Array)
	if !ok {
		return hookEvent{}, d.problem(v, path, "not an array", "an event holds an array of groups")
	}
	ev := hookEvent{list: arrayContainer(v, arr)}
	for i, e := range arr.Elements {
		g, err := d.readGroup(e, fmt.Sprintf("%s[%d]", path, i))
		if err != nil {
			return ev, err
		}
		ev.groups = append(ev.groups, g)
	}
	return ev, nil
}

func (d *document) readGroup(v hujson.Value, path string) (hookGroup, error) {
	g := hookGroup{item: span(v)}
	obj, ok := v.Value.(*hujson.Object)
	if !ok {
		return g, d.problem(v, path, "not an object", `a group looks like {"matcher": "...", "hooks": [...]}`)
	}
	for _, m := range obj.Members {
		if stringValue(m.Name) != "matcher" {
			continue
		}
		if g.matcher = stringValue(m.Value); m.Value.Value.Kind() != '"' {
			d.flawed(m.Value, path+".matcher", "not a string")
		}
	}
	at, err := d.member(obj, "hooks", path+".hooks")
	if err != nil {
		return g, err
	}
	if at < 0 {
		d.flawed(v, path, "group has no hooks")
		return g, nil
	}
	path += ".hooks"
	list := obj.Members[at].Value
	arr, ok := list.Value.(*hujson.Array)
	if !ok {
		return g, d.problem(list, path, "not an array", "a group's hooks are an array of handlers")
	}
	g.list = arrayContainer(list, arr)
	for i, e := range arr.Elements {
		here := fmt.Sprintf("%s[%d]", path, i)
		if _, ok := e.Value.(*hujson.Object); !ok {
			return g, d.problem(e, here, "not an object", `a handler looks like {"type": "command", ...}`)
		}
		h := readHandler(d.plain[e.StartOffset:e.EndOffset])
		if lack := h.lacks(); lack != "" && !h.own() {
			d.flawed(e, here, "handler has no "+lack)
		}
		g.entries = append(g.entries, hookEntry{span(e), h})
	}
	return g, nil
}

// member returns the index of key in obj, -1 if absent, and refuses a repeated key: the client
// reads only the last, so an edit could have no effect.
func (d *document) member(obj *hujson.Object, key, path string) (int, error) {
	at := -1
	for i, m := range obj.Members {
		if stringValue(m.Name) != key {
			continue
		}
		if at >= 0 {
			return -1, d.problem(m.Name, path, "key appears twice", "the client reads only the last one: merge them")
		}
		at = i
	}
	return at, nil
}

// own returns the places of beckon's entries in the slots that pick accepts.
func (d *document) own(pick func(slot string) bool) []place {
	var all []place
	for i, ev := range d.events {
		for j, g := range ev.groups {
			for k, e := range g.entries {
				if e.own() && pick(slotOf(ev.name, e.handler)) {
					all = append(all, place{i, j, k})
				}
			}
		}
	}
	return all
}

func (d *document) allOwn() []place { return d.own(func(string) bool { return true }) }

func (d *document) entry(p place) hookEntry {
	return d.events[p.event].groups[p.group].entries[p.entry]
}

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

func span(v hujson.Value) item { return item{v.StartOffset, v.EndOffset} }

func objectContainer(v hujson.Value, obj *hujson.Object) container {
	c := container{open: v.StartOffset, close: v.EndOffset - 1}
	for _, m := range obj.Members {
		c.items = append(c.items, item{m.Name.StartOffset, m.Value.EndOffset})
	}
	return c
}

func arrayContainer(v hujson.Value, arr *hujson.Array) container {
	c := container{open: v.StartOffset, close: v.EndOffset - 1}
	for _, e := range arr.Elements {
		c.items = append(c.items, span(e))
	}
	return c
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
