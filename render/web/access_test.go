package web

import (
	"net/http"
	"os"
	"strings"
	"testing"

	"beckon/render/web/access"
)

// paths has one path of each kind that shows something.
var paths = []string{"/api/sessions", "/events", "/metrics", "/api/config", "/api", "/nothing"}

// An owner's program posts events without a token; the owner's browser does not, nor does
// whatever came through a proxy. Nothing is shown without one.
func TestOwnersPrograms(t *testing.T) {
	needsPeers(t)
	x := serve(t, Options{Config: func() (any, error) { return nil, nil }})
	x.Key = ""
	x.post("/hook", `{"event":"Stop","hookInput":{"session_id":"good"}}`)
	for _, path := range []string{"/hook/status"} {
		// Node and Deno send how they fetch, as browsers do, but not for which site.
		for _, program := range []string{"User-Agent: curl", "User-Agent: node"} {
			if r := x.Get(path, program, "Sec-Fetch-Mode: cors"); r.Status != http.StatusOK || strings.Contains(r.Body, "good") {
				t.Errorf("%s by a program of the owner's: %d %s", path, r.Status, r.Body)
			}
		}
	}
	for _, path := range paths {
		if r := x.Get(path); r.Status != http.StatusUnauthorized || r.Header.Get("WWW-Authenticate") == "" {
			t.Errorf("%s without a token: %d %s", path, r.Status, r.Body)
		}
	}
	for _, header := range []string{
		"Sec-Fetch-Site: same-origin", "Sec-Fetch-Site: none", "Sec-Fetch-Dest: empty", "Origin: " + x.URL, "Referer: " + x.URL + "/", browserAgent,
		"X-Forwarded-For: 192.0.2.7", "Forwarded: for=192.0.2.7", "X-Forwarded-Host: box.example.ts.net", "X-Real-IP: 192.0.2.7", "Via: 1.1 caddy",
	} {
		for _, path := range append(paths, "/hook/status") {
			if r := x.Get(path, header); r.Status != http.StatusUnauthorized || r.Header.Get("WWW-Authenticate") == "" {
				t.Errorf("%s with %s: %d %s", path, header, r.Status, r.Body)
			}
		}
		if r := x.Do("POST", "/hook", `{"event":"Stop","hookInput":{"session_id":"bad"}}`, header); r.Status != http.StatusUnauthorized {
			t.Errorf("a hook with %s: %d", header, r.Status)
		}
		if r := x.Get("/api/sessions", header, withKey(testToken)); r.Status != http.StatusOK {
			t.Errorf("with %s and the token: %d", header, r.Status)
		}
	}
	for _, path := range []string{"/", "/session/x", "/assets/main.mjs", "/healthz"} { // the page says how to sign in
		if r := x.Get(path, browserAgent, "Sec-Fetch-Site: none"); r.Status != http.StatusOK {
			t.Errorf("%s in a browser: %d", path, r.Status)
		}
	}
	if keys, _, _ := x.st.Live(); len(keys) != 1 {
		t.Errorf("sessions were made: %v", keys)
	}
}

// Beyond loopback a server is addressed by the machine's own names and any address, and
// everybody needs the token.
func TestBeyondLoopback(t *testing.T) {
	l, err := access.Listen("0.0.0.0:0")
	if err != nil {
		t.Fatal(err)
	}
	x := serveOn(t, l, Options{})
	x.Key = ""
	_, port, _ := strings.Cut(l.Addr().String(), "]:")
	name, err := os.Hostname()
	if err != nil {
		t.Fatal(err)
	}
	urls := []string{access.Local("0.0.0.0:" + port), "http://" + name + ":" + port + "/", "http://192.0.2.7:" + port + "/"}
	if url, err := access.Elsewhere("0.0.0.0:"+port, nil); err == nil {
		urls = append(urls, url)
	}
	x.URL = strings.TrimSuffix(urls[0], "/")
	for _, url := range urls {
		host := strings.TrimSuffix(strings.TrimPrefix(url, "http://"), "/")
		if r := x.Get("/api/sessions", "Host: "+host, withKey(testToken)); r.Status != http.StatusOK {
			t.Errorf("%s: %d %s", url, r.Status, r.Body)
		}
		if url == urls[0] {
			continue
		}
		if r := x.Get("/api/sessions", "Host: "+host); r.Status != http.StatusUnauthorized {
			t.Errorf("%s without the token: %d %s", url, r.Status, r.Body)
		}
	}
	if r := x.Get("/api/sessions", "Host: attacker.example", withKey(testToken)); r.Status != http.StatusMisdirectedRequest {
		t.Errorf("another name: %d", r.Status)
	}
}
