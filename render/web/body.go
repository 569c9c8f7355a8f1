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

// body reads a JSON request body. done must be called when it is no longer used; calling it
// again is harmless.
func (s *Server) body(w http.ResponseWriter, r *http.Request) (b []byte, done func(), wrong *respond.Fault) {
	done = func() {}
	t, _, err := mime.ParseMediaType(r.Header.Get("Content-Type"))
	if err != nil || t != "application/json" && !strings.HasSuffix(t, "+json") {
		return nil, done, errNotJSON
	}
	if r.ContentLength > maxBody {
		w.Header().Set("Connection", "close")
		return nil, done, errTooLarge
	}
	in := http.MaxBytesReader(w, r.Body, maxBody)
	var all bytes.Buffer
	all.Grow(smallBody + bytes.MinRead)
	if _, err := io.CopyN(&all, in, smallBody); err != nil {
		return all.Bytes(), done, wrongWith(err)
	}
	size := int64(maxBody)
	if r.ContentLength >= 0 {
		size = r.ContentLength
	}
	ctx, cancel := context.WithTimeout(r.Context(), largeWait)
	defer cancel()
	if s.large.Acquire(ctx, size) != nil {
		w.Header().Set("Connection", "close")
		return nil, done, errBusy
	}
	done = sync.OnceFunc(func() { s.large.Release(size) })
	_ = http.NewResponseController(w).SetReadDeadline(time.Now().Add(largeTime))
	_, err = all.ReadFrom(in)
	if err == nil {
		err = io.EOF
	}
	return all.Bytes(), done, wrongWith(err)
}

// wrongWith returns what is wrong with a body whose reading ended with err.
func wrongWith(err error) *respond.Fault {
	var tooLarge *http.MaxBytesError
	switch {
	case err == io.EOF:
		return nil
	case errors.As(err, &tooLarge):
		return errTooLarge
	}
	return errBody
}

// read parses the body of a request of the API into v.
func (s *Server) read(w http.ResponseWriter, r *http.Request, v any, example string) error {
	if r.ContentLength > maxQuestion {
		return respond.NewFault(http.StatusRequestEntityTooLarge, "bad_body", "the body is too large", "")
	}
	data, done, wrong := s.body(w, r)
	defer done()
	if wrong != nil {
		return wrong
	}
	d := json.NewDecoder(bytes.NewReader(data))
	d.DisallowUnknownFields()
	if err := d.Decode(v); err != nil || len(data) > maxQuestion {
		return respond.NewFault(http.StatusBadRequest, "bad_body", "the body is not what this path takes", example)
	}
	return nil
}
