package config

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"beckon/event"
	"beckon/event/policy/rule"
	"beckon/event/policy/wire"

	"github.com/tidwall/gjson"
)

type importedGroup struct {
	Matcher string                       `json:"matcher,omitempty"`
	Hooks   []map[string]json.RawMessage `json:"hooks"`
}

// FromClient returns a policy with the hooks and permission rules in the client's settings files,
// and those that a policy of that level cannot have, with the reason. own reports whether a handler
// is beckon's own, which would run the others.
func FromClient(files [][]byte, level Level, own func(handler []byte) bool) (text []byte, left []string, err error) {
	lists, hooks := map[string][]string{}, map[string][]importedGroup{}
	for _, data := range files {
		for _, name := range []string{"deny", "ask", "allow"} {
			for _, v := range gjson.GetBytes(data, "permissions."+name).Array() {
				entry := v.String()
				_, err := rule.OfClient(entry, name == "allow")
				switch {
				case slices.Contains(lists[name], entry):
				case err != nil:
					left = append(left, fmt.Sprintf("%s %s: %v", name, entry, err))
				case name == "allow" && level == Project:
					left = append(left, "allow "+entry+": a project's policy cannot allow")
				default:
					lists[name] = append(lists[name], entry)
				}
			}
		}
		gjson.GetBytes(data, "hooks").ForEach(func(name, groups gjson.Result) bool {
			kind := name.String()
			for _, g := range groups.Array() {
				for _, h := range g.Get("hooks").Array() {
					if own([]byte(h.Raw)) {
						continue
					}
					one := importedGroup{Hooks: []map[string]json.RawMessage{converted(h)}}
					if info, _ := event.Lookup(event.Kind(kind)); info.Matcher != "" { // else the client ignores it
						one.Matcher = g.Get("matcher").String()
					}
					if err := one.check(kind); err != nil {
						left = append(left, kind+": "+err.Error())
					} else {
						hooks[kind] = append(hooks[kind], one)
					}
				}
			}
			return true
		})
	}
	doc := map[string]any{"hooks": hooks}
	for name, list := range lists {
		doc[name] = list
	}
	b, err := wire.Encode(doc)
	if err != nil {
		return nil, nil, fmt.Errorf("writing policy: %w", err)
	}
	var out bytes.Buffer
	err = json.Indent(&out, append(b, '\n'), "", "  ")
	return out.Bytes(), left, err
}

// check returns why a policy cannot have the hook.
func (g importedGroup) check(kind string) error {
	doc, err := wire.Encode(map[string]any{"hooks": map[string]any{kind: []importedGroup{g}}})
	if err == nil {
		_, err = Decode("", Global, doc)
	}
	var list Problems
	if errors.As(err, &list) {
		return errors.New(strings.Trim(list[0].What+"; "+list[0].Advice, "; "))
	}
	return err
}

// converted returns a handler with the client's own members translated: one that runs in the
// background decides nothing, so it observes.
func converted(h gjson.Result) map[string]json.RawMessage {
	members := map[string]json.RawMessage{}
	h.ForEach(func(k, v gjson.Result) bool {
		switch k.Str {
		case "async", "asyncRewake":
			if v.Bool() {
				members["observe"] = json.RawMessage("true")
			}
		case "once": // ignored in settings
		default:
			members[k.String()] = json.RawMessage(v.Raw)
		}
		return true
	})
	return members
}
