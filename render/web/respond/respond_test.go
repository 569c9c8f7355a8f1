package respond

import (
	"net/http"
	"net/http/httptest"
	"testing"
)

// A response with a tag is not sent again to who has it, and is whole whatever else is asked.
func TestTagged(t *testing.T) {
	const tag = `W/"ca978112ca1bbdcafac231b3"`
	for _, c := range []struct {
		method, header, value string
		status                int
	}{
		{http.MethodGet, "", "", http.StatusOK}, {http.MethodGet, "If-None-Match", tag, http.StatusNotModified}, {http.MethodHead, "If-None-Match", `"x", ` + tag, http.StatusNotModified},
		{http.MethodGet, "If-None-Match", "*", http.StatusNotModified}, {http.MethodGet, "If-None-Match", `"x"`, http.StatusOK}, {http.MethodGet, "Range", "bytes=0-1", http.StatusOK},
		{http.MethodGet, "Range", "bytes=99-", http.StatusOK}, {http.MethodGet, "If-Match", `"x"`, http.StatusOK}, {http.MethodPost, "If-None-Match", "*", http.StatusOK},
	} {
		r := httptest.NewRequest(c.method, "/", nil)
		r.Header.Set(c.header, c.value)
		w := httptest.NewRecorder()
		if err := Tagged(w, r, []byte("a"), "b"); err != nil {
			t.Fatal(err)
		}
		body := ""
		if c.status == http.StatusOK {
			body = "\"b\"\n"
		}
		if w.Code != c.status || w.Body.String() != body || w.Header().Get("ETag") != tag || w.Header().Get("Cache-Control") != "no-cache" {
			t.Errorf("%s %s: %s: %d, %q, %v", c.method, c.header, c.value, w.Code, w.Body, w.Header())
		}
	}
}
