package web

import (
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"
)

// dial opens a connection and sends the text, but waits for nothing.
func (x *site) dial(sent string) net.Conn {
	x.T.Helper()
	c, err := net.Dial("tcp", strings.TrimPrefix(x.URL, "http://"))
	if err != nil {
		x.T.Fatal(err)
	}
	x.T.Cleanup(func() { _ = c.Close() })
	if _, err := io.WriteString(c, sent); err != nil {
		x.T.Fatal(err)
	}
	return c
}

// Connections without a request, or with an incomplete one, block neither hooks nor event
// streams.
func TestIdleConnections(t *testing.T) {
	x := serve(t, Options{})
	s := x.stream("/events")
	auth := "Authorization: Bearer " + testToken + "\r\n"
	floods := []string{
		"",                                 // idle from the first
		"POST /hook HTTP/1.1\r\nHost: loc", // a header that does not end
		"GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n",  // kept alive
		hookHead + auth + "Content-Length: 100\r\n\r\n{",    // a body that does not end
		hookHead + auth + "Content-Length: 100000\r\n\r\n{", // a large one
	}
	for i := range 1500 {
		x.dial(floods[i%len(floods)])
		if i%300 == 0 {
			x.hook(fmt.Sprintf(`{"hook_event_name":"Stop","session_id":"s%d"}`, i))
		}
	}
	x.hook(`{"hook_event_name":"UserPromptSubmit","session_id":"a","cwd":"/tmp","prompt":"hello"}`)
	s.await("turn_created", func(m map[string]any) bool { return m["text"] == "hello" })
	if r := x.post("/hook", `{"event":"Stop","hookInput":{"session_id":"a"}}`); r.Status != http.StatusOK {
		t.Errorf("a hook over HTTP: %d", r.Status)
	}
}

// A stream ends at once when its session is signed out, and no other stream does.
func TestSignOutEndsStreams(t *testing.T) {
	x := serve(t, Options{})
	first, second := x.SignIn(x.loginCode()), x.SignIn(x.loginCode())
	gone := x.stream("/events", withKey(first))
	stays, token := x.stream("/events", withKey(second)), x.stream("/events", withKey(testToken))
	for _, s := range []*stream{gone, stays, token} { // else it may have the session already
		s.await("snapshot", nil)
	}
	if r := x.Do("POST", "/api/logout", "", withKey(first)); r.Status != http.StatusOK {
		t.Fatalf("signing out: %d", r.Status)
	}
	select {
	case <-gone.ended:
	case <-time.After(20 * time.Second):
		t.Fatal("the stream of a session that is signed out goes on")
	}
	x.fold(prompt("a", "one"))
	for _, s := range []*stream{stays, token} {
		s.await("session_created", sessionIs("a"))
	}
	for range 64 { // as many as may be signed in; the second has been idle for longest
		x.SignIn(x.loginCode())
	}
	select {
	case <-stays.ended:
	case <-time.After(20 * time.Second):
		t.Fatal("the stream of a session that made room goes on")
	}
}
