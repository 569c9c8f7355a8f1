package run

import (
	"crypto/rand"
	"fmt"
	"regexp"
	"strings"
	"sync"

	"beckon/event/policy/wire"
)

// maxQuestion is how much of an event a model is asked about: 256 KiB, about what a small
// model accepts. More is an error and not cut, because the part left out might be the one that
// matters.
const maxQuestion = 256 << 10

// template is a policy in words with placeholders for the event.
type template struct {
	texts []string // one more than names
	names []string
}

var placeholder = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`\\\$|\$\{(\w+)\}|\$(\w+)`) })

// parseTemplate finds the variables of a prompt. Anything else stays as it is.
func parseTemplate(prompt string) template {
	var t template
	var text strings.Builder
	end := 0
	for _, m := range placeholder().FindAllStringSubmatchIndex(prompt, -1) {
		text.WriteString(prompt[end:m[0]])
		end = m[1]
		found := prompt[m[0]:m[1]]
		name := strings.Trim(found, `\${}`)
		_, known := lookup(wire.Call{}, name)
		switch {
		case found == `\$`:
			text.WriteByte('$')
		case known:
			t.texts, t.names = append(t.texts, text.String()), append(t.names, name)
			text.Reset()
		default:
			text.WriteString(found)
		}
	}
	text.WriteString(prompt[end:])
	if len(t.names) == 0 {
		t.texts, t.names = append(t.texts, text.String()+"\n\n"), append(t.names, "ARGUMENTS")
		text.Reset()
	}
	t.texts = append(t.texts, text.String())
	return t
}

// lookup returns the value of a prompt's variable, and whether the name is known.
func lookup(c wire.Call, name string) (string, bool) {
	if name == "ARGUMENTS" {
		return string(c.Payload), true
	}
	for _, v := range variables(c) {
		if v[0] == name {
			return v[1], true
		}
	}
	return "", false
}

// values returns the event's values for the placeholders of t, in order.
func (t template) values(c wire.Call) []string {
	list := make([]string, len(t.names))
	for i, name := range t.names {
		list[i], _ = lookup(c, name)
	}
	return list
}

// fill inserts values, each between marks with a word unique to this question, so that no
// value can end its own.
func (t template) fill(event string, values []string) (string, error) {
	size := 0
	for _, v := range values {
		size += len(v)
	}
	if size > maxQuestion {
		return "", fmt.Errorf("the event has %d bytes to judge, %d are too many for a model", size, maxQuestion)
	}
	id := rand.Text()
	var b strings.Builder
	for i, v := range values {
		v = strings.ToValidUTF8(v, "\uFFFD")
		fmt.Fprintf(&b, "%s<event-data-%s name=%q>\n%s\n</event-data-%s>", t.texts[i], id, t.names[i], v, id)
	}
	fmt.Fprintf(&b, "%s\n\nThe event is %s. Begin your answer with ALLOW, BLOCK or CONTINUE.", t.texts[len(values)], event)
	return b.String(), nil
}
