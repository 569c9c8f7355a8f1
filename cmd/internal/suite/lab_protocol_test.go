//go:build unix

package suite

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"time"
)

// protocol is a model API as agents use it: it translates requests to the form of the Messages
// API, and replies from it.
type protocol struct {
	read  func(r *http.Request, body []byte) (modelRequest, error)
	error func(status int, message string) fields
	whole func(model string, r Reply) fields
	// chunks returns the server-sent events of a reply, one for each piece.
	chunks func(model string, r Reply) []chunk
}

// chunk is one server-sent event.
type chunk struct {
	name string // of the event; empty: none
	data fields // nil: the end mark of chat completions
	text bool   // waits for the reply's pace
}

// serve answers a request in that protocol's form.
func (s *Server) serve(wr protocol) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		req, err := wr.read(r, body)
		if err != nil {
			answer(w, http.StatusBadRequest, wr.error(http.StatusBadRequest, "unreadable request"))
			return
		}
		p := req.place(s.scripts)
		reply := s.reply(p, req)
		s.note(Request{At: time.Now(), Method: r.Method, Path: r.URL.Path, Word: p.word, Step: p.step, Body: body})
		select {
		case <-time.After(reply.Delay):
		case <-r.Context().Done():
			return
		}
		switch {
		case reply.Status != 0:
			answer(w, reply.Status, wr.error(reply.Status, "scripted "+reply.Error))
		case req.Stream:
			send(w, r, wr.chunks(req.Model, reply), reply.Pace)
		default:
			answer(w, http.StatusOK, wr.whole(req.Model, reply))
		}
	}
}

// send streams the chunks until done or the client hangs up.
func send(w http.ResponseWriter, req *http.Request, chunks []chunk, pace time.Duration) {
	w.Header().Set("Content-Type", "text/event-stream")
	for _, c := range chunks {
		if c.text {
			select {
			case <-time.After(pace):
			case <-req.Context().Done():
				return
			}
		}
		if c.name != "" {
			fmt.Fprintf(w, "event: %s\n", c.name)
		}
		data := []byte("[DONE]")
		if c.data != nil {
			data, _ = json.Marshal(c.data) // strings and numbers only
		}
		fmt.Fprintf(w, "data: %s\n\n", data)
		_ = http.NewResponseController(w).Flush()
	}
}

func words(text string) []string { return strings.SplitAfter(text, " ") }

// Responses, which codex uses.

var openAIResponses = protocol{
	read: func(_ *http.Request, body []byte) (modelRequest, error) {
		var in struct {
			Model  string          `json:"model"`
			Stream bool            `json:"stream"`
			Input  json.RawMessage `json:"input"`
			Tools  []offered       `json:"tools"`
		}
		if err := json.Unmarshal(body, &in); err != nil {
			return modelRequest{}, err
		}
		r := modelRequest{Model: in.Model, Stream: in.Stream, Tools: in.Tools, raw: body}
		var text string
		if json.Unmarshal(in.Input, &text) == nil {
			r.Messages = []message{{Role: "user", Content: []block{{Type: "text", Text: text}}}}
			return r, nil
		}
		var raw []json.RawMessage
		if err := json.Unmarshal(in.Input, &raw); err != nil {
			return r, err
		}
		answering := false // the previous items belong to the same answer
		for _, b := range raw {
			var item struct {
				Type string `json:"type"`
				Role string `json:"role"`
			}
			if err := json.Unmarshal(b, &item); err != nil {
				return r, err
			}
			switch {
			case item.Type == "reasoning":
			case item.Role == "assistant", strings.HasSuffix(item.Type, "_call"):
				if !answering {
					r.Messages = append(r.Messages, message{Role: "assistant"})
				}
				answering = true
			case item.Role != "":
				var m message
				if err := json.Unmarshal(b, &m); err != nil {
					return r, err
				}
				r.Messages, answering = append(r.Messages, m), false
			default: // a tool's output
				answering = false
			}
		}
		return r, nil
	},
	error: openAIError,
	whole: func(model string, r Reply) fields { return response(model, r, outputs(r)) },
	chunks: func(model string, r Reply) []chunk {
		all := []chunk{{name: "response.created", data: fields{"type": "response.created", "response": response(model, r, nil)}}}
		items := outputs(r)
		for i, item := range items {
			all = append(all, chunk{name: "response.output_item.added", data: fields{"type": "response.output_item.added", "output_index": i, "item": item}})
			if item["type"] == "message" {
				for _, w := range words(r.Text) {
					all = append(all, chunk{name: "response.output_text.delta", text: true, data: fields{
						"type": "response.output_text.delta", "item_id": item["id"], "output_index": i, "content_index": 0, "delta": w,
					}})
				}
			}
			all = append(all, chunk{name: "response.output_item.done", data: fields{"type": "response.output_item.done", "output_index": i, "item": item}})
		}
		return append(all, chunk{name: "response.completed", data: fields{"type": "response.completed", "response": response(model, r, items)}})
	},
}

func response(model string, r Reply, items []fields) fields {
	status := "completed"
	if items == nil {
		status, items = "in_progress", []fields{}
	}
	return fields{
		"id": "resp_" + randomHex(12), "object": "response", "created_at": time.Now().Unix(), "model": model, "status": status, "output": items,
		"usage": fields{
			"input_tokens": r.tokens(), "input_tokens_details": fields{"cached_tokens": 0},
			"output_tokens": 50, "output_tokens_details": fields{"reasoning_tokens": 0}, "total_tokens": r.tokens() + 50,
		},
	}
}

func outputs(r Reply) []fields {
	items := []fields{}
	if r.Text != "" {
		items = append(items, fields{"type": "message", "id": "msg_" + randomHex(12), "role": "assistant", "status": "completed", "content": []fields{{"type": "output_text", "text": r.Text, "annotations": []fields{}}}})
	}
	for _, t := range r.Tools {
		item := fields{"type": "function_call", "id": "fc_" + randomHex(12), "call_id": "call_" + randomHex(8), "name": t.Name, "arguments": t.Input, "status": "completed"}
		if space, name, ok := strings.Cut(t.Name, "."); ok {
			item["namespace"], item["name"] = space, name
		}
		items = append(items, item)
	}
	return items
}

func openAIError(status int, message string) fields {
	kind := map[int]string{400: "invalid_request_error", 401: "authentication_error", 429: "rate_limit_error"}[status]
	return fields{"error": fields{"message": message, "type": kind, "param": nil, "code": nil}}
}

// Chat completions, which opencode, copilot and qwen use.

var chatCompletions = protocol{
	read: func(_ *http.Request, body []byte) (modelRequest, error) {
		var in struct {
			Model    string    `json:"model"`
			Stream   bool      `json:"stream"`
			Messages []message `json:"messages"`
			Tools    []struct {
				Function offered `json:"function"`
			} `json:"tools"`
		}
		if err := json.Unmarshal(body, &in); err != nil {
			return modelRequest{}, err
		}
		r := modelRequest{Model: in.Model, Stream: in.Stream, Messages: in.Messages, raw: body}
		for _, t := range in.Tools {
			r.Tools = append(r.Tools, t.Function)
		}
		return r, nil
	},
	error: openAIError,
	whole: func(model string, r Reply) fields {
		m := fields{"role": "assistant", "content": r.Text}
		if calls := toolCalls(r); len(calls) > 0 {
			m["tool_calls"] = calls
		}
		f := completion(model, "chat.completion", fields{"index": 0, "message": m, "finish_reason": finish(r)})
		f["usage"] = chatUsage(r)
		return f
	},
	chunks: func(model string, r Reply) []chunk {
		const object = "chat.completion.chunk"
		delta := func(d fields, reason any) fields {
			return completion(model, object, fields{"index": 0, "delta": d, "finish_reason": reason})
		}
		all := []chunk{{data: delta(fields{"role": "assistant", "content": ""}, nil)}}
		if r.Text != "" {
			for _, w := range words(r.Text) {
				all = append(all, chunk{text: true, data: delta(fields{"content": w}, nil)})
			}
		}
		for _, c := range toolCalls(r) {
			all = append(all, chunk{data: delta(fields{"tool_calls": []fields{c}}, nil)})
		}
		all = append(all, chunk{data: delta(fields{}, finish(r))})
		last := completion(model, object, nil)
		last["choices"], last["usage"] = []fields{}, chatUsage(r)
		return append(all, chunk{data: last}, chunk{})
	},
}

func completion(model, object string, choice fields) fields {
	return fields{"id": "chatcmpl-" + randomHex(12), "object": object, "created": time.Now().Unix(), "model": model, "choices": []fields{choice}}
}

func chatUsage(r Reply) fields {
	return fields{"prompt_tokens": r.tokens(), "completion_tokens": 50, "total_tokens": r.tokens() + 50}
}

func toolCalls(r Reply) []fields {
	var all []fields
	for i, t := range r.Tools {
		all = append(all, fields{"index": i, "id": "call_" + randomHex(8), "type": "function", "function": fields{"name": t.Name, "arguments": t.Input}})
	}
	return all
}

func finish(r Reply) string {
	if len(r.Tools) > 0 {
		return "tool_calls"
	}
	return "stop"
}

// The Gemini API.

var geminiAPI = protocol{
	read: func(hr *http.Request, body []byte) (modelRequest, error) {
		var in struct {
			Contents []struct {
				Role  string `json:"role"`
				Parts []struct {
					Text string `json:"text"`
				} `json:"parts"`
			} `json:"contents"`
			Tools []struct {
				Functions []offered `json:"functionDeclarations"`
			} `json:"tools"`
		}
		if err := json.Unmarshal(body, &in); err != nil {
			return modelRequest{}, err
		}
		model, method, _ := strings.Cut(hr.PathValue("call"), ":")
		r := modelRequest{Model: model, Stream: method == "streamGenerateContent", raw: body}
		for _, c := range in.Contents {
			m := message{Role: strings.Replace(c.Role, "model", "assistant", 1)}
			for _, p := range c.Parts {
				m.Content = append(m.Content, block{Type: "text", Text: p.Text})
			}
			r.Messages = append(r.Messages, m)
		}
		for _, t := range in.Tools {
			r.Tools = append(r.Tools, t.Functions...)
		}
		return r, nil
	},
	error: func(status int, message string) fields {
		kind := map[int]string{400: "INVALID_ARGUMENT", 401: "UNAUTHENTICATED", 429: "RESOURCE_EXHAUSTED", 500: "INTERNAL"}[status]
		return fields{"error": fields{"code": status, "message": message, "status": kind}}
	},
	whole: func(model string, r Reply) fields { return generated(model, r, geminiParts(r), "STOP") },
	chunks: func(model string, r Reply) []chunk {
		var all []chunk
		for _, p := range geminiParts(r) {
			if _, ok := p["text"]; !ok {
				all = append(all, chunk{data: generated(model, r, []fields{p}, "")})
				continue
			}
			for _, w := range words(r.Text) {
				all = append(all, chunk{text: true, data: generated(model, r, []fields{{"text": w}}, "")})
			}
		}
		return append(all, chunk{data: generated(model, r, []fields{{"text": ""}}, "STOP")})
	},
}

func geminiParts(r Reply) []fields {
	var all []fields
	if r.Text != "" {
		all = append(all, fields{"text": r.Text})
	}
	for _, t := range r.Tools {
		all = append(all, fields{"functionCall": fields{"name": t.Name, "args": json.RawMessage(t.Input)}})
	}
	return all
}

func generated(model string, r Reply, parts []fields, finish string) fields {
	c := fields{"index": 0, "content": fields{"role": "model", "parts": parts}}
	if finish != "" {
		c["finishReason"] = finish
	}
	return fields{"candidates": []fields{c}, "modelVersion": model, "usageMetadata": fields{
		"promptTokenCount": r.tokens(), "candidatesTokenCount": 50, "totalTokenCount": r.tokens() + 50,
	}}
}
