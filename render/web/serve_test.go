package web

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"runtime"
	"strings"
	"testing"
	"time"

	"beckon/render/web/access"
)

// Closing a server leaves nothing behind, even with streams and slow requests.
func TestCloseLeavesNothing(t *testing.T) {
	l, err := access.Listen("127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	o := Options{Store: storeIn(t.TempDir()), Registry: t.TempDir(), Token: testToken}
	o.Log = func(err error) { t.Error(err) }
	s := New(o)
	ctx, cancel := context.WithCancel(t.Context())
	served := make(chan error, 1)
	go func() { served <- s.Serve(ctx, l) }()
	x := &site{client: client{T: t, Key: testToken, URL: "http://" + l.Addr().String()}, s: s}
	x.Until("it is ready", func() bool { return x.Get("/healthz").Status == http.StatusOK })
	for range 20 {
		x.stream("/events").await("snapshot", nil)
	}
	idle, err := net.Dial("tcp", l.Addr().String()) // sends nothing
	if err != nil {
		t.Fatal(err)
	}
	defer idle.Close()
	start := time.Now()
	cancel()
	if err := <-served; err != nil {
		t.Errorf("serving: %v", err)
	}
	if took := time.Since(start); took > 8*time.Second {
		t.Errorf("closing took %v", took)
	}
	var left string
	x.Until("all goroutines are gone\n"+left, func() bool {
		buf := make([]byte, 1<<20)
		left = string(buf[:runtime.Stack(buf, true)])
		n := 0
		for g := range strings.SplitSeq(left, "\n\n") {
			if strings.Contains(g, "render/web.(*Server)") || strings.Contains(g, "render/web.(*feed") || strings.Contains(g, "fsnotify") {
				n++
			}
		}
		return n == 0
	})
	if _, err := net.Dial("tcp", l.Addr().String()); err == nil {
		t.Error("the port is still open")
	}
}

// A request that never ends does not keep the server up beyond the deadline.
func TestCloseHasADeadline(t *testing.T) {
	t.Parallel()
	asked, never := make(chan bool), make(chan bool)
	defer close(never)
	x := serve(t, Options{Policy: judge{answer: func(context.Context, Question) []byte {
		asked <- true
		<-never
		return nil
	}}})
	c, err := net.Dial("tcp", strings.TrimPrefix(x.URL, "http://"))
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	body := `{"session_id":"s","hook_event_name":"Notification","message":"x"}`
	fmt.Fprintf(c, "%sContent-Length: %d\r\n\r\n%s", hookHead, len(body), body)
	<-asked
	start := time.Now()
	if err := x.stop(); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("closing: %v", err)
	}
	if took := time.Since(start); took > stopTime+3*time.Second {
		t.Errorf("closing took %v", took)
	}
}

// Streams whose clients vanish leave nothing behind, whether they read or not.
func TestVanishedClients(t *testing.T) {
	x := serve(t, Options{Timing: Timing{Beat: 50 * time.Millisecond}})
	before := runtime.NumGoroutine()
	for range 30 {
		s := x.stream("/events")
		s.cancel()
		c, err := net.Dial("tcp", strings.TrimPrefix(x.URL, "http://")) // sends more than its request, and disappears
		if err != nil {
			t.Fatal(err)
		}
		fmt.Fprintf(c, "GET /events HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer %s\r\n\r\nGET ", testToken)
		if _, err := c.Read(make([]byte, 1)); err != nil {
			t.Fatal(err)
		}
		_ = c.Close()
	}
	x.Until("no stream is open", func() bool { return x.s.feed.clients() == 0 })
	x.Until("their goroutines are gone", func() bool { return runtime.NumGoroutine() <= before+5 })
}
