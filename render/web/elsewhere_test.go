package web

import (
	"net/http"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"beckon/render/web/address"
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
	name, err := os.Hostname()
	if err != nil || address.Loopback(name) {
		t.Skip("this machine has no name")
	}
	first, _, _ := strings.Cut(name, ".")
	l, err := address.Listen("0.0.0.0:0")
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
