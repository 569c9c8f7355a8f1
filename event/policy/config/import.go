package config

import (
	"bytes"
	"encoding/json"
	"errors"
	"slices"
	"strconv"
	"strings"

	"beckon/event"
	"beckon/event/policy/wire"

	"github.com/tidwall/gjson"
)

// FromClient returns a policy with the hooks and permission rules in the client's settings files, and those that
// a policy of that level cannot have, with the reason. own reports whether a handler is beckon's own.
func FromClient(files [][]byte, level Level, own func(handler []byte) bool) (text []byte, left []string, err error) {
	lists, hooks := map[string][]string{}, map[string][]any{}
	fits := func(what, entry string, doc map[string]any) bool {
		b, err := wire.Encode(doc)
		if err == nil {
			_, err = Decode("", level, b, false)
		}
		var list Problems
		if errors.As(err, &list) {
			why := strings.TrimPrefix(list[0].What, strconv.Quote(entry)+" ")
			err = errors.New(strings.Trim(why+"; "+list[0].Advice, "; "))
		}
		if err != nil {
			left = append(left, strings.TrimSpace(what+" "+entry)+": "+err.Error())
		}
		return err == nil
	}
	for _, data := range files {
		for _, name := range []string{"deny", "ask", "allow"} {
			for _, v := range gjson.GetBytes(data, "permissions."+name).Array() {
				entry := v.String()
				if !slices.Contains(lists[name], entry) && fits(name, entry, map[string]any{name: []string{entry}}) {
					lists[name] = append(lists[name], entry)
				}
			}
		}
		gjson.GetBytes(data, "hooks").ForEach(func(name, groups gjson.Result) bool {
			info, _ := event.Lookup(event.Kind(name.Str))
			for _, g := range groups.Array() {
				for _, h := range g.Get("hooks").Array() {
					one := map[string]any{"hooks": []any{converted(h)}}
					if m := g.Get("matcher").String(); m != "" && info.Matcher != "" { // else the client ignores it
						one["matcher"] = m
					}
					doc := map[string]any{"hooks": map[string]any{name.Str: []any{one}}}
					if !own([]byte(h.Raw)) && fits(name.Str, "", doc) {
						hooks[name.Str] = append(hooks[name.Str], one)
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
	compact, err := wire.Encode(doc)
	var out bytes.Buffer
	err = errors.Join(err, json.Indent(&out, append(compact, '\n'), "", "  "))
	return out.Bytes(), left, err
}

// converted returns a handler as a policy writes it: one that runs in the background observes.
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
