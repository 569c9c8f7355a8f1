package web

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"io"
	"mime"
	"net/http"
	"strconv"
	"strings"
	"sync"
)

// fault is an error as the API tells it.
type fault struct {
	status  int
	code    string // for programs, stable
	message string // for people
	hint    string
}

type faultBody struct {
	Error faultText `json:"error"`
}

type faultText struct {
	Code    string `json:"code"`
	Message string `json:"message"`
	Hint    string `json:"hint,omitempty"`
}

func (f *fault) Error() string { return f.message }

func writeError(w http.ResponseWriter, f *fault) {
	writeJSON(w, f.status, faultBody{faultText{f.code, f.message, f.hint}})
}

// hookFault is an error as the hook endpoints of the seeds tell it.
type hookFault struct {
	Status  string `json:"status"`
	Message string `json:"message"`
}

func writeHookError(w http.ResponseWriter, status int, message string) {
	writeJSON(w, status, hookFault{"error", message})
}

func encode(v any) ([]byte, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	err := e.Encode(v)
	return b.Bytes(), err
}

func writeJSON(w http.ResponseWriter, status int, v any) {
	b, err := encode(v)
	if err != nil {
		status, b = http.StatusInternalServerError, []byte(`{"error":{"code":"internal","message":"internal processing error"}}`+"\n")
	}
	writeBytes(w, status, "application/json", b)
}

func writeBytes(w http.ResponseWriter, status int, contentType string, b []byte) {
	h := w.Header()
	h.Set("Content-Type", contentType)
	h.Set("Content-Length", strconv.Itoa(len(b)))
	w.WriteHeader(status)
	_, _ = w.Write(b) // a client that went away is its own affair
}

// writeTagged answers with an entity tag over what changes, or with 304 when
// the client has it already. The tag is a weak one: the time of the answer and
// the time at work are not in it.
func writeTagged(w http.ResponseWriter, r *http.Request, changes []byte, v any) {
	sum := sha256.Sum256(changes)
	tag := `"` + hex.EncodeToString(sum[:12]) + `"`
	w.Header().Set("ETag", "W/"+tag)
	w.Header().Set("Cache-Control", "no-cache")
	if hasTag(r.Header.Get("If-None-Match"), tag) {
		w.WriteHeader(http.StatusNotModified)
		return
	}
	writeJSON(w, http.StatusOK, v)
}

func hasTag(list, tag string) bool {
	for one := range strings.SplitSeq(list, ",") {
		if one = strings.TrimPrefix(strings.TrimSpace(one), "W/"); one == tag || one == "*" {
			return true
		}
	}
	return false
}

// Bodies.
const (
	maxBody   = 16 << 20
	smallBody = 256 << 10
)

// Errors of bodies, told by each endpoint in its own form.
var (
	errTooLarge = errors.New("body is larger than 16 MiB")
	errNotJSON  = errors.New("Content-Type must be application/json")
	errBusy     = errors.New("too many requests at once")
	errBody     = errors.New("body could not be read")
)

// statusOf returns the status code of an error of a body.
func statusOf(err error) int {
	switch {
	case errors.Is(err, errTooLarge):
		return http.StatusRequestEntityTooLarge
	case errors.Is(err, errBusy):
		return http.StatusServiceUnavailable
	case errors.Is(err, errBody):
		return http.StatusRequestTimeout
	}
	return http.StatusBadRequest
}

// body reads a JSON request body. Of large ones only a few are in memory at a
// time. A body takes its place when it is read, a large one when its beginning
// is: a slow sender keeps nobody waiting. done must be called when the body is
// no longer used; it may be called again.
func (s *Server) body(w http.ResponseWriter, r *http.Request) (b []byte, done func(), err error) {
	done = func() {}
	if t, _, err := mime.ParseMediaType(r.Header.Get("Content-Type")); err != nil || t != "application/json" && !strings.HasSuffix(t, "+json") {
		return nil, done, errNotJSON
	}
	if r.ContentLength > maxBody {
		w.Header().Set("Connection", "close")
		return nil, done, errTooLarge
	}
	var read bytes.Buffer
	if 0 < r.ContentLength && r.ContentLength <= smallBody {
		read.Grow(int(r.ContentLength) + bytes.MinRead)
	}
	in := http.MaxBytesReader(w, r.Body, maxBody)
	n, err := read.ReadFrom(io.LimitReader(in, smallBody+1))
	if err != nil {
		return nil, done, bodyError(err)
	}
	slots := s.small
	if n > smallBody {
		slots = s.large
	}
	select {
	case slots <- struct{}{}:
	case <-r.Context().Done():
		return nil, done, errBusy
	}
	done = sync.OnceFunc(func() { <-slots })
	_, err = read.ReadFrom(in)
	return read.Bytes(), done, bodyError(err)
}

func bodyError(err error) error {
	var tooLarge *http.MaxBytesError
	switch {
	case errors.As(err, &tooLarge):
		return errTooLarge
	case err != nil:
		return errBody
	}
	return nil
}
