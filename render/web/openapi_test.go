package web

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"
)

// described is the part of the description that the test reads.
type described struct {
	OpenAPI    string `json:"openapi"`
	Paths      map[string]map[string]operation
	Components struct{ Schemas map[string]map[string]any }
	Events     map[string]map[string]any `json:"x-events"`
}

type operation struct {
	Summary    string
	Parameters []struct {
		Name, In string
	}
	Responses map[string]struct {
		Content map[string]struct{ Schema map[string]any }
	}
}

// fits returns why a value is not of a schema, empty if it is.
func (d *described) fits(v any, schema map[string]any, at string) string {
	if ref, ok := schema["$ref"].(string); ok {
		name := strings.TrimPrefix(ref, "#/components/schemas/")
		if d.Components.Schemas[name] == nil {
			return at + ": there is no schema " + name
		}
		return d.fits(v, d.Components.Schemas[name], at)
	}
	kind := map[string]bool{}
	switch v := v.(type) {
	case nil:
		return "" // a pointer
	case string:
		kind["string"] = true
	case bool:
		kind["boolean"] = true
	case float64:
		kind["number"], kind["integer"] = true, v == float64(int64(v))
	case []any:
		kind["array"] = true
		items, _ := schema["items"].(map[string]any)
		for i := range v {
			if bad := d.fits(v[i], items, fmt.Sprintf("%s[%d]", at, i)); bad != "" {
				return bad
			}
		}
	case map[string]any:
		kind["object"] = true
		properties, _ := schema["properties"].(map[string]any)
		for name := range v {
			of, ok := properties[name].(map[string]any)
			if properties != nil && !ok {
				return at + ": " + name + " is not described"
			}
			if bad := d.fits(v[name], of, at+"."+name); bad != "" {
				return bad
			}
		}
		required, _ := schema["required"].([]any)
		for _, name := range required {
			if _, ok := v[name.(string)]; !ok {
				return at + ": " + name.(string) + " is not there"
			}
		}
	}
	if t, ok := schema["type"].(string); ok && !kind[t] {
		return fmt.Sprintf("%s: %v is no %s", at, v, t)
	}
	return ""
}

// The description names every path, and what is served is what it says: responses and events.
func TestDescription(t *testing.T) {
	x := serve(t, Options{Version: "1.2.3"})
	var d described
	x.Get("/api").Into(t, &d)
	if !strings.HasPrefix(d.OpenAPI, "3.1") {
		t.Errorf("version %q", d.OpenAPI)
	}
	count := 0
	for path, methods := range d.Paths {
		for method, op := range methods {
			count++
			for _, p := range op.Parameters {
				if p.In == "path" && !strings.Contains(path, "{"+p.Name+"}") {
					t.Errorf("%s %s has no %s", method, path, p.Name)
				}
			}
			if op.Summary == "" || strings.Count(path, "{") > len(op.Parameters) {
				t.Errorf("%s %s: %+v", method, path, op)
			}
		}
	}
	if want := len(x.s.endpoints()); count != want {
		t.Errorf("%d of %d endpoints are described", count, want)
	}
	s := x.stream("/events")
	x.post("/hook", `{"agent":"claude-code","event":"UserPromptSubmit","hookInput":{"session_id":"s","prompt":"build it"},"terminal":{"cwd":"/tmp"},"tmux":{"pane":"%4","sessionName":"w"},"git":{"branch":"main"}}`)
	s.await("session_created", nil)
	x.post("/hook", `{"agent":"claude-code","event":"PermissionRequest","hookInput":{"session_id":"s","tool_name":"Bash","tool_input":{"command":"ls"}}}`)
	s.await("turn_created", nil)
	s.await("session_updated", nil)
	o := x.offerIn("permission", asksToRun)
	s.await("offer_created", nil)
	for path, asked := range map[string]string{
		"/hook/status": "", "/api/sessions": "", "/api/sessions/{id}": "/api/sessions/s", "/api/sessions/{id}/turns": "/api/sessions/s/turns",
		"/api/sessions/{id}/journal": "/api/sessions/s/journal", "/api/offers": "", "/api/offers/{id}": "/api/offers/" + o.ID,
	} {
		if asked == "" {
			asked = path
		}
		r := x.Get(asked)
		if r.Status != http.StatusOK {
			t.Errorf("%s: %d", asked, r.Status)
			continue
		}
		var v any
		r.Into(t, &v)
		if bad := d.fits(v, d.Paths[path]["get"].Responses["200"].Content["application/json"].Schema, ""); bad != "" {
			t.Errorf("%s: %s\n%s", path, bad, r.Body)
		}
	}
	seen := map[string]bool{}
	for _, h := range s.events() {
		var v any
		if err := json.Unmarshal([]byte(h.data), &v); err != nil {
			t.Fatal(err)
		}
		schema, ok := d.Events[h.name]
		if !ok {
			t.Errorf("the event %s is not described", h.name)
		}
		if bad := d.fits(v, schema, ""); bad != "" {
			t.Errorf("%s: %s\n%s", h.name, bad, h.data)
		}
		seen[h.name] = true
	}
	if len(seen) < 5 {
		t.Errorf("only %v was seen", seen)
	}
}

// What is long is compressed for those who say that they take it, and the same for others.
func TestCompression(t *testing.T) {
	x := serve(t, Options{})
	for i := range 20 {
		x.post("/hook", fmt.Sprintf(`{"event":"Stop","hookInput":{"session_id":"s%d","cwd":"/tmp"}}`, i))
	}
	get := func(encoding string) (*http.Response, int) {
		r := x.Request("GET", "/api/sessions", "")
		r.Header.Set("Accept-Encoding", encoding)
		res, err := new(http.Transport).RoundTrip(r)
		if err != nil {
			t.Fatal(err)
		}
		defer res.Body.Close()
		n := 0
		for b := make([]byte, 4096); ; {
			m, err := res.Body.Read(b)
			if n += m; err != nil {
				return res, n
			}
		}
	}
	plain, whole := get("identity")
	packed, few := get("gzip")
	if plain.Header.Get("Content-Encoding") != "" || packed.Header.Get("Content-Encoding") != "gzip" || few*4 > whole {
		t.Errorf("%d bytes (%s), %d bytes (%s)", whole, plain.Header.Get("Content-Encoding"), few, packed.Header.Get("Content-Encoding"))
	}
}
