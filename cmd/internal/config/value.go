package config

import (
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"time"

	"beckon/event/typed"
	"beckon/state"

	"github.com/tailscale/hujson"
)

// assign sets the key's field to v, or returns what is wrong with it and what would be right.
func (k key) assign(c *Config, v hujson.Value) (problem, advice string) {
	v.Standardize()
	data := v.Pack()
	var s string
	text := json.Unmarshal(data, &s) == nil
	if p, ok := k.field(c).(*time.Duration); ok {
		if !text {
			return "not a duration", typed.ErrDuration.Error()
		}
		d, err := typed.Duration(s)
		if err != nil {
			return fmt.Sprintf("%q is not a duration", s), err.Error()
		}
		*p = d
		return "", ""
	}
	field := reflect.ValueOf(k.field(c)).Elem() // texts, or one
	list := []string{s}
	if field.Kind() == reflect.Slice {
		if list = nil; json.Unmarshal(data, &list) != nil || list == nil {
			return "not a list of texts", `a list looks like ["one", "two"]`
		}
	} else if bare := strings.TrimSpace(string(data)); slices.Contains(k.OneOf, "true") &&
		(bare == "true" || bare == "false") {
		list[0] = bare
	} else if !text {
		return "not a text", k.choices()
	}
	for _, s := range list {
		if problem := k.refuse(s); problem != "" {
			return problem, k.choices()
		}
	}
	if field.Kind() == reflect.String {
		field.SetString(list[0])
		return "", ""
	}
	field.SetZero()
	if len(list) > 0 {
		_ = json.Unmarshal(data, field.Addr().Interface()) // texts of any type
	}
	return "", ""
}

// refuse returns what is wrong with one text.
func (k key) refuse(s string) string {
	if k.OneOf != nil && !slices.Contains(k.OneOf, s) && (s == "" || s != k.gone) {
		return fmt.Sprintf("no such value %q", s)
	}
	if k.check != nil {
		if err := k.check(s); err != nil {
			return err.Error()
		}
	}
	return ""
}

func (k key) choices() string {
	switch {
	case k.Hint != "":
		return k.Hint
	case k.OneOf == nil:
		return ""
	}
	return "one of " + strings.Join(k.OneOf, ", ")
}

// show writes a field's value for people.
func show(field any) string {
	switch p := field.(type) {
	case *[]string:
		return strings.Join(*p, ",")
	case *[]state.AlertKind:
		return strings.Join(texts(*p), ",")
	}
	return fmt.Sprint(reflect.ValueOf(field).Elem())
}

func texts[T ~string](list []T) (out []string) {
	for _, v := range list {
		out = append(out, string(v))
	}
	return out
}
