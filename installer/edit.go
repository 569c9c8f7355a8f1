package installer

import (
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/tailscale/hujson"
)

// Edit returns the settings with the entries of want: it adds missing ones, replaces ours that
// differ in place, and drops ours for other events and copies. Everything else keeps its
// bytes. old is nil without a file; it is not modified. Edit of its own result changes
// nothing. Hooks of another tool's that no client can run stay.
func Edit(old []byte, want Spec) ([]byte, error) {
	if err := want.check(); err != nil {
		return nil, err
	}
	d, err := parse(old, lax(want.agent))
	if err != nil {
		return nil, err
	}
	if want.KeepAnswers {
		want.Answers = slices.ContainsFunc(d.own(), func(e hookEntry) bool { return Entry{Args: e.words()}.Answers() })
	}
	if err := d.once(); err != nil {
		return nil, err
	}
	// Adding comes first, so that hooks whose events all change keep their place.
	if err := d.add(want); err != nil {
		return nil, err
	}
	d.settle(want)
	if err := d.editStatus(want); err != nil {
		return nil, err
	}
	return d.bytes(), nil
}

// remove returns the settings without beckon's entries, and without the hooks, events and
// groups that held nothing else. old is not modified; the result is never nil.
func remove(old []byte) ([]byte, error) {
	d, err := parseTree(old)
	if err != nil {
		return nil, err
	}
	if !owns(old) {
		return append([]byte{}, old...), nil
	}
	d.dropStatus()
	d.settle(Spec{})
	return d.bytes(), nil
}

// owns reports whether settings contain an entry of ours.
func owns(settings []byte) bool {
	d, err := parseTree(settings)
	if err != nil {
		return false
	}
	_, status := d.ownStatus()
	return status || len(d.own()) > 0
}

// isNothing reports whether a file is empty, or an empty object.
func isNothing(text []byte) bool {
	d, err := parseTree(text)
	return err == nil && len(d.members()) == 0
}

// hookEntry is a handler and where it is.
type hookEntry struct {
	handler
	event   string
	matcher string
	value   *hujson.Value
	path    []place // from the root's member to the handler
}

// place is an item of a container.
type place struct {
	container *hujson.Value
	index     int
}

func (e hookEntry) slot() string {
	if slices.Contains(e.words(), strings.TrimSpace(replySlot)) {
		return e.event + replySlot
	}
	return e.event
}

func (e hookEntry) matchesAll() bool { return e.matcher == "" || e.matcher == "*" }

// switches are members of "hooks" that Gemini CLI and Qwen Code do not take for events.
var switches = []string{"enabled", "disabled", "notifications"}

// entries returns every handler below "hooks", and notes on the hooks that no client can run.
func (d *document) entries(lax bool) (all []hookEntry, notes []string) {
	note := func(path, what string) { notes = append(notes, path+" is "+what+": the client skips it") }
	for i, hooks := range d.members() {
		if hooks.name != "hooks" {
			continue
		}
		if hooks.value.Value.Kind() != '{' {
			note("hooks", "not an object")
			continue
		}
		events, _ := items(hooks.value)
		for j, event := range events {
			path := "hooks" + pathKey(event.name)
			switch {
			case lax && slices.Contains(switches, event.name):
				continue
			case event.value.Value.Kind() != '[':
				note(path, "not an array")
				continue
			}
			groups, _ := items(event.value)
			for k, group := range groups {
				path := fmt.Sprintf("%s[%d]", path, k)
				e := hookEntry{event: event.name}
				if m := member(group.value, "matcher"); m != nil {
					if e.matcher = stringValue(*m); m.Value.Kind() != '"' {
						note(path+".matcher", "not a string")
					}
				}
				inside, _ := items(group.value)
				at := slices.IndexFunc(inside, func(m item) bool { return m.value == member(group.value, "hooks") })
				if at < 0 || inside[at].value.Value.Kind() != '[' {
					note(path, "no group with an array of hooks")
					continue
				}
				handlers, _ := items(inside[at].value)
				for n, h := range handlers {
					e.handler, e.value = readHandler(standard(*h.value)), h.value
					e.path = []place{{&d.file, i}, {hooks.value, j}, {event.value, k}, {group.value, at}, {inside[at].value, n}}
					all = append(all, e)
					if lack := e.lacks(); lack != "" {
						note(fmt.Sprintf("%s.hooks[%d]", path, n), "without "+lack)
					}
				}
			}
		}
	}
	return all, notes
}

// own returns beckon's entries.
func (d *document) own() []hookEntry {
	all, _ := d.entries(false)
	return slices.DeleteFunc(all, func(e hookEntry) bool { return !e.own() })
}

// settle keeps one entry of ours for each slot of want, as it should be, and removes the others.
func (d *document) settle(want Spec) {
	slots := want.slots()
	var gone []hookEntry
	for _, e := range d.own() {
		i := slices.Index(slots, e.slot())
		if i < 0 || !e.matchesAll() {
			gone = append(gone, e)
			continue
		}
		if !e.same(want.handler(slots[i])) {
			e.value.Value = valueOf(d.layout.text(want.entry(slots[i]), 5)).Value
		}
		slots = slices.Delete(slots, i, i+1)
	}
	for _, e := range slices.Backward(gone) { // a removal moves what is behind it
		e.remove()
	}
}

// remove removes the entry, with every container that holds nothing else. A group holds nothing else
// if it has no other list than the one of the entry.
func (e hookEntry) remove() {
	path := e.path
	at := path[len(path)-1]
	for len(path) > 1 {
		list, end := items(at.container)
		group := len(path) == 4
		if !group && len(list) > 1 || comments(*end, *list[at.index].before, list[at.index].inside) != nil {
			break
		}
		path = path[:len(path)-1]
		at = path[len(path)-1]
	}
	cut(at.container, at.index)
}

// add adds a group for each slot of want that has no entry of ours.
func (d *document) add(want Spec) error {
	have := map[string]bool{}
	for _, e := range d.own() {
		have[e.slot()] = have[e.slot()] || e.matchesAll()
	}
	for _, slot := range want.slots() {
		if have[slot] {
			continue
		}
		hooks := d.container(&d.file, "hooks", "{}", 0)
		if hooks.Value.Kind() != '{' {
			return problemAt(d.text, hooks.StartOffset, "hooks", "not what the client reads there",
				"hooks maps event names to arrays of groups")
		}
		list := d.container(hooks, strings.TrimSuffix(slot, replySlot), "[]", 1)
		if list.Value.Kind() == '[' { // else another tool's: the notes name it
			group := map[string]any{"hooks": []any{want.entry(slot)}} // no matcher, so it matches all
			d.put(list, "", group, 2)
		}
	}
	return nil
}

// container returns the member of that name, which is made if it is missing or null.
func (d *document) container(of *hujson.Value, name, empty string, depth int) *hujson.Value {
	if v := member(of, name); v == nil {
		d.put(of, name, json.RawMessage(empty), depth)
	} else if v.Value.Kind() == 'n' {
		v.Value = valueOf(empty).Value
	}
	return member(of, name)
}

// once refuses a key that appears twice: the client reads only the last one, so an edit could
// have no effect.
func (d *document) once() error {
	check := func(c *hujson.Value, path string, names ...string) error {
		list, _ := items(c)
		for i, m := range list {
			twice := slices.ContainsFunc(list[:i], func(other item) bool { return other.name == m.name })
			if twice && (len(names) == 0 || slices.Contains(names, m.name)) {
				where := strings.TrimPrefix(path+pathKey(m.name), ".")
				return problemAt(d.text, m.start, where, "key appears twice", "the client reads only the last one: merge them")
			}
		}
		return nil
	}
	if err := check(&d.file, "", "hooks", "statusLine"); err != nil {
		return err
	}
	if hooks := member(&d.file, "hooks"); hooks != nil && hooks.Value.Kind() == '{' {
		return check(hooks, "hooks")
	}
	return nil
}

// pathKey returns one step of a JSON path; keys that are long or not plain are quoted.
func pathKey(key string) string {
	const longest = 40 // characters
	if len(key) <= longest && regexp.MustCompile(`^[A-Za-z_$][A-Za-z0-9_$-]*$`).MatchString(key) {
		return "." + key
	}
	if r := []rune(key); len(r) > longest {
		key = string(r[:longest]) + "..."
	}
	return "[" + strconv.Quote(key) + "]"
}
