package installer

import (
	"bytes"
	"slices"
	"strings"
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
	return drop(text, want.lax(), func(d *document) []place {
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
	case !d.entry(keep).same(want.handler(slot)):
		text = d.replace(d.entry(keep).item, want.entry(slot))
	}
	return drop(text, want.lax(), func(d *document) []place {
		keep, _ := d.keeper(slot)
		return slices.DeleteFunc(d.own(func(s string) bool { return s == slot }), func(p place) bool { return p == keep })
	})
}

// keeper returns the first entry of ours for slot in a group that matches everything.
func (d *document) keeper(slot string) (place, bool) {
	for _, p := range d.own(func(s string) bool { return s == slot }) {
		if m := d.events[p.event].groups[p.group].matcher; m == "" || m == "*" {
			return p, true
		}
	}
	return place{}, false
}

// drop removes the first entry that pick returns, until there is none.
func drop(text []byte, lax bool, pick func(*document) []place) ([]byte, error) {
	for !isBlank(text) {
		d, err := parse(text, lax)
		if err != nil {
			return nil, err
		}
		places := pick(d)
		if len(places) == 0 {
			return text, nil
		}
		text = d.remove(places[0])
	}
	return text, nil
}

func isBlank(text []byte) bool { return len(bytes.Trim(text, " \t\r\n")) == 0 }

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
	return splice(text, d.root.close, d.root.close, []byte(newline)), nil
}

// add inserts a slot's group: into the event's array, into a new event, or into new hooks.
func (d *document) add(slot string, want Spec) []byte {
	event := strings.TrimSuffix(slot, replySlot)
	group := object{{"hooks", array{want.entry(slot)}}} // no matcher, so it matches all
	if i := slices.IndexFunc(d.events, func(e hookEvent) bool { return e.name == event }); i >= 0 {
		return d.insert(d.events[i].list, group)
	}
	list := member{event, array{group}}
	if d.at >= 0 {
		return d.insert(d.hooks, list)
	}
	return d.insert(d.root, member{"hooks", object{list}})
}

// insert adds v after the last item of c, with that item's layout.
func (d *document) insert(c container, v any) []byte {
	l := layoutOf(d)
	if len(c.items) == 0 {
		return d.fill(c, v, l)
	}
	last := c.items[len(c.items)-1]
	newline, indent, ok := lastLine(spaceBefore(d.text, last.start))
	switch at := d.commentEnd(last.end, c.close); {
	case at > last.end: // the comment may reach to the end of its line
		if !ok {
			newline = l.newline
		}
		return splice(d.text, last.end, at, []byte(","), d.text[last.end:at], []byte(newline+indent), l.lines(v, indent))
	case ok:
		return splice(d.text, last.end, last.end, []byte(","+newline+indent), l.lines(v, indent))
	}
	comma := ","
	if l.spaced {
		comma = ", "
	}
	return splice(d.text, last.end, last.end, []byte(comma), l.flat(v))
}

// fill puts v into the empty container c, marked as described above.
func (d *document) fill(c container, v any, l layout) []byte {
	inside := string(d.text[c.open+1 : c.close])
	if l.oneLine {
		return splice(d.text, c.open+1, c.close, []byte(inside+" "), l.flat(v))
	}
	gap := l.newline
	if c.open == d.root.open {
		gap = "" // a root always exists: nothing to distinguish
	}
	outer := lineIndent(d.text, c.open)
	lead := inside + gap + l.newline + outer + l.unit
	return splice(d.text, c.open+1, c.close, []byte(lead), l.lines(v, outer+l.unit), []byte(l.newline+outer))
}

// replace writes v over it, on as many lines as before.
func (d *document) replace(it item, v any) []byte {
	l := layoutOf(d)
	if bytes.IndexByte(d.text[it.start:it.end], '\n') < 0 {
		return splice(d.text, it.start, it.end, l.flat(v))
	}
	return splice(d.text, it.start, it.end, l.lines(v, lineIndent(d.text, it.start)))
}

// remove removes the entry at p, and every container that only our entries made necessary.
func (d *document) remove(p place) []byte {
	ev := d.events[p.event]
	g := ev.groups[p.group]
	switch {
	case len(g.list.items) > 1:
		return d.cut(g.list, p.entry)
	case len(ev.list.items) > 1:
		return d.cut(ev.list, p.group)
	}
	if inside, was := d.former(ev.list); was {
		return splice(d.text, ev.list.open+1, ev.list.close, []byte(inside))
	}
	if len(d.hooks.items) > 1 {
		return d.cut(d.hooks, p.event)
	}
	if inside, was := d.former(d.hooks); was {
		return splice(d.text, d.hooks.open+1, d.hooks.close, []byte(inside))
	}
	if len(d.root.items) > 1 {
		return d.cut(d.root, d.at)
	}
	return d.emptyRoot()
}

// cut removes one of several items with the comma and white space that insert put before it;
// for the first, what follows it. Comments there stay.
func (d *document) cut(c container, i int) []byte {
	it := c.items[i]
	comma := func(behind item) int { return behind.end + bytes.IndexByte(d.plain[behind.end:], ',') }
	if i == 0 {
		if next := c.items[1].start; d.commentEnd(it.end, next) == it.end {
			return splice(d.text, it.start, next)
		}
		return slices.Concat(d.text[:it.start], d.text[it.end:comma(it)], d.text[comma(it)+1:])
	}
	before := c.items[i-1]
	at := d.commentEnd(before.end, it.start)
	if at == before.end {
		return splice(d.text, before.end, it.end)
	}
	at = max(at, comma(before)+1)
	if i == len(c.items)-1 {
		return slices.Concat(d.text[:comma(before)], d.text[comma(before)+1:at], d.text[it.end:])
	}
	return slices.Concat(d.text[:at], d.text[it.end:comma(it)], d.text[comma(it)+1:])
}

// commentEnd returns where the last comment between two items ends, or from.
func (d *document) commentEnd(from, to int) int {
	for to > from && d.text[to-1] == d.plain[to-1] {
		to--
	}
	return to
}

// former reports whether c, whose only item is ours, existed before us, and returns what was
// between its brackets.
func (d *document) former(c container) (inside string, was bool) {
	lead, tail := d.around(c)
	gap := " "
	if tail != "" {
		if lead, gap = unwrap(lead, tail); gap == "" {
			return "", false
		}
	}
	return strings.CutSuffix(lead, gap)
}

// emptyRoot removes the root's only member.
func (d *document) emptyRoot() []byte {
	lead, tail := d.around(d.root)
	inside, newline := unwrap(lead, tail)
	if newline != "" && strings.Contains(tail[len(newline):], "\n") {
		return bytes.Clone(d.text[:d.root.open]) // fromBlank made the root
	}
	if newline == "" {
		inside = ""
	}
	return splice(d.text, d.root.open+1, d.root.close, []byte(inside))
}

// around returns what is between c's brackets and its only item.
func (d *document) around(c container) (lead, tail string) {
	return string(d.text[c.open+1 : c.items[0].start]), string(d.text[c.items[len(c.items)-1].end:c.close])
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

// splice returns text with [from, to) replaced by the parts; text is not modified.
func splice(text []byte, from, to int, parts ...[]byte) []byte {
	return slices.Concat(text[:from], slices.Concat(parts...), text[to:])
}
