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
	"sync"
	"time"

	"beckon/render/web/respond"
)

const (
	maxBody = 16 << 20
	// smallBody is what is read of a body in any case. The rest of larger ones takes a part of
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

// What may be wrong with a body. The hook endpoints report it in their own format.
var (
	errTooLarge = respond.NewFault(http.StatusRequestEntityTooLarge, "bad_body", "body is larger than 16 MiB", "")
	errNotJSON  = respond.NewFault(http.StatusBadRequest, "bad_body", "Content-Type must be application/json", "")
	errBusy     = respond.NewFault(http.StatusServiceUnavailable, "bad_body", "too many requests at once", "")
	errBody     = respond.NewFault(http.StatusRequestTimeout, "bad_body", "body could not be read", "")
)

// withBody calls do with the JSON body of a request.
func (s *Server) withBody(w http.ResponseWriter, r *http.Request, do func(body []byte) error) error {
	t, _, err := mime.ParseMediaType(r.Header.Get("Content-Type"))
	if err != nil || t != "application/json" && !strings.HasSuffix(t, "+json") {
		return errNotJSON
	}
	if r.ContentLength > maxBody {
		return errTooLarge
	}
	in := http.MaxBytesReader(w, r.Body, maxBody)
	var all bytes.Buffer
	all.Grow(smallBody + bytes.MinRead)
	if _, err = io.CopyN(&all, in, smallBody); err == nil {
		size := r.ContentLength
		if size < 0 {
			size = maxBody
		}
		ctx, cancel := context.WithTimeout(r.Context(), largeWait)
		defer cancel()
		if s.large.Acquire(ctx, size) != nil {
			return errBusy
		}
		release := sync.OnceFunc(func() { s.large.Release(size) })
		defer release()
		_ = http.NewResponseController(w).SetReadDeadline(time.Now().Add(largeTime))
		if _, err = all.ReadFrom(in); all.Len() <= maxQuestion {
			release() // it may have to wait for its answer
		}
	}
	if _, tooLarge := errors.AsType[*http.MaxBytesError](err); tooLarge {
		return errTooLarge
	}
	if err != nil && err != io.EOF {
		return errBody
	}
	return do(all.Bytes())
}

// read parses the body of a request of the API into v.
func (s *Server) read(w http.ResponseWriter, r *http.Request, v any, example string) error {
	if r.ContentLength > maxQuestion {
		return respond.NewFault(http.StatusRequestEntityTooLarge, "bad_body", "the body is too large", "")
	}
	return s.withBody(w, r, func(body []byte) error {
		d := json.NewDecoder(bytes.NewReader(body))
		d.DisallowUnknownFields()
		if err := d.Decode(v); err != nil || len(body) > maxQuestion {
			return respond.NewFault(http.StatusBadRequest, "bad_body", "the body is not what this path takes", example)
		}
		return nil
	})
}
