package web

import (
	"net"
	"net/http"
	"net/netip"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

// An invitation signs in once, from anywhere and soon, and opens nothing else.
func TestInvite(t *testing.T) {
	x := serve(t, Options{Token: aToken})
	elsewhere := []string{"X-Forwarded-For: 192.0.2.7", browserAgent}
	invite := x.s.Entrance().Invite
	if r := x.get("/api/sessions", append(elsewhere, withToken(invite))...); r.status != http.StatusUnauthorized {
		t.Errorf("an invitation opens more than the log-in: %d", r.status)
	}
	r := x.do("POST", loginPath, "", append(elsewhere, withToken(invite))...)
	if r.status != http.StatusOK {
		t.Fatalf("an invitation from elsewhere: %d %s", r.status, r.body)
	}
	if r := x.get("/api/sessions", append(elsewhere, withToken(r.field(t, "session")))...); r.status != http.StatusOK {
		t.Errorf("with the session for it: %d", r.status)
	}
	if r := x.do("POST", loginPath, "", append(elsewhere, withToken(invite))...); r.status != http.StatusUnauthorized {
		t.Errorf("an invitation twice: %d", r.status)
	}
	late := x.s.keys.invite(time.Now().Add(-2 * inviteFor))
	if r := x.do("POST", loginPath, "", append(elsewhere, withToken(late))...); r.status != http.StatusUnauthorized {
		t.Errorf("an old invitation: %d", r.status)
	}
	for range 3 * maxTickets {
		x.s.Entrance()
	}
	if n := len(x.s.keys.tickets); n > maxTickets {
		t.Errorf("%d tickets are kept", n)
	}
}

// Beyond loopback a server is known by this machine's names within the domains that nobody can
// register, and within no other; on loopback by none.
func TestOwnNames(t *testing.T) {
	own := ownNames()
	if own == nil {
		t.Skip("this machine has no name")
	}
	first, _, _ := strings.Cut(own[0], ".")
	l, err := Listen("0.0.0.0:0")
	if err != nil {
		t.Fatal(err)
	}
	beyond, loopback := serveOn(t, l, Options{Token: aToken}), serve(t, Options{Token: aToken})
	_, port, _ := strings.Cut(l.Addr().String(), "]:")
	beyond.url = "http://127.0.0.1:" + port
	for _, name := range []string{first + ".local", first + ".home.arpa", first + ".internal.", strings.ToUpper(first)} {
		if r := beyond.get("/healthz", "Host: "+name+":"+port); r.status != http.StatusOK {
			t.Errorf("%s: %d", name, r.status)
		}
		if r := loopback.get("/healthz", "Host: "+name); r.status != http.StatusMisdirectedRequest {
			t.Errorf("%s on loopback: %d", name, r.status)
		}
	}
	for _, name := range []string{first + ".lan", first + ".example.com", first + ".local.example.com", "x" + first + ".local", "other.local", "home.arpa", "internal", ".internal", first + "..local"} {
		if r := beyond.get("/healthz", "Host: "+name); r.status != http.StatusMisdirectedRequest {
			t.Errorf("%s: %d", name, r.status)
		}
	}
}

// A person who opens what they may not see gets a page that says what to do, with the status
// that a program gets; programs get JSON.
func TestRefusalPage(t *testing.T) {
	x := serve(t, Options{Token: aToken, Page: page()})
	opening := []string{browserAgent, "Sec-Fetch-Dest: document", "Sec-Fetch-Mode: navigate", "Sec-Fetch-Site: none", "Accept: text/html,application/xhtml+xml"}
	for _, c := range []struct {
		path, host string
		status     int
		says       []string
	}{
		{"/api/sessions", "", http.StatusUnauthorized, []string{"This browser is not signed in", "<pre>beckon serve url</pre>", "<pre>beckon serve url --qr</pre>"}},
		{"/events", "", http.StatusUnauthorized, []string{"beckon serve url"}},
		{"/nothing", "", http.StatusUnauthorized, []string{"beckon serve url"}},
		{"/", "attacker.example", http.StatusMisdirectedRequest, []string{"This server is not known by that name", "beckon serve --host NAME"}},
	} {
		headers := slices.Clone(opening)
		if c.host != "" {
			headers = append(headers, "Host: "+c.host)
		}
		r := x.get(c.path, headers...)
		if r.status != c.status || r.header.Get("Content-Type") != "text/html; charset=utf-8" || r.header.Get("Content-Security-Policy") != policyCSP {
			t.Errorf("%s: %d %v", c.path, r.status, r.header)
		}
		for _, words := range c.says {
			if !strings.Contains(r.body, words) {
				t.Errorf("%s does not say %q: %s", c.path, words, r.body)
			}
		}
		if c.host != "" && strings.Contains(r.body, c.host) {
			t.Errorf("%s says what it was asked by: %s", c.path, r.body)
		}
	}
	for _, headers := range [][]string{{browserAgent, "Sec-Fetch-Dest: empty", "Accept: */*"}, {browserAgent}, {"X-Forwarded-For: 192.0.2.7", "Accept: application/json"}} {
		if r := x.get("/api/sessions", headers...); r.status != http.StatusUnauthorized || r.header.Get("Content-Type") != "application/json" {
			t.Errorf("%v: %d %v", headers, r.status, r.header)
		}
	}
}

// A phone uses the given name, or this machine's address.
func TestElsewhere(t *testing.T) {
	for _, c := range []struct {
		scheme, addr string
		names        []string
		want         string // empty: there is no such address
	}{
		{"http", "127.0.0.1:7483", nil, ""},
		{"http", "localhost:7483", nil, ""},
		{"http", "[::1]:7483", nil, ""},
		{"http", "nonsense", nil, ""},
		{"http", "127.0.0.1:7483", []string{"box.tail.ts.net"}, "https://box.tail.ts.net/"},
		{"http", "0.0.0.0:7483", []string{"box.lan"}, "http://box.lan:7483/"},
		{"https", "[::]:7483", []string{"box.example:443"}, "https://box.example:7483/"},
		{"http", "192.0.2.7:7483", nil, "http://192.0.2.7:7483/"},
		{"http", "[2001:db8::7]:7483", nil, "http://[2001:db8::7]:7483/"},
		{"http", "box.lan:7483", nil, "http://box.lan:7483/"},
	} {
		got, err := Elsewhere(c.scheme, c.addr, c.names)
		if got != c.want || (err == nil) != (c.want != "") {
			t.Errorf("%s %v: %q, %v; want %q", c.addr, c.names, got, err, c.want)
		}
	}
	got, err := Elsewhere("http", "0.0.0.0:7483", nil)
	known := slices.ContainsFunc(ownAddrs(), func(a netip.Addr) bool { return got == "http://"+net.JoinHostPort(a.String(), "7483")+"/" })
	if err == nil && !known {
		t.Errorf("%s is none of this machine's %v", got, ownAddrs())
	}
}

// A server over TLS is known by its certificate's names, except wildcards.
func TestCertNames(t *testing.T) {
	dir := t.TempDir()
	cert, key := filepath.Join(dir, "cert.pem"), filepath.Join(dir, "key.pem")
	writeCertificate(t, cert, key, "box", "box.example.org", "*.example.org", "box.local")
	if got := CertNames(cert, key); !slices.Equal(got, []string{"box.example.org", "box.local", "localhost"}) {
		t.Errorf("%q", got)
	}
	if err := os.WriteFile(cert, []byte("nonsense"), 0o600); err != nil {
		t.Fatal(err)
	}
	if got := CertNames(cert, key); got != nil {
		t.Errorf("of what is none: %q", got)
	}
}
