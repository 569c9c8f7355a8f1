package web

import (
	"bytes"
	"encoding/json"
	"net/http"
	"reflect"
	"regexp"
	"strings"

	"beckon/render/web/access"

	"github.com/google/jsonschema-go/jsonschema"
)

// object is a JSON object of the description.
type object = map[string]any

// describe serves GET /api: an OpenAPI document, made from the endpoints and their types.
func (s *Server) describe(http.ResponseWriter, *http.Request) (any, error) {
	paths, events := map[string]object{}, object{}
	for _, e := range s.endpoints() {
		method, path, _ := strings.Cut(e.pattern, " ")
		if paths[path] == nil {
			paths[path] = object{}
		}
		paths[path][strings.ToLower(method)] = e.operation(path)
	}
	for name, v := range payloads {
		events[name] = schemaOf(v)
	}
	b, err := json.Marshal(object{
		"openapi": "3.1.0",
		"info": object{
			"title":       "beckon",
			"version":     s.o.Version,
			"description": "Which coding-agent session needs you. Errors are {error: {code, message, hint}}.",
		},
		"paths":      paths,
		"components": object{"securitySchemes": object{"token": object{"type": "http", "scheme": "bearer"}}},
		"x-events":   events, // the data of the events of /events, by their names
	})
	// A later version may add members to any object.
	return json.RawMessage(bytes.ReplaceAll(b, []byte(`,"additionalProperties":false`), nil)), err
}

var pathParam = regexp.MustCompile(`\{(\w+)\}`)

func (e endpoint) operation(path string) object {
	params := []object{}
	for _, m := range pathParam.FindAllStringSubmatch(path, -1) {
		params = append(params, object{"name": m[1], "in": "path", "required": true, "schema": object{"type": "string"}})
	}
	for name := range strings.FieldsSeq(e.query) {
		params = append(params, object{"name": name, "in": "query", "schema": object{"type": "string"}})
	}
	media, is := e.gives.(string)
	schema := &jsonschema.Schema{Type: "string"}
	if !is {
		media, schema = "application/json", schemaOf(e.gives)
	}
	op := object{
		"summary":    e.about,
		"parameters": params,
		"responses":  object{"200": object{"description": "done", "content": object{media: object{"schema": schema}}}},
	}
	if e.needs != access.Open {
		op["security"] = []object{{"token": []string{}}}
	}
	if e.takes != nil {
		op["requestBody"] = object{"content": object{"application/json": object{"schema": schemaOf(e.takes)}}}
	}
	return op
}

// schemaOf returns the schema of a value's type, nil for an object of no fixed type.
func schemaOf(v any) *jsonschema.Schema {
	if v == nil {
		return &jsonschema.Schema{Type: "object"}
	}
	schema, err := jsonschema.ForType(reflect.TypeOf(v), &jsonschema.ForOptions{
		TypeSchemas: map[reflect.Type]*jsonschema.Schema{reflect.TypeFor[json.RawMessage](): {Description: "any value"}},
	})
	if err != nil {
		panic(err) // a test describes every type
	}
	return schema
}
