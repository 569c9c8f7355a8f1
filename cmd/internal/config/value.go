package config

import (
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"beckon/event/osc"
	"beckon/event/typed"
	"beckon/state"
	"beckon/state/alert"

	"github.com/tailscale/hujson"
)

// assign sets the key's field to v, or returns what is wrong with it and what would be right.
func (k key) assign(c *Config, v hujson.Value) (problem, advice string) {
	v.Standardize()
	data := v.Pack()
	switch p := k.field(c).(type) {
	case *string:
		return k.text(p, data)
	case *[]string:
		return k.list(p, data)
	case *[]state.AlertKind:
		return listOf(k, p, data)
	case *osc.Style:
		return k.text((*string)(p), data)
	case *time.Duration:
		return span(p, data)
	case *alert.Hours:
		var s string
		if json.Unmarshal(data, &s) != nil || p.UnmarshalText([]byte(s)) != nil {
			return "no hours of the day", `they look like "22:00-07:30"`
		}
	}
	return "", ""
}

func (k key) text(p *string, data []byte) (problem, advice string) {
	var s string
	var b bool
	switch {
	case json.Unmarshal(data, &b) == nil && slices.Contains(k.OneOf, "true"):
		s = strconv.FormatBool(b)
	case json.Unmarshal(data, &s) != nil:
		return "not a text", k.choices()
	}
	if problem := k.refuse(s); problem != "" {
		return problem, k.choices()
	}
	*p = s
	return "", ""
}

func (k key) list(p *[]string, data []byte) (problem, advice string) {
	var list []string
	if json.Unmarshal(data, &list) != nil || list == nil {
		return "not a list of texts", `a list looks like ["one", "two"]`
	}
	for _, s := range list {
		if problem := k.refuse(s); problem != "" {
			return problem, k.choices()
		}
	}
	*p = list
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

func listOf[T ~string](k key, p *[]T, data []byte) (problem, advice string) {
	var list []string
	if problem, advice = k.list(&list, data); problem != "" {
		return problem, advice
	}
	*p = nil
	for _, s := range list {
		*p = append(*p, T(s))
	}
	return "", ""
}

func span(p *time.Duration, data []byte) (problem, advice string) {
	var s string
	if json.Unmarshal(data, &s) != nil {
		return "not a duration", typed.ErrDuration.Error()
	}
	var err error
	if *p, err = typed.Duration(s); err != nil {
		return fmt.Sprintf("%q is not a duration", s), err.Error()
	}
	return "", ""
}

// show writes a field's value for people.
func show(field any) string {
	switch p := field.(type) {
	case *string:
		return *p
	case *[]string:
		return strings.Join(*p, ",")
	case *[]state.AlertKind:
		return strings.Join(texts(*p), ",")
	case *osc.Style:
		return string(*p)
	case *alert.Hours:
		text, _ := p.MarshalText()
		return string(text)
	}
	return fmt.Sprint(*field.(*time.Duration))
}

func texts[T ~string](list []T) (out []string) {
	for _, v := range list {
		out = append(out, string(v))
	}
	return out
}
