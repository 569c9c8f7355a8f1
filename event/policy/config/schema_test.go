package config

import (
	"bytes"
	"encoding/json"
	"errors"
	"maps"
	"os"
	"reflect"
	"slices"
	"strings"
	"testing"

	"beckon/event"
	"beckon/event/policy/packs"
	"beckon/event/policy/wire"

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

// The schema names the members that Decode knows, the events and the packs.
func TestSchemaIsComplete(t *testing.T) {
	type object struct{ Properties map[string]any }
	var s struct {
		object
		Defs map[string]json.RawMessage `json:"$defs"`
	}
	if err := json.Unmarshal(Schema(), &s); err != nil {
		t.Fatal(err)
	}
	same := func(name string, got map[string]any, want []string) {
		t.Helper()
		if names := slices.Sorted(maps.Keys(got)); !slices.Equal(names, slices.Sorted(slices.Values(want))) {
			t.Errorf("%s: the schema has %q, want %q", name, names, want)
		}
	}
	def := func(name string) (o object, all struct{ Enum []string }) {
		t.Helper()
		if err := errors.Join(json.Unmarshal(s.Defs[name], &o), json.Unmarshal(s.Defs[name], &all)); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		return o, all
	}
	members := func(t reflect.Type, as string) []string { return slices.Collect(maps.Keys(fieldsOf(t, as))) }
	same("file", s.Properties, members(reflect.TypeFor[file](), "file"))
	for name, as := range map[string]string{
		"command": "hook started command", "http": "hook started http", "server": "hook started server",
		"prompt": "hook started prompt", "rule": "hook rule", "server_entry": "server_entry",
	} {
		o, _ := def(name)
		same(name, o.Properties, members(reflect.TypeFor[handler](), as))
	}
	o, _ := def("unless")
	same("unless", o.Properties, members(reflect.TypeFor[conditions](), "rule"))
	o, _ = def("group")
	same("group", o.Properties, members(reflect.TypeFor[group](), ""))
	var kinds []string
	for _, info := range event.Kinds {
		if wire.RulesOf(info.Kind).Never == "" {
			kinds = append(kinds, string(info.Kind))
		}
	}
	o, _ = def("hooks")
	same("hooks", o.Properties, kinds)
	if _, pack := def("pack"); !slices.Equal(pack.Enum, packs.Names()) {
		t.Errorf("packs %q, want %q", pack.Enum, packs.Names())
	}
}

// The schema accepts what Decode accepts. Decode rejects every mistake that the schema can
// express.
func TestSchema(t *testing.T) {
	s := compile(t, Schema())
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
