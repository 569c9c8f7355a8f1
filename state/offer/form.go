package offer

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/tidwall/gjson"
)

// Field is a value that a form asks for.
type Field struct {
	Name        string `json:"name"`
	Type        string `json:"type,omitempty"` // of the JSON schema: string, integer, number or boolean; no value can be typed for another
	Title       string `json:"title,omitempty"`
	Description string `json:"description,omitempty"`
	Format      string `json:"format,omitempty"` // of a string: email, uri, date, date-time
	Required    bool   `json:"required,omitempty"`
	// Options are the values that it takes, unless it takes any; Several is set if it takes a
	// list of them.
	Options []Value `json:"options,omitempty"`
	Several bool    `json:"several,omitempty"`
	// Default is the value if nothing is typed.
	Default *string `json:"default,omitempty"`
	// Min and Max bound a number, or the length of a string in letters.
	Min *float64 `json:"min,omitempty"`
	Max *float64 `json:"max,omitempty"`

	preset json.RawMessage
}

// Value is a value that a field takes, as it is typed.
type Value struct {
	Text string `json:"text"`
	Name string `json:"name"` // as people read it
	// Default is set if it is the field's default.
	Default bool `json:"default,omitempty"`

	value any
}

// Fields returns the values that a form asks for, in its order.
func (o *Offer) Fields() (list []Field) {
	if o.Kind != Form {
		return nil
	}
	schema := gjson.ParseBytes(o.Schema())
	required := map[string]bool{}
	for _, r := range schema.Get("required").Array() {
		required[r.String()] = true
	}
	schema.Get("properties").ForEach(func(key, v gjson.Result) bool {
		list = append(list, fieldOf(key.Str, v, required[key.Str]))
		return true
	})
	return list
}

func fieldOf(name string, v gjson.Result, required bool) Field {
	f := Field{Name: name, Type: v.Get("type").String(), Title: v.Get("title").String(), Description: v.Get("description").String(),
		Format: v.Get("format").String(), Required: required, Options: optionsOf(v)}
	if f.Type == "array" {
		f.Options = optionsOf(v.Get("items"))
		f.Several = f.Options != nil
	}
	f.Min, f.Max = bound(v, "minimum", "minLength"), bound(v, "maximum", "maxLength")
	if d := v.Get("default"); d.Exists() && d.Type != gjson.Null {
		text := typed(d)
		f.preset, f.Default = json.RawMessage(d.Raw), &text
		for i := range f.Options {
			o := &f.Options[i]
			o.Default = slices.ContainsFunc(append(d.Array(), d), func(v gjson.Result) bool { return v.String() == o.Text })
		}
	}
	return f
}

// optionsOf returns the values that a schema lists.
func optionsOf(v gjson.Result) (list []Value) {
	names := v.Get("enumNames").Array()
	for i, e := range v.Get("enum").Array() {
		value := Value{Text: e.String(), Name: e.String(), value: e.Value()}
		if i < len(names) {
			value.Name = names[i].String()
		}
		list = append(list, value)
	}
	for _, key := range [...]string{"oneOf", "anyOf"} {
		for _, e := range v.Get(key).Array() {
			c := e.Get("const")
			if !c.Exists() {
				return nil
			}
			list = append(list, Value{Text: c.String(), Name: cmp.Or(e.Get("title").String(), c.String()), value: c.Value()})
		}
	}
	return list
}

func bound(v gjson.Result, names ...string) *float64 {
	for _, name := range names {
		if n := v.Get(name); n.Type == gjson.Number {
			return &n.Num
		}
	}
	return nil
}

// typed returns a value in the form in which it is typed.
func typed(v gjson.Result) string {
	switch v.Type {
	case gjson.True:
		return "yes"
	case gjson.False:
		return "no"
	case gjson.JSON:
		var all []string
		for _, e := range v.Array() {
			all = append(all, e.String())
		}
		text := strings.Join(all, ", ")
		if strings.Count(text, ",") < max(len(all), 1) {
			return text
		}
	}
	return v.String()
}

// Alien reports whether no value can be typed for f.
func (f *Field) Alien() bool {
	return f.Options == nil && !slices.Contains([]string{"", "string", "boolean", "integer", "number"}, f.Type)
}

// Read parses what the user typed for f according to its type. An empty text is not a value.
func (f *Field) Read(text string) (v any, err error) {
	switch {
	case f.Alien():
		return nil, fmt.Errorf("%s cannot be filled in here: accept the form at its session", f.Name)
	case f.Several:
		return f.several(text)
	case text == "":
		return nil, nil
	case f.Options != nil:
		return f.option(text)
	}
	n, unit := 0.0, ""
	switch f.Type {
	case "boolean":
		switch strings.ToLower(text) {
		case "yes", "true", "y":
			return true, nil
		case "no", "false", "n":
			return false, nil
		}
		return nil, fmt.Errorf("%s: %q is neither yes nor no", f.Name, text)
	case "integer":
		whole, err := strconv.ParseInt(text, 10, 64)
		if err != nil {
			return nil, fmt.Errorf("%s: %q is not a whole number", f.Name, text)
		}
		v, n = whole, float64(whole)
	case "number":
		if n, err = strconv.ParseFloat(text, 64); err != nil || n-n != 0 {
			return nil, fmt.Errorf("%s: %q is not a number", f.Name, text)
		}
		v = n
	default:
		v, n, unit = text, float64(utf8.RuneCountInString(text)), " letters"
	}
	switch {
	case f.Min != nil && n < *f.Min:
		return nil, fmt.Errorf("%s: %q is less than %v%s", f.Name, text, *f.Min, unit)
	case f.Max != nil && n > *f.Max:
		return nil, fmt.Errorf("%s: %q is more than %v%s", f.Name, text, *f.Max, unit)
	}
	return v, nil
}

func (f *Field) option(text string) (any, error) {
	for _, by := range []func(Value) string{func(v Value) string { return v.Text }, func(v Value) string { return v.Name }} {
		if i := slices.IndexFunc(f.Options, func(v Value) bool { return by(v) == text }); i >= 0 {
			return f.Options[i].value, nil
		}
	}
	var all []string
	for _, v := range f.Options {
		all = append(all, v.Text)
	}
	return nil, fmt.Errorf("%s: %q is not one of %s", f.Name, text, strings.Join(all, ", "))
}

// several parses options separated by commas, or, for options that contain commas, a JSON
// list.
func (f *Field) several(text string) (any, error) {
	var texts []string
	if json.Unmarshal([]byte(text), &texts) != nil && text != "" {
		texts = strings.Split(text, ",")
	}
	list := []any{}
	for _, t := range texts {
		v, err := f.option(strings.TrimSpace(t))
		if err != nil {
			return nil, err
		}
		list = append(list, v)
	}
	if len(list) == 0 && !f.Required {
		return nil, nil
	}
	return list, nil
}

// Fill returns the content of the form with what the user typed for its fields, by their
// names. A field that has no entry gets its default; one whose entry is empty gets no value.
func (o *Offer) Fill(typed map[string]string) (content json.RawMessage, err error) {
	fields := o.Fields()
	for name := range typed {
		if !slices.ContainsFunc(fields, func(f Field) bool { return f.Name == name }) {
			return nil, fmt.Errorf("the form has no %q", name)
		}
	}
	values := map[string]any{}
	for _, f := range fields {
		text, given := typed[f.Name]
		var v any
		if !given && f.preset != nil {
			v = f.preset
		} else if v, err = f.Read(text); err != nil {
			return nil, err
		}
		if v != nil {
			values[f.Name] = v
		} else if f.Required {
			return nil, fmt.Errorf("the form needs %s", f.Name)
		}
	}
	return json.Marshal(values)
}
