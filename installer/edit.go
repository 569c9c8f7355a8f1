package installer

import (
	"bytes"
	"slices"
	"strings"

	"github.com/tailscale/hujson"
)

// Edit returns the settings with the entries of want: it adds missing ones, replaces ours that
// differ in place, and drops ours for other events and copies. Everything else keeps its
// bytes. old is nil without a file; it is not modified. Edit of its own result changes
// nothing.
//
// Settings whose hooks the client would ignore are refused: hooks that look installed but
// never run are worse than none.
func Edit(old []byte, want Spec) ([]byte, error) {
	if err := want.check(); err != nil {
		return nil, err
	}
	if old == nil {
		old = []byte("{}\n")
	}
	mark, text := cutBOM(old)
	var err error
	if isBlank(text) {
		text, err = fromBlank(text, want)
	} else {
		text, err = edit(text, want)
	}
	if err != nil {
		return nil, err
	}
	return slices.Concat(mark, text), nil
}

// remove returns the settings without beckon's entries. It undoes exactly what Edit added: the
// result is the original file's bytes, also of an empty one. old is not modified; the result
// is never nil. The error is a *settingsError. Flaws in other tools' entries that Edit refuses
// do not matter here.
func remove(old []byte, lax bool) ([]byte, error) {
	mark, text := cutBOM(old)
	var err error
	if !lax { // those clients get no status line
		text, err = dropStatus(text) // what was added last is removed first
	}
	if err == nil {
		text, err = drop(text, lax, (*document).allOwn)
	}
	if err != nil {
		return nil, err
	}
	return append(append([]byte{}, mark...), text...), nil
}

func edit(text []byte, want Spec) ([]byte, error) {
	d, err := parse(text, want.lax())
	if err != nil {
		return nil, err
	}
	if d.flaw != nil {
		return nil, d.flaw
	}
	for _, slot := range want.slots() {
		if text, err = ensure(text, slot, want); err != nil {
			return nil, err
		}
	}
	switch {
	case want.NoStatusLine:
		text, err = dropStatus(text)
	case want.StatusLine != "":
		text, err = ensureStatus(text, want.StatusLine)
	}
	if err != nil {
		return nil, err
	}
	// Last, so that an entry that moves to other events keeps its place in the file.
	return drop(text, want.lax(), func(d *document) []hookEntry {
		return d.own(func(slot string) bool { return !slices.Contains(want.slots(), slot) })
	})
}

// ensure makes text hold exactly one entry of ours for slot.
func ensure(text []byte, slot string, want Spec) ([]byte, error) {
	d, err := parse(text, want.lax())
	if err != nil {
		return nil, err
	}
	keep, found := d.keeper(slot)
	switch {
	case !found:
		text = d.add(slot, want)
	case !keep.same(want.handler(slot)):
		text = d.replace(&keep.list.Elements[keep.index], want.entry(slot))
	}
	return drop(text, want.lax(), func(d *document) []hookEntry {
		keep, _ := d.keeper(slot)
		others := d.own(func(s string) bool { return s == slot })
		return slices.DeleteFunc(others, func(e hookEntry) bool { return e.list == keep.list && e.index == keep.index })
	})
}

// keeper returns the first entry of ours for slot in a group that matches everything.
func (d *document) keeper(slot string) (hookEntry, bool) {
	for _, e := range d.own(func(s string) bool { return s == slot }) {
		if e.matcher == "" || e.matcher == "*" {
			return e, true
		}
	}
	return hookEntry{}, false
}

// drop removes the first entry that pick returns, until there is none.
func drop(text []byte, lax bool, pick func(*document) []hookEntry) ([]byte, error) {
	for !isBlank(text) {
		d, err := parse(text, lax)
		if err != nil {
			return nil, err
		}
		entries := pick(d)
		if len(entries) == 0 {
			return text, nil
		}
		text = d.remove(entries[0])
	}
	return text, nil
}

func isBlank(text []byte) bool { return len(bytes.Trim(text, whiteSpace)) == 0 }

// Adding. Removing must find out from the text alone what was there before, so the white space
// of what is put into an empty container encodes it:
//
//   - an "inside" of an empty container (what stands between its brackets) is kept
//     before our text;
//   - a container that existed gets one more line end (one blank, in a file of one
//     line) than one that we made, so a blank line after "hooks": { means that an
//     empty "hooks" was there;
//   - a root object that we made in a file of white space ends with a blank line.

// fromBlank edits a file that holds nothing but white space.
func fromBlank(space []byte, want Spec) ([]byte, error) {
	newline := "\n"
	if bytes.Contains(space, []byte("\r\n")) {
		newline = "\r\n"
	}
	text, err := edit(slices.Concat(space, []byte("{}"+newline)), want)
	if err != nil {
		return nil, err
	}
	d, err := parse(text, want.lax())
	if err != nil {
		return nil, err
	}
	d.root.AfterExtra = append(d.root.AfterExtra, newline...)
	return d.file.Pack(), nil
}

// add inserts a slot's group: into the event's array, into a new event, or into new hooks.
func (d *document) add(slot string, want Spec) []byte {
	event := strings.TrimSuffix(slot, replySlot)
	groups := []any{map[string]any{"hooks": []any{want.entry(slot)}}} // no matcher, so it matches all
	if d.hooks == nil {
		return d.insert(d.file, "hooks", map[string]any{event: groups})
	}
	hooks, _ := d.member(d.root, "hooks", "")
	if list, _ := d.member(d.hooks, event, ""); list != nil {
		return d.insert(*list, "", groups[0])
	}
	return d.insert(*hooks, event, groups)
}

// insert adds v after the last item of c, with that item's layout; name is its name in an object.
func (d *document) insert(c hujson.Value, name string, v any) []byte {
	l := layoutOf(d)
	list, end := items(c.Value)
	if len(list) == 0 {
		return d.fill(c, name, v, l)
	}
	newline, indent, ok := lastLine(*lead(&list[len(list)-1]))
	comments, rest := cutComments(*end) // they stay with the item that they stand behind
	*end = rest
	switch {
	case ok:
		l.put(c.Value, comments+newline+indent, name, l.lines(v, indent))
	case comments != "": // it may reach to the end of its line
		l.put(c.Value, comments+l.newline, name, l.lines(v, ""))
	case l.spaced:
		l.put(c.Value, " ", name, l.flat(v))
	default:
		l.put(c.Value, "", name, l.flat(v))
	}
	return d.file.Pack()
}

// fill puts v into the empty container c, marked as described above.
func (d *document) fill(c hujson.Value, name string, v any, l layout) []byte {
	_, end := items(c.Value)
	inside := string(*end)
	if l.oneLine {
		*end = nil
		l.put(c.Value, inside+" ", name, l.flat(v))
		return d.file.Pack()
	}
	gap := l.newline
	if c.Value == d.file.Value {
		gap = "" // a root always exists: nothing to distinguish
	}
	outer := lineIndent(d.text, c.StartOffset)
	*end = hujson.Extra(l.newline + outer)
	l.put(c.Value, inside+gap+l.newline+outer+l.unit, name, l.lines(v, outer+l.unit))
	return d.file.Pack()
}

// replace writes v over a value, on as many lines as before.
func (d *document) replace(old *hujson.Value, v any) []byte {
	l := layoutOf(d)
	text := l.flat(v)
	if bytes.Contains(d.text[old.StartOffset:old.EndOffset], []byte("\n")) {
		text = l.lines(v, lineIndent(d.text, old.StartOffset))
	}
	old.Value = hujson.Literal(text)
	return d.file.Pack()
}

// remove removes an entry, and every container that only our entries made necessary.
func (d *document) remove(e hookEntry) []byte {
	at := func(obj *hujson.Object, name string) int {
		return slices.IndexFunc(obj.Members, func(m hujson.ObjectMember) bool { return stringValue(m.Name) == name })
	}
	switch {
	case len(e.list.Elements) > 1:
		cut(e.list, e.index)
	case len(e.groups.Elements) > 1:
		cut(e.groups, e.group)
	case empty(e.groups):
	case len(d.hooks.Members) > 1:
		cut(d.hooks, at(d.hooks, e.event))
	case empty(d.hooks):
	default:
		return d.removeMember(at(d.root, "hooks"))
	}
	return d.file.Pack()
}

// empty makes a container, whose only item is ours, what it was if it existed before us, and
// reports whether it did.
func empty(c hujson.ValueTrimmed) bool {
	list, end := items(c)
	inside, gap := string(*lead(&list[0])), " "
	if len(*end) > 0 {
		if inside, gap = unwrap(inside, string(*end)); gap == "" {
			return false
		}
	}
	inside, was := strings.CutSuffix(inside, gap)
	if was {
		setItems(c, nil)
		*end = hujson.Extra(inside)
	}
	return was
}

// removeMember removes a member of the root.
func (d *document) removeMember(i int) []byte {
	if len(d.root.Members) > 1 {
		cut(d.root, i)
		return d.file.Pack()
	}
	tail := string(d.root.AfterExtra)
	inside, newline := unwrap(string(d.root.Members[0].Name.BeforeExtra), tail)
	if newline != "" && strings.Contains(tail[len(newline):], "\n") {
		return bytes.Clone(d.text[:d.file.StartOffset]) // fromBlank made the root
	}
	if newline == "" {
		inside = ""
	}
	d.root.Members, d.root.AfterExtra = nil, hujson.Extra(inside)
	return d.file.Pack()
}

// unwrap removes the line end and indentation before an item from lead. The line end is the
// one that tail begins with; it is empty if either has none.
func unwrap(lead, tail string) (rest, newline string) {
	newline = "\n"
	if strings.HasPrefix(tail, "\r\n") {
		newline = "\r\n"
	} else if !strings.HasPrefix(tail, "\n") {
		return lead, ""
	}
	rest, ok := strings.CutSuffix(strings.TrimRight(lead, " \t"), newline)
	if !ok {
		return lead, ""
	}
	return rest, newline
}
