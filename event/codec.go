package event

import (
	"errors"

	"beckon/event/jsonenc"

	"github.com/tidwall/gjson"
)

var errNotAnEvent = errors.New("decoding event: not a JSON object")

// AppendJSON appends e as one JSON object, the body of a journal line. Zero
// fields are left out; bytes that are not UTF-8 are written as U+FFFD.
func AppendJSON(dst []byte, e *Event) []byte { return jsonenc.Append(dst, e) }

// DecodeJSON reads what AppendJSON wrote. Members it does not know and members
// of another type are skipped, so that an older binary reads a newer journal.
// It does not validate: v must come from valid JSON. The strings of the result
// share memory with v.
func DecodeJSON(v gjson.Result) (Event, error) {
	var e Event
	if !jsonenc.Decode(v, &e) {
		return Event{}, errNotAnEvent
	}
	return e, nil
}
