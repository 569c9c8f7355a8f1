package installer

import (
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
// nothing. notes name the hooks that no client can run: they are another tool's, and stay.
func Edit(old []byte, want Spec) (text []byte, notes []string, err error) {
	if err := want.check(); err != nil {
		return nil, nil, err
	}
	mark, text := cutBOM(old)
	if isBlank(text) {
		text = []byte("{}\n")
	}
	d, err := parse(text, lax(want.agent))
	if err != nil {
		return nil, nil, err
	}
	if want.KeepAnswers {
		want.Answers = slices.ContainsFunc(d.own(), func(e hookEntry) bool { return Entry{Args: e.words()}.Answers() })
	}
	// Adding comes first, so that hooks whose events all change keep their place.
	for _, step := range []func(Spec) error{d.once, d.add, d.settle, d.editStatus} {
		if err := step(want); err != nil {
			return nil, nil, err
		}
	}
	_, notes = d.entries(lax(want.agent))
	return slices.Concat(mark, d.text), notes, nil
}

// remove returns the settings without beckon's entries, and without the hooks, events and
// groups that held nothing else. old is not modified; the result is never nil.
func remove(old []byte) ([]byte, error) {
	mark, text := cutBOM(old)
	if isBlank(text) {
		return append([]byte{}, old...), nil
	}
	d, err := parseTree(text)
	if err == nil {
		err = d.dropStatus()
	}
	if err == nil {
		err = d.settle(Spec{})
	}
	if err != nil {
		return nil, err
	}
	return append(append([]byte{}, mark...), d.text...), nil
}

// owns reports whether settings contain an entry of ours.
func owns(settings []byte) bool {
	_, text := cutBOM(settings)
	d, err := parseTree(text)
	if err != nil {
		return false
	}
	_, status := d.ownStatus()
	return status || len(d.own()) > 0
}

// isNothing reports whether a file is empty, or an empty object.
func isNothing(text []byte) bool {
	_, text = cutBOM(text)
	d, err := parseTree(text)
	if err != nil {
		return isBlank(text)
	}
	list, _ := items(&d.file)
	return len(list) == 0
}

// hookEntry is a handler and where it is.
type hookEntry struct {
	handler
	event   string
	matcher string
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
	top, _ := items(&d.file)
	for i, hooks := range top {
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
					e.handler = readHandler(standard(*h.value))
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

// settle keeps one entry of ours for each slot of want, as it should be, and removes the others,
// one after another, since each change moves those behind it.
func (d *document) settle(want Spec) error {
	l := d.layout()
	for {
		changed, err := d.settleNext(l, want)
		if err != nil || !changed {
			return err
		}
	}
}

// settleNext changes the first entry that is not as it should be.
func (d *document) settleNext(l layout, want Spec) (changed bool, err error) {
	slots := want.slots()
	for _, e := range d.own() {
		i := slices.Index(slots, e.slot())
		if i < 0 || !e.matchesAll() {
			return true, d.cutPath(e.path)
		}
		if slot := slots[i]; !e.same(want.handler(slot)) {
			at := e.path[len(e.path)-1]
			list, _ := items(at.container)
			v := list[at.index].value
			return true, d.splice(v.StartOffset, v.EndOffset, l.text(want.entry(slot), 5))
		}
		slots = slices.Delete(slots, i, i+1)
	}
	return false, nil
}

// cutPath removes the item at the end of a path, with every container that holds nothing else.
// A group holds nothing else if it has no other list than the one on the path.
func (d *document) cutPath(path []place) error {
	at := path[len(path)-1]
	for len(path) > 1 {
		list, end := items(at.container)
		group := len(path) == 4
		if !group && len(list) > 1 || comments(end, list[at.index].before, list[at.index].inside) != "" {
			break
		}
		path = path[:len(path)-1]
		at = path[len(path)-1]
	}
	return d.cut(at.container, at.index)
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
		event := strings.TrimSuffix(slot, replySlot)
		hooks, err := d.container(l, 0, map[string]any{}, "hooks")
		if err != nil {
			return err
		}
		if hooks.Value.Kind() != '{' {
			return problemAt(d.text, hooks.StartOffset, "hooks", "not what the client reads there",
				"hooks maps event names to arrays of groups")
		}
		list, err := d.container(l, 1, []any{}, "hooks", event)
		if err != nil {
			return err
		}
		if list.Value.Kind() != '[' {
			continue // another tool's: the notes name it
		}
		group := map[string]any{"hooks": []any{want.entry(slot)}} // no matcher, so it matches all
		if err := d.put(l, list, "", group, 2); err != nil {
			return err
		}
	}
	return nil
}

// container returns the value below the names, the last of which is made if it is missing or null.
func (d *document) container(l layout, depth int, empty any, names ...string) (*hujson.Value, error) {
	find := func(names []string) *hujson.Value {
		v := &d.file
		for _, name := range names {
			if v = member(v, name); v == nil {
				break
			}
		}
		return v
	}
	var err error
	switch v := find(names); {
	case v == nil:
		err = d.put(l, find(names[:depth]), names[depth], empty, depth)
	case v.Value.Kind() == 'n':
		err = d.splice(v.StartOffset, v.EndOffset, string(encode(empty)))
	}
	return find(names), err
}

// once refuses a key that appears twice: the client reads only the last one, so an edit could
// have no effect.
func (d *document) once(Spec) error {
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
