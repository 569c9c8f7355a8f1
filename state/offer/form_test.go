package offer

import (
	"strings"
	"testing"
)

// An answer from any place fills in a form according to its schema.
func TestFill(t *testing.T) {
	o := Offer{Kind: Form, Payload: []byte(`{"requested_schema":{"type":"object","required":["name","zone"],"properties":{
		"name":{"type":"string","minLength":2,"maxLength":5},"copies":{"type":"integer","minimum":1,"default":2},"ratio":{"type":"number","maximum":1},
		"zone":{"type":"string","enum":["eu-1","us-1"],"enumNames":["Europe","America"],"default":"us-1"},"drain":{"type":"boolean","default":false},
		"level":{"oneOf":[{"const":1,"title":"low"},{"const":2}]},"tags":{"type":"array","items":{"enum":["a","b","c,d"]},"default":["b"]}}}}`)}
	for name, c := range map[string]struct {
		typed map[string]string
		want  string // or the text of the error
	}{
		"defaults":              {map[string]string{"name": "Kim"}, `{"copies":2,"drain":false,"name":"Kim","tags":["b"],"zone":"us-1"}`},
		"all":                   {map[string]string{"name": "Kim", "copies": "3", "ratio": "0.5", "zone": "eu-1", "drain": "yes", "level": "2", "tags": "a, b"}, `{"copies":3,"drain":true,"level":2,"name":"Kim","ratio":0.5,"tags":["a","b"],"zone":"eu-1"}`},
		"by name":               {map[string]string{"name": "Kim", "zone": "Europe", "level": "low", "tags": `["c,d"]`}, `{"copies":2,"drain":false,"level":1,"name":"Kim","tags":["c,d"],"zone":"eu-1"}`},
		"left out":              {map[string]string{"name": "Kim", "copies": "", "drain": "", "tags": ""}, `{"name":"Kim","zone":"us-1"}`},
		"needed":                {nil, "the form needs name"},
		"needed, its default":   {map[string]string{"name": "Kim", "zone": ""}, "the form needs zone"},
		"not whole":             {map[string]string{"name": "Kim", "copies": "1.5"}, "not a whole number"},
		"too few":               {map[string]string{"name": "Kim", "copies": "0"}, "less than 1"},
		"too much":              {map[string]string{"name": "Kim", "ratio": "1.5"}, "more than 1"},
		"no number":             {map[string]string{"name": "Kim", "ratio": "NaN"}, "not a number"},
		"too short":             {map[string]string{"name": "K"}, "less than 2 letters"},
		"too long":              {map[string]string{"name": "Kimberly"}, "more than 5 letters"},
		"no option":             {map[string]string{"name": "Kim", "zone": "eu-2"}, `"eu-2" is not one of eu-1, us-1`},
		"no option, of several": {map[string]string{"name": "Kim", "tags": "a,x"}, `"x" is not one of a, b, c,d`},
		"neither":               {map[string]string{"name": "Kim", "drain": "maybe"}, "neither yes nor no"},
		"no such":               {map[string]string{"name": "Kim", "age": "7"}, `no "age"`},
	} {
		content, err := o.Fill(c.typed)
		got := string(content)
		if err != nil {
			got = err.Error()
		}
		if got != c.want && (err == nil || !strings.Contains(got, c.want)) {
			t.Errorf("%s: %s, want %s", name, got, c.want)
		}
	}
	alien := Offer{Kind: Form, Payload: []byte(`{"requested_schema":{"properties":{"who":{"type":"object"}}}}`)}
	if content, err := alien.Fill(nil); err == nil {
		t.Errorf("an object: %s", content)
	}
}
