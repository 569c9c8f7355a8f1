package web

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"net/http"
	"strconv"
	"strings"
)

// fault is an error in the API's format.
type fault struct {
	status  int
	Code    string `json:"code"`    // for programs, stable
	Message string `json:"message"` // for people
	Hint    string `json:"hint,omitempty"`
}

func (f *fault) Error() string { return f.Message }

type faultBody struct {
	Error *fault `json:"error"`
}

func writeError(w http.ResponseWriter, f *fault) { writeJSON(w, f.status, faultBody{f}) }

// writeHookError writes an error in the format of the hook endpoints.
func writeHookError(w http.ResponseWriter, status int, message string) {
	writeJSON(w, status, okAnswer{"error", message})
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
	_, _ = w.Write(b) // a client that has gone does not matter
}

// writeOK responds with v.
func writeOK(w http.ResponseWriter, v any) error {
	writeJSON(w, http.StatusOK, v)
	return nil
}

// writeTagged responds with an entity tag over changes, or with 304 if the client has that
// version. The tag is weak: it does not cover the time of the response and the time at work.
func writeTagged(w http.ResponseWriter, r *http.Request, changes []byte, v any) error {
	sum := sha256.Sum256(changes)
	tag := `"` + hex.EncodeToString(sum[:12]) + `"`
	w.Header().Set("ETag", "W/"+tag)
	w.Header().Set("Cache-Control", "no-cache")
	if hasTag(r.Header.Get("If-None-Match"), tag) {
		w.WriteHeader(http.StatusNotModified)
		return nil
	}
	return writeOK(w, v)
}

// writeWhole responds with v and a tag over all of it.
func writeWhole(w http.ResponseWriter, r *http.Request, v any) error {
	b, err := encode(v)
	if err != nil {
		return err
	}
	return writeTagged(w, r, b, json.RawMessage(b))
}

func hasTag(list, tag string) bool {
	for one := range strings.SplitSeq(list, ",") {
		if one = strings.TrimPrefix(strings.TrimSpace(one), "W/"); one == tag || one == "*" {
			return true
		}
	}
	return false
}
