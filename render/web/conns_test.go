package web

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"beckon/render/web/webtest"
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

// conns returns how many connections the server has, streams included.
func (x *site) conns() (all, counted int) {
	k := x.s.conns
	k.mu.Lock()
	defer k.mu.Unlock()
	return len(k.all), k.waiting.Len() + k.serving.Len()
}

// Connections without a request, or with an incomplete one, are bounded, and block neither
// hooks nor event streams.
func TestConnectionsAreBounded(t *testing.T) {
	webtest.NeedsPeers(t)
	x := serve(t, Options{Token: webtest.Token})
	s := x.stream("/events")
	floods := []string{
		"",                                 // idle from the first
		"POST /hook HTTP/1.1\r\nHost: loc", // a header that does not end
		"GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n",                                                                              // kept alive
		"POST /hook HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: 100\r\n\r\n{",                      // a body that does not end
		"POST /hook HTTP/1.1\r\nHost: localhost\r\nUser-Agent: Mozilla/5.0\r\nContent-Type: text/plain\r\nContent-Length: 100\r\n\r\n{", // one that is refused
	}
	for i := range maxConns + maxConns/2 {
		x.dial(floods[i%len(floods)])
		if i%100 == 0 {
			x.hook(fmt.Sprintf(`{"hook_event_name":"Stop","session_id":"s%d"}`, i))
		}
	}
	x.Until("there are no more than may be", func() bool { all, _ := x.conns(); return all <= maxConns+1 })
	x.hook(`{"hook_event_name":"UserPromptSubmit","session_id":"a","cwd":"/tmp","prompt":"hello"}`)
	s.await("turn_created", func(m map[string]any) bool { return m["text"] == "hello" })
	if all, counted := x.conns(); counted > maxConns || all < maxConns/2 {
		t.Errorf("%d connections, %d of them counted", all, counted)
	}
}

// A connection that is being answered is not closed for a newer one while another is idle, and
// closed connections are forgotten.
func TestWhoIsClosed(t *testing.T) {
	x := serve(t, Options{Token: webtest.Token})
	asking := x.dial("GET /events HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer " + webtest.Token + "\r\n\r\n")
	first := x.dial("")
	in := bufio.NewReader(asking)
	if res, err := http.ReadResponse(in, nil); err != nil || res.StatusCode != http.StatusOK {
		t.Fatalf("%v %v", res, err)
	}
	x.Until("the stream is no longer counted", func() bool { all, counted := x.conns(); return all == 2 && counted == 1 })
	for range maxConns {
		x.dial("")
	}
	_ = first.SetReadDeadline(time.Now().Add(20 * time.Second))
	if _, err := first.Read(make([]byte, 1)); err != io.EOF && !strings.Contains(fmt.Sprint(err), "reset") {
		t.Errorf("the oldest idle connection: %v", err)
	}
	_ = asking.Close()
	x.Until("a stream that ended is forgotten", func() bool { all, _ := x.conns(); return all == maxConns })
}

// A stream ends at once when its session is signed out, and no other stream does.
func TestSignOutEndsStreams(t *testing.T) {
	x := serve(t, Options{Token: webtest.Token})
	first, second := x.SignIn(webtest.Token), x.SignIn(webtest.Token)
	gone := x.stream("/events", webtest.With(first))
	stays, token := x.stream("/events", webtest.With(second)), x.stream("/events", webtest.With(webtest.Token))
	for _, s := range []*stream{gone, stays, token} { // else it may have the session already
		s.await("snapshot", nil)
	}
	if r := x.Do("POST", "/api/logout", "", webtest.With(first)); r.Status != http.StatusOK {
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
		x.SignIn(webtest.Token)
	}
	select {
	case <-stays.ended:
	case <-time.After(20 * time.Second):
		t.Fatal("the stream of a session that made room goes on")
	}
}
