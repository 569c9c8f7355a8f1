package installer

import (
	"bytes"
	"slices"
	"strings"

	"github.com/tailscale/hujson"
)

// items returns what an object or array contains, an element as a member without a name, and
// what is between the last item and the closing bracket.
func items(c hujson.ValueTrimmed) (list []hujson.ObjectMember, end *hujson.Extra) {
	switch c := c.(type) {
	case *hujson.Object:
		return c.Members, &c.AfterExtra
	case *hujson.Array:
		for _, e := range c.Elements {
			list = append(list, hujson.ObjectMember{Value: e})
		}
		return list, &c.AfterExtra
	}
	return nil, nil
}

// setItems changes what an object or array contains.
func setItems(c hujson.ValueTrimmed, list []hujson.ObjectMember) {
	switch c := c.(type) {
	case *hujson.Object:
		c.Members = list
	case *hujson.Array:
		c.Elements = nil
		for _, m := range list {
			c.Elements = append(c.Elements, m.Value)
		}
	}
}

// lead is what is before an item.
func lead(m *hujson.ObjectMember) *hujson.Extra {
	if m.Name.Value == nil {
		return &m.Value.BeforeExtra
	}
	return &m.Name.BeforeExtra
}

// put appends an item to an object or array: what is before it, its name in an object, and its
// text.
func (l layout) put(c hujson.ValueTrimmed, before, name, text string) {
	m := hujson.ObjectMember{Value: hujson.Value{Value: hujson.Literal(text)}}
	if c.Kind() == '{' {
		m.Name.Value = hujson.String(name)
		if l.spaced || strings.Contains(text, "\n") {
			m.Value.BeforeExtra = hujson.Extra(" ")
		}
	}
	*lead(&m) = hujson.Extra(before)
	list, _ := items(c)
	setItems(c, append(list, m))
}

// cut removes one of several items with the comma and white space that insert put before it;
// for the first, what follows it. Comments stay.
func cut(c hujson.ValueTrimmed, i int) {
	list, end := items(c)
	before, behind := *lead(&list[i]), list[i].Value.AfterExtra
	comments, _ := cutComments(before)
	switch {
	case i == len(list)-1:
		last := &list[i-1].Value
		own, _ := cutComments(last.AfterExtra)
		last.AfterExtra, *end = nil, join(own+comments, *end)
	case i == 0:
		next := lead(&list[1])
		if between, _ := cutComments(slices.Concat(behind, *next)); between == "" {
			*next = before
		} else {
			*next = slices.Concat(before, behind, *next)
		}
	default:
		last, next := &list[i-1].Value, lead(&list[i+1])
		own, _ := cutComments(last.AfterExtra)
		last.AfterExtra, *next = join(own, behind), join(comments, *next)
	}
	setItems(c, slices.Delete(list, i, i+1))
}

// cutComments splits what is between two values behind its last comment.
func cutComments(extra hujson.Extra) (comments string, space hujson.Extra) {
	at := len(bytes.TrimRight(extra, whiteSpace))
	return string(extra[:at]), extra[at:]
}

// join puts space behind comments, of which the last may need a line end.
func join(comments string, space hujson.Extra) hujson.Extra {
	if both := hujson.Extra(comments + string(space)); both.IsValid() {
		return both
	}
	return hujson.Extra(comments + "\n" + string(space))
}
