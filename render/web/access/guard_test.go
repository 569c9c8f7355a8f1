package access

import (
	"net/http"
	"os"
	"strings"
	"testing"
)

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
		if r := x.Get("/healthz", "Host: "+host); r.Status != want {
			t.Errorf("%s: %d, want %d", host, r.Status, want)
		}
	}
}

// Every response says what a browser may do with it.
func TestHeaders(t *testing.T) {
	x := serve(t, Options{})
	for _, path := range []string{"/api/sessions", "/nothing", "/hook/status", "/metrics"} {
		h := x.Get(path).Header
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

// Beyond loopback a server is known by this machine's names within the domains that nobody can
// register, and within no other; on loopback by none.
func TestOwnNames(t *testing.T) {
	name, err := os.Hostname()
	if err != nil || Loopback(name) {
		t.Skip("this machine has no name")
	}
	first, _, _ := strings.Cut(name, ".")
	l, err := Listen("0.0.0.0:0")
	if err != nil {
		t.Fatal(err)
	}
	beyond, loopback := serveOn(t, l, Options{Token: testToken}), serve(t, Options{Token: testToken})
	_, port, _ := strings.Cut(l.Addr().String(), "]:")
	beyond.URL = "http://127.0.0.1:" + port
	for _, name := range []string{first + ".local", first + ".home.arpa", first + ".internal.", strings.ToUpper(first)} {
		if r := beyond.Get("/healthz", "Host: "+name+":"+port); r.Status != http.StatusOK {
			t.Errorf("%s: %d", name, r.Status)
		}
		if r := loopback.Get("/healthz", "Host: "+name); r.Status != http.StatusMisdirectedRequest {
			t.Errorf("%s on loopback: %d", name, r.Status)
		}
	}
	for _, name := range []string{first + ".lan", first + ".example.com", first + ".local.example.com", "x" + first + ".local", "other.local", "home.arpa", "internal", ".internal", first + "..local"} {
		if r := beyond.Get("/healthz", "Host: "+name); r.Status != http.StatusMisdirectedRequest {
			t.Errorf("%s: %d", name, r.Status)
		}
	}
}
