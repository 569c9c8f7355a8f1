package installer

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/tailscale/hujson"
)

// Edit returns the settings with the entries of want: it adds missing ones, replaces ours that
// differ in place, and drops ours for other events and copies. Everything else keeps its
// bytes. old is nil without a file; it is not modified. Edit of its own result changes
// nothing. notes name what in the hooks no client can run: it is another tool's, and stays.
func Edit(old []byte, want Spec) (text []byte, notes []string, err error) {
	if err := want.check(); err != nil {
		return nil, nil, err
	}
	mark, text := cutBOM(old)
	if isBlank(text) {
		text = []byte("{}\n")
	}
	d, err := parse(text, want.lax())
	if err != nil {
		return nil, nil, err
	}
	if err := d.once(); err != nil {
		return nil, nil, err
	}
	if err := d.add(want); err != nil {
		return nil, nil, err
	}
	d.settle(want) // last, so that hooks whose events all change keep their place
	switch {
	case want.NoStatusLine:
		d.dropStatus()
	case want.StatusLine != "":
		if err := d.ensureStatus(want.StatusLine); err != nil {
			return nil, nil, err
		}
	}
	return slices.Concat(mark, d.file.Pack()), d.notes(want.lax()), nil
}

// remove returns the settings without beckon's entries, and without the hooks, events and
// groups that held nothing else. old is not modified; the result is never nil.
func remove(old []byte) ([]byte, error) {
	mark, text := cutBOM(old)
	if isBlank(text) {
		return append([]byte{}, old...), nil
	}
	d, err := parseTree(text)
	if err != nil {
		return nil, err
	}
	d.dropStatus()
	d.settle(Spec{})
	return append(append([]byte{}, mark...), d.file.Pack()...), nil
}

// entries calls each for every handler below "hooks", and removes those for which it returns
// false, with every container that held nothing else. What has no such form is not visited.
func (d *document) entries(each func(e hookEntry, v *hujson.Value) (keep bool)) {
	filter(d.root, func(m *hujson.ObjectMember) bool {
		return stringValue(m.Name) != "hooks" || !filter(m.Value.Value, func(event *hujson.ObjectMember) bool {
			return event.Value.Value.Kind() != '[' || !filter(event.Value.Value, func(group *hujson.ObjectMember) bool {
				e := hookEntry{event: stringValue(event.Name)}
				list := member(group.Value.Value, "hooks")
				if matcher := member(group.Value.Value, "matcher"); matcher != nil {
					e.matcher = stringValue(*matcher)
				}
				return list == nil || list.Value.Kind() != '[' || !filter(list.Value, func(m *hujson.ObjectMember) bool {
					e.handler = readHandler(standard(m.Value))
					return each(e, &m.Value)
				})
			})
		})
	})
}

// hookEntry is a handler and where it is.
type hookEntry struct {
	handler
	event   string
	matcher string
}

func (e hookEntry) matchesAll() bool { return e.matcher == "" || e.matcher == "*" }

// own returns beckon's entries.
func (d *document) own() (all []hookEntry) {
	d.entries(func(e hookEntry, _ *hujson.Value) bool {
		if e.own() {
			all = append(all, e)
		}
		return true
	})
	return all
}

// settle keeps one entry of ours for each slot of want, as it should be, and removes the others.
func (d *document) settle(want Spec) {
	l, slots := d.layout(), want.slots()
	d.entries(func(e hookEntry, v *hujson.Value) bool {
		if !e.own() {
			return true
		}
		slot := e.slot()
		i := slices.Index(slots, slot)
		if i < 0 || !e.matchesAll() {
			return false
		}
		slots = slices.Delete(slots, i, i+1)
		if !e.same(want.handler(slot)) {
			v.Value = hujson.Literal(l.text(want.entry(slot), 5))
		}
		return true
	})
}

// add adds a group for each slot of want that has no entry of ours.
func (d *document) add(want Spec) error {
	l, have := d.layout(), map[string]bool{}
	for _, e := range d.own() {
		have[e.slot()] = have[e.slot()] || e.matchesAll()
	}
	for _, slot := range want.slots() {
		if have[slot] {
			continue
		}
		hooks, err := d.container(l, d.root, "hooks", "hooks", map[string]any{}, 0)
		if err != nil {
			return err
		}
		event := strings.TrimSuffix(slot, replySlot)
		list, err := d.container(l, hooks, event, "hooks"+pathKey(event), []any{}, 1)
		if err != nil {
			continue // another tool's: notes names it
		}
		l.put(list, "", map[string]any{"hooks": []any{want.entry(slot)}}, 2) // no matcher, so it matches all
	}
	return nil
}

// container returns the member name of c, which is made if it is missing or null.
func (d *document) container(l layout, c hujson.ValueTrimmed, name, path string, empty any, depth int) (hujson.ValueTrimmed, error) {
	v := member(c, name)
	if v == nil {
		l.put(c, name, empty, depth)
		v = member(c, name)
	} else if v.Value.Kind() == 'n' {
		v.Value = parsed(encode(empty))
	}
	if v.Value.Kind() != parsed(encode(empty)).Kind() {
		return nil, problemAt(d.text, v.StartOffset, path, "not what the client reads there", "hooks maps event names to arrays of groups")
	}
	return v.Value, nil
}

// once refuses a key that appears twice: the client reads only the last one, so an edit could
// have no effect.
func (d *document) once() error {
	seen := map[string]bool{}
	check := func(c hujson.ValueTrimmed, path string, names ...string) error {
		list, _ := items(c)
		for _, m := range list {
			name := stringValue(m.Name)
			if seen[path+pathKey(name)] && (len(names) == 0 || slices.Contains(names, name)) {
				return problemAt(d.text, m.Name.StartOffset, strings.TrimPrefix(path+pathKey(name), "."), "key appears twice", "the client reads only the last one: merge them")
			}
			seen[path+pathKey(name)] = true
		}
		return nil
	}
	if err := check(d.root, "", "hooks", "statusLine"); err != nil {
		return err
	}
	if hooks := member(d.root, "hooks"); hooks != nil && hooks.Value.Kind() == '{' {
		return check(hooks.Value, "hooks")
	}
	return nil
}

// notes names the hooks of other tools that no client can run.
func (d *document) notes(lax bool) (notes []string) {
	note := func(path, what string) {
		notes = append(notes, path+" is "+what+": the client skips it")
	}
	hooks := member(d.root, "hooks")
	if hooks == nil {
		return nil
	}
	if hooks.Value.Kind() != '{' {
		note("hooks", "not an object")
	}
	events, _ := items(hooks.Value)
	for _, event := range events {
		path := "hooks" + pathKey(stringValue(event.Name))
		switch {
		case lax && slices.Contains(switches, stringValue(event.Name)):
			continue
		case event.Value.Value.Kind() != '[':
			note(path, "not an array")
			continue
		}
		groups, _ := items(event.Value.Value)
		for i, g := range groups {
			path := fmt.Sprintf("%s[%d]", path, i)
			list := member(g.Value.Value, "hooks")
			if list == nil || list.Value.Kind() != '[' {
				note(path, "no group with an array of hooks")
				continue
			}
			if m := member(g.Value.Value, "matcher"); m != nil && m.Value.Kind() != '"' {
				note(path+".matcher", "not a string")
			}
			handlers, _ := items(list.Value)
			for i, h := range handlers {
				if lack := readHandler(standard(h.Value)).lacks(); lack != "" {
					note(fmt.Sprintf("%s.hooks[%d]", path, i), "without "+lack)
				}
			}
		}
	}
	return notes
}

// switches are members of "hooks" that Gemini CLI and Qwen Code do not take for events.
var switches = []string{"enabled", "disabled", "notifications"}

// member returns the last value of that name in an object, as the client reads it, or nil.
func member(c hujson.ValueTrimmed, name string) (v *hujson.Value) {
	if obj, ok := c.(*hujson.Object); ok {
		for i, m := range obj.Members {
			if stringValue(m.Name) == name {
				v = &obj.Members[i].Value
			}
		}
	}
	return v
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
