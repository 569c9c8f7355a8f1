//go:build unix

package suite

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"time"
)

type fields = map[string]any

// content is a content block of an answer, with the deltas that stream it.
type content struct {
	start  fields
	whole  fields
	deltas []fields
}

func contents(r Reply) []content {
	var all []content
	if r.Text != "" {
		c := content{start: fields{"type": "text", "text": ""}, whole: fields{"type": "text", "text": r.Text}}
		for _, w := range strings.SplitAfter(r.Text, " ") {
			c.deltas = append(c.deltas, fields{"type": "text_delta", "text": w})
		}
		all = append(all, c)
	}
	for _, t := range r.Tools {
		id := "toolu_" + randomHex(10)
		all = append(all, content{
			start:  fields{"type": "tool_use", "id": id, "name": t.Name, "input": fields{}},
			whole:  fields{"type": "tool_use", "id": id, "name": t.Name, "input": json.RawMessage(t.Input)},
			deltas: []fields{{"type": "input_json_delta", "partial_json": t.Input}},
		})
	}
	return all
}

func stopReason(r Reply) string {
	if len(r.Tools) > 0 {
		return "tool_use"
	}
	return "end_turn"
}

func usage(r Reply) fields {
	return fields{"input_tokens": r.tokens(), "output_tokens": 50, "cache_creation_input_tokens": 0, "cache_read_input_tokens": 0}
}

// whole returns the answer to a request that does not stream.
func whole(model string, r Reply) fields {
	var blocks []fields
	for _, c := range contents(r) {
		blocks = append(blocks, c.whole)
	}
	return fields{
		"id": "msg_" + randomHex(12), "type": "message", "role": "assistant", "model": model,
		"content": blocks, "stop_reason": stopReason(r), "stop_sequence": nil, "usage": usage(r),
	}
}

// stream sends r as server-sent events, until done or the client hangs up.
func stream(w http.ResponseWriter, req *http.Request, model string, r Reply) {
	w.Header().Set("Content-Type", "text/event-stream")
	w.Header().Set("request-id", "req_"+randomHex(12))
	send := func(kind string, body fields) {
		body["type"] = kind
		b, _ := json.Marshal(body) // strings and numbers only
		fmt.Fprintf(w, "event: %s\ndata: %s\n\n", kind, b)
		_ = http.NewResponseController(w).Flush()
	}
	message := whole(model, Reply{Tokens: r.Tokens})
	message["content"], message["stop_reason"] = []fields{}, nil
	send("message_start", fields{"message": message})
	for i, c := range contents(r) {
		send("content_block_start", fields{"index": i, "content_block": c.start})
		for _, d := range c.deltas {
			select {
			case <-time.After(r.Pace):
			case <-req.Context().Done():
				return
			}
			send("content_block_delta", fields{"index": i, "delta": d})
		}
		send("content_block_stop", fields{"index": i})
	}
	send("message_delta", fields{"delta": fields{"stop_reason": stopReason(r), "stop_sequence": nil}, "usage": usage(r)})
	send("message_stop", fields{})
}
