package offer

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/tidwall/gjson"
)

// Field is a value that a form asks for.
type Field struct {
	Name     string `json:"name"`
	Type     string `json:"type,omitempty"` // of JSON schema
	Title    string `json:"title,omitempty"`
	Required bool   `json:"required,omitempty"`
}

// Fields are what a form wants filled in, in its order.
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
		list = append(list, Field{key.Str, v.Get("type").String(), v.Get("title").String(), required[key.Str]})
		return true
	})
	return list
}

// Read reads what the user typed for f as its type.
func (f Field) Read(text string) (v any, err error) {
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
		if v, err = strconv.ParseInt(text, 10, 64); err != nil {
			return nil, fmt.Errorf("%s: %q is no whole number", f.Name, text)
		}
		return v, nil
	case "number":
		if v, err = strconv.ParseFloat(text, 64); err != nil {
			return nil, fmt.Errorf("%s: %q is no number", f.Name, text)
		}
		return v, nil
	}
	return text, nil
}
