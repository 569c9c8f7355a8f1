package web

import (
	"context"
	"errors"
	"fmt"
	"net"
	"runtime"
	"strings"
	"testing"
	"time"

	"beckon/render/web/address"
)

// Closing a server leaves nothing behind, even with streams and slow requests.
func TestCloseLeavesNothing(t *testing.T) {
	l, err := address.Listen("127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	s := New(Options{Store: storeIn(t.TempDir()), Registry: t.TempDir()})
	served := make(chan error, 1)
	go func() { served <- s.Serve(l) }()
	x := &site{t: t, s: s, url: "http://" + l.Addr().String()}
	x.until("it is ready", func() bool { return s.ready.Load() })
	for range 20 {
		x.stream("/events").await("snapshot", nil)
	}
	idle, err := net.Dial("tcp", l.Addr().String()) // sends nothing
	if err != nil {
		t.Fatal(err)
	}
	defer idle.Close()
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	start := time.Now()
	if err := s.Close(ctx); err != nil {
		t.Errorf("closing: %v", err)
	}
	if took := time.Since(start); took > 8*time.Second {
		t.Errorf("closing took %v", took)
	}
	if err := <-served; err != nil {
		t.Errorf("serving: %v", err)
	}
	var left string
	x.until("all goroutines are gone\n"+left, func() bool {
		buf := make([]byte, 1<<20)
		left = string(buf[:runtime.Stack(buf, true)])
		n := 0
		for g := range strings.SplitSeq(left, "\n\n") {
			if strings.Contains(g, "render/web.(*Server)") || strings.Contains(g, "render/web.(*board)") || strings.Contains(g, "fsnotify") {
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
	x := serve(t, Options{})
	c, err := net.Dial("tcp", strings.TrimPrefix(x.url, "http://"))
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	fmt.Fprintf(c, "POST /hook HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: 1000000\r\n\r\n{%s", strings.Repeat(" ", smallBody))
	x.until("the request is under way", func() bool { return len(x.s.bodies[2].slots) == 1 })
	ctx, cancel := context.WithTimeout(context.Background(), 50*time.Millisecond)
	defer cancel()
	start := time.Now()
	if err := x.s.Close(ctx); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("closing: %v", err)
	}
	if took := time.Since(start); took > 5*time.Second {
		t.Errorf("closing took %v", took)
	}
}

// The names by which a server may be addressed, in any spelling.
func TestHosts(t *testing.T) {
	x := serve(t, Options{Hosts: []string{"Box.lan", "desk.lan:7483", "dot.lan."}})
	for host, want := range map[string]int{
		"localhost": 200, "LOCALHOST:7483": 200, "localhost.": 200, "localhost.:7483": 200, "beckon.localhost": 200, "127.0.0.1": 200, "127.9.9.9:1": 200,
		"[::1]": 200, "[::1]:7483": 200, "[::ffff:127.0.0.1]:7483": 200,
		"box.lan": 200, "BOX.LAN.:7483": 200, "desk.lan": 200, "desk.lan:80": 200, "dot.lan": 200, "dot.lan.": 200,
		"0.0.0.0": 421, "[::]:7483": 421, "127.1": 421, "2130706433": 421, "0x7f.0.0.1": 421, "localhost.attacker.example": 421, "localhost..": 421,
		"attacker.example": 421, "box.lan.attacker.example": 421, "xbox.lan": 421, "192.0.2.1:7483": 421,
	} {
		if r := x.get("/healthz", "Host: "+host); r.status != want {
			t.Errorf("%s: %d, want %d", host, r.status, want)
		}
	}
}

// Streams whose clients vanish leave nothing behind, whether they read or not.
func TestVanishedClients(t *testing.T) {
	x := serve(t, Options{Timing: Timing{Beat: 50 * time.Millisecond}})
	before := runtime.NumGoroutine()
	for range 30 {
		s := x.stream("/events")
		s.cancel()
		c, err := net.Dial("tcp", strings.TrimPrefix(x.url, "http://")) // sends more than its request, and disappears
		if err != nil {
			t.Fatal(err)
		}
		fmt.Fprint(c, "GET /events HTTP/1.1\r\nHost: localhost\r\n\r\nGET ")
		if _, err := c.Read(make([]byte, 1)); err != nil {
			t.Fatal(err)
		}
		_ = c.Close()
	}
	x.until("no stream is open", func() bool { return x.s.hub.count() == 0 })
	x.until("their goroutines are gone", func() bool { return runtime.NumGoroutine() <= before+5 })
}

// Every response says what a browser may do with it.
func TestHeaders(t *testing.T) {
	x := serve(t, Options{})
	for _, path := range []string{"/api/sessions", "/nothing", "/hook/status", "/metrics"} {
		h := x.get(path).header
		for name, want := range map[string]string{"X-Content-Type-Options": "nosniff", "Referrer-Policy": "no-referrer", "Content-Security-Policy": policyCSP} {
			if got := h.Get(name); got != want {
				t.Errorf("%s: %s is %q", path, name, got)
			}
		}
		if h.Get("Access-Control-Allow-Origin") != "" {
			t.Errorf("%s allows other origins", path)
		}
	}
	for _, d := range []string{"default-src 'none'", "script-src 'self'", "base-uri 'none'", "form-action 'none'", "frame-ancestors 'none'", "require-trusted-types-for 'script'"} {
		if !strings.Contains(policyCSP, d) {
			t.Errorf("the policy lacks %s", d)
		}
	}
	if strings.Contains(policyCSP, "unsafe") {
		t.Error("the policy allows unsafe sources")
	}
}
