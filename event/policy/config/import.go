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

// Imported is a hook of the client's own settings, converted for a policy.
type Imported struct {
	Event   string
	Matcher string
	File    string
	JSON    json.RawMessage // the handler, for a policy file
	Hook    *Hook           // nil if Problem says why it cannot be converted
	Problem string
}

// On returns the event, and the matcher if there is one.
func (i Imported) On() string { return strings.TrimSpace(i.Event + " " + i.Matcher) }

// Settings is one settings file of the client.
type Settings struct {
	File  string
	Level Level
	Data  []byte
}

// Import reads the hooks in the client's settings files in the order in which a policy would
// run them (project before global, identical ones once, definition order). own reports whether
// a handler is beckon's own, which would run the imported ones.
func Import(files []Settings, own func(handler []byte) bool) (out []Imported) {
	seen := map[string]bool{}
	for _, f := range slices.SortedStableFunc(slices.Values(files), func(a, b Settings) int {
		return strings.Compare(string(b.Level), string(a.Level)) // project, global
	}) {
		gjson.GetBytes(f.Data, "hooks").ForEach(func(name, groups gjson.Result) bool {
			for _, g := range groups.Array() {
				for _, h := range g.Get("hooks").Array() {
					i := f.imported(name.String(), g.Get("matcher").String(), h)
					key := i.On() + "\x00" + string(i.JSON)
					if i.Hook != nil {
						key = i.Hook.key()
					}
					if !seen[key] && !own([]byte(h.Raw)) {
						seen[key] = true
						out = append(out, i)
					}
				}
			}
			return true
		})
	}
	return out
}

func (f Settings) imported(kind, matcher string, h gjson.Result) Imported {
	if info, _ := event.Lookup(event.Kind(kind)); info.Matcher == "" {
		matcher = "" // the client ignores it
	}
	i := Imported{Event: kind, Matcher: matcher, File: f.File, JSON: converted(h)}
	doc, err := PolicyOf([]Imported{i}, nil)
	if err == nil {
		var c *Config
		if c, err = Decode(f.File, Global, doc); err == nil {
			i.Hook = c.Hooks[0]
			i.Hook.Level = f.Level
			return i
		}
	}
	var list Problems
	i.Problem = err.Error()
	if errors.As(err, &list) {
		i.Problem = strings.TrimSpace(list[0].What + "; " + list[0].Advice)
	}
	return i
}

// converted returns the handler with the client's own members translated: one that runs in the
// background decides nothing, so it observes.
func converted(h gjson.Result) json.RawMessage {
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
	b, err := wire.Encode(members)
	if err != nil {
		return json.RawMessage(h.Raw) // the client cannot read it either
	}
	return b
}

// FromClient returns a policy with the hooks and permission rules in settings files, each once,
// and those that a policy of that level cannot have, with the reason.
func FromClient(files []Settings, level Level, own func(handler []byte) bool) (text []byte, left []string, err error) {
	lists := map[string][]string{}
	for _, name := range []string{"deny", "ask", "allow"} {
		for _, f := range files {
			for _, v := range gjson.GetBytes(f.Data, "permissions."+name).Array() {
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
	}
	hooks := Import(files, own)
	for _, i := range hooks {
		if i.Hook == nil {
			left = append(left, i.Event+": "+i.Problem)
		}
	}
	hooks = slices.DeleteFunc(hooks, func(i Imported) bool { return i.Hook == nil })
	text, err = PolicyOf(hooks, lists)
	return text, left, err
}

// PolicyOf writes hooks, and lists of permission rules, as a policy file.
func PolicyOf(list []Imported, permissions map[string][]string) ([]byte, error) {
	type group struct {
		Matcher string            `json:"matcher,omitempty"`
		Hooks   []json.RawMessage `json:"hooks"`
	}
	events := map[string][]group{}
	for _, i := range list {
		groups := events[i.Event]
		if n := len(groups); n > 0 && groups[n-1].Matcher == i.Matcher {
			groups[n-1].Hooks = append(groups[n-1].Hooks, i.JSON)
			continue
		}
		events[i.Event] = append(groups, group{i.Matcher, []json.RawMessage{i.JSON}})
	}
	doc := map[string]any{"hooks": events}
	for name, entries := range permissions {
		doc[name] = entries
	}
	b, err := wire.Encode(doc)
	if err != nil {
		return nil, fmt.Errorf("writing policy: %w", err)
	}
	var out bytes.Buffer
	err = json.Indent(&out, append(b, '\n'), "", "  ")
	return out.Bytes(), err
}
