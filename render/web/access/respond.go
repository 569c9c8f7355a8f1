package access

import (
	"encoding/json"
	"net/http"
)

// Fault is an error in the API's format.
type Fault struct {
	Status  int    `json:"-"`
	Code    string `json:"code"`    // for programs, stable
	Message string `json:"message"` // for people
	Hint    string `json:"hint,omitempty"`

	Answered any `json:"-"` // of Body
}

// NewFault returns a fault; hint may be empty.
func NewFault(status int, code, message, hint string) *Fault {
	return &Fault{Status: status, Code: code, Message: message, Hint: hint}
}

func (f *Fault) Error() string { return f.Message }

// Body is what a fault is sent in.
type Body struct {
	Error    *Fault `json:"error"`
	Answered any    `json:"answered,omitempty"` // whose answer to a request counted
}

// Error responds with a fault.
func Error(w http.ResponseWriter, f *Fault) { JSON(w, f.Status, Body{f, f.Answered}) }

// JSON responds with v, and says how to get another answer.
func JSON(w http.ResponseWriter, status int, v any) {
	b, err := json.Marshal(v)
	if err != nil {
		status = http.StatusInternalServerError
		b = []byte(`{"error":{"code":"internal","message":"Internal processing error"}}`)
	}
	switch status {
	case http.StatusUnauthorized:
		w.Header().Set("WWW-Authenticate", `Bearer realm="beckon"`)
	case http.StatusTooManyRequests, http.StatusServiceUnavailable:
		w.Header().Set("Retry-After", "1")
	}
	Bytes(w, status, "application/json", append(b, '\n'))
}

// Bytes responds with b.
func Bytes(w http.ResponseWriter, status int, contentType string, b []byte) {
	w.Header().Set("Content-Type", contentType)
	w.WriteHeader(status)
	_, _ = w.Write(b) // a client that has gone does not matter
}

// Status is the response that what was asked for is done.
type Status struct {
	Status string `json:"status"`
}

// Done is that response.
var Done = Status{"ok"}
