package web

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"mime"
	"net/http"
	"strings"
	"time"

	"beckon/event"
	"beckon/render/web/access"

	"github.com/tidwall/gjson"
)

const (
	maxBody = 16 << 20
	// smallBody is the largest body of an event that is read at any time. Larger ones wait for a part of
	// maxBody, so that the memory for them is bounded, for largeWait; their senders then have largeTime.
	// Over loopback the largest takes a few milliseconds.
	smallBody = 16 << 10
	largeWait = 2 * time.Second
	largeTime = 5 * time.Second
	// maxQuestion is the largest body of a request of the API.
	maxQuestion = 256 << 10
)

// What may be wrong with a body.
var (
	errTooLarge = access.NewFault(http.StatusRequestEntityTooLarge, "bad_body", "body is too large", "")
	errNotJSON  = access.NewFault(http.StatusBadRequest, "bad_body", "Content-Type must be application/json", "")
	errBusy     = access.NewFault(http.StatusServiceUnavailable, "bad_body", "too many requests at once", "")
	errBody     = access.NewFault(http.StatusRequestTimeout, "bad_body", "body could not be read", "")
)

func isJSON(r *http.Request) bool {
	t, _, err := mime.ParseMediaType(r.Header.Get("Content-Type"))
	return err == nil && (t == "application/json" || strings.HasSuffix(t, "+json"))
}

// posted returns a handler of JSON objects that are posted to the hook endpoints. invalid is what it
// says of other bodies.
func (s *Server) posted(
	invalid string, h func(w http.ResponseWriter, r *http.Request, body []byte, v gjson.Result) (any, error),
) handler {
	return func(w http.ResponseWriter, r *http.Request) (any, error) {
		size := r.ContentLength
		switch {
		case !isJSON(r):
			return nil, errNotJSON
		case size > maxBody:
			return nil, errTooLarge
		case size < 0:
			size = maxBody
		}
		if size > smallBody {
			ctx, cancel := context.WithTimeout(r.Context(), largeWait)
			defer cancel()
			if s.large.Acquire(ctx, size) != nil {
				return nil, errBusy
			}
			defer s.large.Release(size)
			_ = http.NewResponseController(w).SetReadDeadline(time.Now().Add(largeTime))
		}
		body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxBody))
		if _, tooLarge := errors.AsType[*http.MaxBytesError](err); tooLarge {
			return nil, errTooLarge
		}
		if err != nil {
			return nil, errBody
		}
		short, err := event.Check(body)
		v := gjson.ParseBytes(short)
		if err != nil || !v.IsObject() {
			return nil, access.NewFault(http.StatusBadRequest, "bad_body", invalid, "")
		}
		return h(w, r, body, v)
	}
}

// read parses the body of a request of the API into v.
func read(r *http.Request, v any, example string) error {
	if !isJSON(r) {
		return errNotJSON
	}
	d := json.NewDecoder(http.MaxBytesReader(nil, r.Body, maxQuestion))
	d.DisallowUnknownFields()
	err := d.Decode(v)
	if _, tooLarge := errors.AsType[*http.MaxBytesError](err); tooLarge {
		return errTooLarge
	}
	if err != nil {
		return access.NewFault(http.StatusBadRequest, "bad_body", "the body is not what this path takes", example)
	}
	return nil
}
