package web

import (
	"bytes"
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
	// smallBody is what is read of a posted event in any case. The rest of larger ones takes a part of
	// maxLarge, so that the memory for bodies is bounded.
	smallBody = 16 << 10
	maxLarge  = maxBody
	// largeWait is how long a large body waits for its part, and largeTime how long its sender
	// may then take. Over loopback the largest takes a few milliseconds.
	largeWait = 2 * time.Second
	largeTime = 5 * time.Second
	// maxQuestion is the largest body of a request of the API.
	maxQuestion = 256 << 10
)

// What may be wrong with a body.
var (
	errTooLarge = access.NewFault(http.StatusRequestEntityTooLarge, "bad_body", "body is larger than 16 MiB", "")
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
	invalid string, h func(w http.ResponseWriter, r *http.Request, body []byte, v gjson.Result) error,
) handler {
	return func(w http.ResponseWriter, r *http.Request) error {
		size := r.ContentLength
		switch {
		case !isJSON(r):
			return errNotJSON
		case size > maxBody:
			return errTooLarge
		case size < 0:
			size = maxBody
		}
		in := http.MaxBytesReader(w, r.Body, maxBody)
		var body bytes.Buffer
		body.Grow(smallBody + bytes.MinRead)
		_, err := io.CopyN(&body, in, smallBody)
		if err == nil {
			ctx, cancel := context.WithTimeout(r.Context(), largeWait)
			defer cancel()
			if s.large.Acquire(ctx, size) != nil {
				return errBusy
			}
			defer s.large.Release(size)
			_ = http.NewResponseController(w).SetReadDeadline(time.Now().Add(largeTime))
			_, err = body.ReadFrom(in)
		}
		if _, tooLarge := errors.AsType[*http.MaxBytesError](err); tooLarge {
			return errTooLarge
		}
		if err != nil && err != io.EOF {
			return errBody
		}
		short, err := event.Check(body.Bytes())
		v := gjson.ParseBytes(short)
		if err != nil || !v.IsObject() {
			return access.NewFault(http.StatusBadRequest, "bad_body", invalid, "")
		}
		return h(w, r, body.Bytes(), v)
	}
}

// read parses the body of a request of the API into v.
func read(w http.ResponseWriter, r *http.Request, v any, example string) error {
	if !isJSON(r) {
		return errNotJSON
	}
	d := json.NewDecoder(http.MaxBytesReader(w, r.Body, maxQuestion))
	d.DisallowUnknownFields()
	err := d.Decode(v)
	if _, tooLarge := errors.AsType[*http.MaxBytesError](err); tooLarge {
		return access.NewFault(http.StatusRequestEntityTooLarge, "bad_body", "the body is too large", "")
	}
	if err != nil {
		return access.NewFault(http.StatusBadRequest, "bad_body", "the body is not what this path takes", example)
	}
	return nil
}
