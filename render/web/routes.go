package web

import (
	"bytes"
	"encoding/json"
	"errors"
	"net/http"
	"reflect"
	"regexp"
	"strings"

	"beckon/render"
	"beckon/render/web/access"
	"beckon/state"
	"beckon/state/request"

	"github.com/google/jsonschema-go/jsonschema"
	"github.com/klauspost/compress/gzhttp"
)

// handler returns the response to a request, nil if it has responded itself, or why there is none.
type handler = func(http.ResponseWriter, *http.Request) (any, error)

// endpoint is a path that is served, with what it needs, takes and returns. /api describes them all.
type endpoint struct {
	pattern string
	needs   access.Scope
	do      handler
	about   string
	query   string // the parameters, separated by blanks
	takes   any    // a value of the body's type, nil for none
	gives   any    // of the response's; nil for an object of no fixed type, a string for a media type
}

// endpoints is everything that is served, but for the page.
func (s *Server) endpoints() []endpoint {
	return []endpoint{
		{"POST /hook", access.Events, s.posted("Invalid JSON", s.hook),
			"Take an event: the unified envelope, an agent's own payload, or a question of the policy protocol 1.0.",
			"agent event", object{}, nil},
		{"POST /hook/{name}", access.Events, s.posted("Invalid JSON payload", s.trackedHook),
			"Take an event of a tracker.", "", object{}, answer{}},
		{"GET /hook/status", access.Events, s.hookStatus, "Whether events arrive.", "", nil, hookState{}},
		{"GET /api/sessions", access.Read, s.sessions,
			"The sessions, those that need you first.", "all", nil, render.List{}},
		{"GET /api/sessions/{id}", access.Read, s.ofSession(s.session),
			"One session, by its id or its seat's.", "", nil, render.Row{}},
		{"GET /api/sessions/{id}/turns", access.Read, s.ofSession(s.turns),
			"What was said in a session.", "limit", nil, turnsPage{}},
		{"GET /api/sessions/{id}/journal", access.Read, s.ofSession(s.journal),
			"What happened in a session.", "after limit last", nil, journalPage{}},
		{"POST /api/sessions/{id}/seen", access.Act, s.act(state.ActSeen), "Mark a session as seen.", "", nil, render.Row{}},
		{"POST /api/sessions/{id}/backburner", access.Act, s.act(state.ActBackburner),
			"Set a session aside, or take it back.", "", body{}, render.Row{}},
		{"POST /api/sessions/{id}/label", access.Act, s.act(state.ActLabel),
			"Put words on a session; none take them off.", "", body{}, render.Row{}},
		{"POST /api/undo", access.Act, s.undo,
			"Take back the newest mark: seen, set aside or removed.", "", nil, access.Status{}},
		{"POST /api/sessions/{id}/jump", access.Act, s.ofSession(s.jump),
			"Bring the session's terminal to the front.", "", nil, access.Status{}},
		{"POST /api/sessions/{id}/stop", access.Answer, s.ofAnswerer(s.stop),
			"Stop a session before its next call.", "", nil, access.Status{}},
		{"GET /api/offers", access.Read, s.requests, "What sessions ask, as it can be answered.", "", nil, requestList{}},
		{"GET /api/offers/{id}", access.Read, s.request, "One of those.", "", nil, oneRequest{}},
		{"POST /api/offers/{id}", access.Answer, s.ofAnswerer(s.react), "Answer it.", "", reaction{}, became{}},
		{"POST /api/away", access.Answer, s.ofAnswerer(s.goAway),
			"Hold subagents' requests for you while you are away.", "", body{}, access.Status{}},
		{"GET /api/push", access.Browse, s.getPush, "Whether this browser is told by Web Push.", "", nil, pushState{}},
		{"POST /api/push", access.Browse, s.setPush, "Tell this browser, or not.", "", access.Device{}, access.Status{}},
		{"GET /api/stats", access.Read, s.getStats, "Time at work, by day.", "days", nil, nil},
		{"GET /api/timeline", access.Read, s.getTimeline, "When each session did what, on a day.", "date", nil, nil},
		{"GET /api/digest", access.Read, s.getDigest, "What happened while you were away.", "", nil, nil},
		{"GET /api/config", access.Read, s.getConfig, "The configuration, without secrets.", "", nil, nil},
		{"GET /api", access.Read, s.describe, "This description.", "", nil, nil},
		{"POST /api/login", access.Open, s.guard.Login,
			"Exchange a code for a browser's session.", "", nil, access.SignedIn{}},
		{"POST /api/logout", access.Act, s.guard.Logout, "End the session that sends this.", "", nil, access.Status{}},
		{"GET /api/proof", access.Open, s.guard.Prove,
			"Prove that this server knows a session.", "session words", nil, access.Proof{}},
		{"GET /events", access.Read, s.events,
			"What happens, as server-sent events.", "", nil, "text/event-stream"},
		{"GET /metrics", access.Read, s.metrics, "Metrics for Prometheus.", "", nil, "text/plain"},
		{"GET /healthz", access.Open, s.healthz, "Whether this is a server of beckon.", "", nil, nil},
	}
}

// handler returns everything that is served, behind the guard.
func (s *Server) handler() http.Handler {
	mux, needs := http.NewServeMux(), map[string]access.Scope{"": access.Read}
	for _, e := range s.endpoints() {
		h := s.api(e.do)
		if strings.HasPrefix(e.pattern, "GET ") && e.pattern != "GET /events" {
			h = gzhttp.GzipHandler(h)
		}
		mux.Handle(e.pattern, h)
		needs[e.pattern] = e.needs
	}
	for _, p := range []string{"GET /{$}", "GET /session/", "GET /assets/"} {
		mux.Handle(p, gzhttp.GzipHandler(http.HandlerFunc(Page)))
		needs[p] = access.Open
	}
	return s.guard.Protect(func(r *http.Request) access.Scope {
		_, pattern := mux.Handler(r)
		return needs[pattern]
	}, mux)
}

// api returns a handler that responds, or with the error. The hook endpoints have a format of their own.
func (s *Server) api(h handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		v, err := h(w, r)
		f, is := errors.AsType[*access.Fault](err)
		switch {
		case err == nil && v == nil:
			return
		case err == nil:
			access.JSON(w, http.StatusOK, v)
			return
		case errors.Is(err, errLater):
			access.JSON(w, http.StatusAccepted, hookAnswer{Status: "ok", Message: err.Error()})
			return
		case !is: // it may name files
			s.o.Log(err)
			f = access.NewFault(http.StatusInternalServerError, "internal",
				"Internal processing error", "beckon doctor checks this machine")
		case f.Code == "bad_body":
			s.feed.meter.refused(f.Code)
		}
		if strings.HasPrefix(r.URL.Path, "/hook") {
			access.JSON(w, f.Status, hookAnswer{Status: "error", Message: f.Message})
			return
		}
		access.Error(w, f)
	})
}

// ofSession is for requests about a session in their path.
func (s *Server) ofSession(h func(*http.Request, state.Seen) (any, error)) handler {
	return func(_ http.ResponseWriter, r *http.Request) (any, error) {
		v, err := s.named(r)
		if err != nil {
			return nil, err
		}
		return h(r, v)
	}
}

// ofAnswerer is for clients that may answer, with where they answer from.
func (s *Server) ofAnswerer(h func(*http.Request, request.From) (any, error)) handler {
	return func(_ http.ResponseWriter, r *http.Request) (any, error) {
		from, err := s.guard.Answerer(r)
		if err != nil {
			return nil, err
		}
		return h(r, from)
	}
}

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
