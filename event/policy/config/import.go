package config

import (
	"bytes"
	"encoding/json"
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

// Settings is one settings file of the client.
type Settings struct {
	File  string
	Level Level
	Data  []byte
}

// Import reads the hooks in the client's settings files in the order in which a policy would
// run them (project before global, identical ones once, definition order). own reports whether
// a handler is beckon's own, which would run the imported ones.
func Import(files []Settings, own func(handler []byte) bool) []Imported {
	var out []Imported
	seen := map[string]bool{}
	for _, level := range []Level{Project, Global} {
		for _, f := range files {
			if f.Level == level {
				out = f.imports(out, seen, own)
			}
		}
	}
	return out
}

func (f Settings) imports(out []Imported, seen map[string]bool, own func([]byte) bool) []Imported {
	gjson.GetBytes(f.Data, "hooks").ForEach(func(name, groups gjson.Result) bool {
		for _, g := range groups.Array() {
			for _, h := range g.Get("hooks").Array() {
				if own([]byte(h.Raw)) {
					continue
				}
				i := f.one(name.String(), g.Get("matcher").String(), h)
				key := i.Event + "\x00" + i.Matcher + "\x00" + string(i.JSON)
				if i.Hook != nil {
					key = i.Hook.key()
				}
				if !seen[key] {
					seen[key] = true
					out = append(out, i)
				}
			}
		}
		return true
	})
	return out
}

// one converts a handler.
func (f Settings) one(kind, matcher string, h gjson.Result) Imported {
	i := Imported{Event: kind, Matcher: matcher, File: f.File, JSON: converted(h)}
	group := map[string]any{"hooks": []json.RawMessage{i.JSON}}
	if info, _ := event.Lookup(event.Kind(kind)); matcher != "" && info.Matcher != "" {
		group["matcher"] = matcher
	} else {
		i.Matcher = "" // the client ignores it
	}
	doc, err := json.Marshal(map[string]any{"hooks": map[string]any{kind: []any{group}}})
	if err == nil {
		var c *Config
		if c, err = Decode(f.File, Global, doc); err == nil && len(c.Hooks) == 1 {
			i.Hook = c.Hooks[0]
			i.Hook.Level = f.Level
			return i
		}
	}
	i.Problem = "cannot be taken over"
	if list, ok := err.(Problems); ok {
		i.Problem = strings.TrimSpace(list[0].What + "; " + list[0].Advice)
	} else if err != nil {
		i.Problem = err.Error()
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

// Permissions returns the client's permission rules in settings files, by their lists, each once,
// and those that a policy of that level cannot have, with the reason.
func Permissions(files []Settings, level Level) (lists map[string][]string, left []string) {
	lists = map[string][]string{}
	for _, name := range []string{"deny", "ask", "allow"} {
		for _, f := range files {
			for _, entry := range gjson.GetBytes(f.Data, "permissions."+name).Array() {
				_, err := rule.OfClient(entry.String(), name == "allow")
				switch {
				case f.Level != level, slices.Contains(lists[name], entry.String()):
				case err != nil:
					left = append(left, fmt.Sprintf("%s %s: %v", name, entry.String(), err))
				case name == "allow" && level == Project:
					left = append(left, "allow "+entry.String()+": a project's policy cannot allow")
				default:
					lists[name] = append(lists[name], entry.String())
				}
			}
		}
	}
	return lists, left
}

// PolicyOf writes the imported hooks that can be converted, and lists of permission rules, as a
// policy file.
func PolicyOf(list []Imported, permissions map[string][]string) ([]byte, error) {
	type group struct {
		Matcher string            `json:"matcher,omitempty"`
		Hooks   []json.RawMessage `json:"hooks"`
	}
	events := map[string][]group{}
	for _, i := range list {
		if i.Hook == nil {
			continue
		}
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
