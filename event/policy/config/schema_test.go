package config

import (
	"bytes"
	"os"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/tailscale/hujson"
)

func compile(t testing.TB, data []byte) *jsonschema.Schema {
	t.Helper()
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(data))
	if err != nil {
		t.Fatal(err)
	}
	c := jsonschema.NewCompiler()
	if err := c.AddResource("schema.json", doc); err != nil {
		t.Fatal(err)
	}
	s, err := c.Compile("schema.json")
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func valid(t testing.TB, s *jsonschema.Schema, text []byte) error {
	t.Helper()
	plain, err := hujson.Standardize(bytes.Clone(text))
	if err != nil {
		return err
	}
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(plain))
	if err != nil {
		return err
	}
	return s.Validate(doc)
}

// The schema accepts what Decode accepts. Decode rejects every mistake that the schema can
// express.
func TestSchema(t *testing.T) {
	text, err := Schema()
	if err != nil {
		t.Fatal(err)
	}
	s := compile(t, text)
	lone, err := os.ReadFile("testdata/server.json")
	if err != nil {
		t.Fatal(err)
	}
	full, err := os.ReadFile("testdata/hooks.json")
	if err != nil {
		t.Fatal(err)
	}
	good := []string{string(lone), strings.Replace(string(full), "{", `{"convention": "simple",`, 1), `{}`,
		one(`{"type":"command","command":"x","args":["a",""],"timeout":"500ms","fail":"closed","id":"a.b-c_1"}`),
		one(`{"type":"rule","decision":"ask","reason":"r","commands":["rm -rf"],"tool":"Bash"},{"type":"http","url":"https://x/","allowedEnvVars":["A"],"headers":{"A":"$A"}}`),
		hooks("Stop", `{"hooks":[{"type":"prompt","prompt":"p","model":"m","stop_blocks":3}]}`),
		`{"servers":[{"server_url":"http://localhost/","events":["Stop"],"id":"s","matcher":"Bash","grant":true}]}`,
		`{"observe":true,"servers":[{"server_url":"http://localhost/","observe":true}],` + one(`{"type":"rule","decision":"deny","reason":"r","observe":true}`)[1:]}
	for _, text := range good {
		if err := valid(t, s, []byte(text)); err != nil {
			t.Errorf("%s: %v", text, err)
		}
		decoded(t, text)
	}
	for _, text := range []string{`[]`, `{"x":1}`, `{"convention":"c"}`, `{"hooks":{"Nope":[]}}`, `{"hooks":{"WorktreeCreate":[]}}`, hooks("Stop", `{}`),
		one(`{}`), one(`{"type":"command"}`), one(`{"type":"rule","decision":"x"}`), one(`{"type":"server","server_url":"x"}`),
		one(`{"type":"command","command":"x","timeout":0}`), `{"servers":{}}`, `{"servers":[{}]}`, `{"server_url":"http://x","retry_count":-1}`} {
		if valid(t, s, []byte(text)) == nil {
			t.Errorf("the schema takes %s", text)
		}
		if _, err := Decode("p", Global, []byte(text)); err == nil {
			t.Errorf("Decode takes %s", text)
		}
	}
}
