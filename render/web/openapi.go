package web

import (
	"encoding"
	"encoding/json"
	"net/http"
	"reflect"
	"regexp"
	"strings"
	"time"

	"beckon/render/web/access"
	"beckon/render/web/feed"
	"beckon/render/web/respond"
)

// envelope is the unified envelope; the members of an agent's payload are its own.
type envelope struct {
	Agent     string `json:"agent"`
	Event     string `json:"event"`
	HookInput struct {
		SessionID      string `json:"session_id"`
		TranscriptPath string `json:"transcript_path,omitempty"`
		ToolName       string `json:"tool_name,omitempty"`
	} `json:"hookInput"`
	Terminal struct {
		SessionID string `json:"sessionId,omitempty"`
		Cwd       string `json:"cwd,omitempty"`
		Type      string `json:"terminalType,omitempty"`
	} `json:"terminal,omitzero"`
	Git struct {
		Branch string `json:"branch,omitempty"`
		Repo   string `json:"repo,omitempty"`
	} `json:"git,omitzero"`
	Tmux struct {
		Pane    string `json:"pane,omitempty"`
		Session string `json:"sessionName,omitempty"`
	} `json:"tmux,omitzero"`
	RemoteHost string `json:"remoteHost,omitempty"`
}

// trackerEvent is what the trackers' endpoints take besides the agent's own members.
type trackerEvent struct {
	SessionID string `json:"session_id"`
	Cwd       string `json:"working_directory,omitempty"`
	Launcher  string `json:"launcher_id,omitempty"`
	Pane      string `json:"tmux_pane,omitempty"`
	Session   string `json:"tmux_session,omitempty"`
}

// object is a JSON object of the description.
type object = map[string]any

// describe serves GET /api: an OpenAPI document, made from the endpoints and their types.
func (s *Server) describe(w http.ResponseWriter, r *http.Request) error {
	schemas := schemas{}
	paths := object{}
	for _, e := range s.endpoints() {
		method, path, _ := strings.Cut(e.pattern, " ")
		if paths[path] == nil {
			paths[path] = object{}
		}
		paths[path].(object)[strings.ToLower(method)] = schemas.operation(e, path)
	}
	events := object{}
	for name, v := range feed.Payloads() {
		events[name] = schemas.of(reflect.TypeOf(v))
	}
	return respond.Whole(w, r, object{
		"openapi": "3.1.0",
		"info": object{
			"title":       "beckon",
			"version":     s.o.Version,
			"description": "Which coding-agent session needs you. Errors are {error: {code, message, hint}}.",
		},
		"paths": paths,
		"components": object{
			"schemas":         schemas,
			"securitySchemes": object{"token": object{"type": "http", "scheme": "bearer"}},
		},
		"x-events": events, // the data of the events of /events, by their names
	})
}

var pathParam = regexp.MustCompile(`\{(\w+)\}`)

func (s schemas) operation(e endpoint, path string) object {
	var params []object
	for _, m := range pathParam.FindAllStringSubmatch(path, -1) {
		params = append(params, object{"name": m[1], "in": "path", "required": true, "schema": object{"type": "string"}})
	}
	for name := range strings.FieldsSeq(e.query) {
		params = append(params, object{"name": name, "in": "query", "schema": object{"type": "string"}})
	}
	media, schema := "application/json", object{"type": "object"}
	if text, ok := e.gives.(string); ok {
		media, schema = text, object{"type": "string"}
	} else if e.gives != nil {
		schema = s.of(reflect.TypeOf(e.gives))
	}
	op := object{
		"summary":   e.about,
		"responses": object{"200": object{"description": "done", "content": object{media: object{"schema": schema}}}},
	}
	if e.needs != access.Open {
		op["security"] = []object{{"token": []string{}}}
	}
	if params != nil {
		op["parameters"] = params
	}
	if e.takes != nil {
		op["requestBody"] = object{"content": object{"application/json": object{"schema": s.of(reflect.TypeOf(e.takes))}}}
	}
	return op
}

// schemas are the types of the description, by their names.
type schemas object

var (
	asText = reflect.TypeFor[encoding.TextMarshaler]()
	asJSON = reflect.TypeFor[json.Marshaler]()
)

// of returns the schema of a type, a reference for a struct with a name.
func (s schemas) of(t reflect.Type) object {
	switch {
	case t.Kind() == reflect.Pointer:
		return s.of(t.Elem())
	case t == reflect.TypeFor[time.Time]():
		return object{"type": "string", "format": "date-time"}
	case t.Implements(asText):
		return object{"type": "string"}
	case t.Implements(asJSON):
		return object{}
	}
	switch t.Kind() {
	case reflect.String:
		return object{"type": "string"}
	case reflect.Bool:
		return object{"type": "boolean"}
	case reflect.Float32, reflect.Float64:
		return object{"type": "number"}
	case reflect.Slice, reflect.Array:
		return object{"type": "array", "items": s.of(t.Elem())}
	case reflect.Map:
		return object{"type": "object", "additionalProperties": s.of(t.Elem())}
	case reflect.Interface:
		return object{}
	case reflect.Struct:
	default:
		return object{"type": "integer"}
	}
	if t.Name() == "" {
		return s.structure(t)
	}
	name := strings.ReplaceAll(t.String(), ".", "_")
	if _, known := s[name]; !known {
		s[name] = object{} // it may contain itself
		s[name] = s.structure(t)
	}
	return object{"$ref": "#/components/schemas/" + name}
}

func (s schemas) structure(t reflect.Type) object {
	properties := object{}
	var required []string
	for _, f := range reflect.VisibleFields(t) {
		name, options, _ := strings.Cut(f.Tag.Get("json"), ",")
		if !f.IsExported() || name == "-" || f.Anonymous && name == "" || len(f.Index) > 1 && outside(t, f) {
			continue
		}
		if name == "" {
			name = f.Name
		}
		properties[name] = s.of(f.Type)
		if !strings.Contains(options, "omit") {
			required = append(required, name)
		}
	}
	schema := object{"type": "object", "properties": properties}
	if required != nil {
		schema["required"] = required
	}
	return schema
}

// outside reports whether a promoted field belongs to an embedded struct that has a name in JSON.
func outside(t reflect.Type, f reflect.StructField) bool {
	for i := 1; i < len(f.Index); i++ {
		if t.FieldByIndex(f.Index[:i]).Tag.Get("json") != "" {
			return true
		}
	}
	return false
}
