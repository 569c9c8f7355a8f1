package web

import (
	"context"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"beckon/render/web/address"
	"beckon/render/web/peer"
)

// prove asks the server, as by, for a proof of a key, and returns it.
func (x *site) prove(by peer.Peer, key, words string) (status int, proof string) {
	r := httptest.NewRequest("GET", "http://localhost"+proofPath+"?key="+seal(digest(key), "name")+"&words="+words, nil)
	r.Header.Set("Sec-Fetch-Site", "same-origin")
	w := httptest.NewRecorder()
	x.s.handler().ServeHTTP(w, r.WithContext(context.WithValue(r.Context(), peerKey{}, &otherEnd{peer: by})))
	var p proved
	_ = json.Unmarshal(w.Body.Bytes(), &p)
	return w.Code, p.Proof
}

// The server proves that it knows the key that opens it, and nothing else, and not to a caller
// that asks for another user's page.
func TestProof(t *testing.T) {
	x := serve(t, Options{Token: aToken})
	owner, other, remote := peer.Peer{Who: peer.Owner, Name: "1"}, peer.Peer{Who: peer.Another, Name: "2"}, peer.Peer{}
	e := x.s.Entrance()
	session := x.s.keys.begin(owner.Name, x.s.begun)
	words := strings.Repeat("0123456789abcdef", 2)
	for name, key := range map[string]string{"token": aToken, "pass": e.Pass, "ticket": e.Ticket, "session": session} {
		status, proof := x.prove(owner, key, words)
		if status != http.StatusOK || proof != seal(digest(key), "proof "+words) || strings.Contains(proof, key) {
			t.Errorf("the %s: %d %s", name, status, proof)
		}
		if _, another := x.prove(owner, key, words[1:]+"f"); another == proof {
			t.Errorf("the %s: one proof for all words", name)
		}
		if status, proof := x.prove(other, key, words); status != http.StatusForbidden || proof != "" {
			t.Errorf("the %s, asked by another user: %d %s", name, status, proof)
		}
		if status, _ := x.prove(remote, key, words); (status == http.StatusOK) != (name != "session") {
			t.Errorf("the %s, asked from elsewhere: %d", name, status)
		}
		if status, _ := x.prove(owner, key, ""); status != http.StatusUnauthorized {
			t.Errorf("the %s, for no words: %d", name, status)
		}
	}
	if status, proof := x.prove(owner, wrongToken, words); status != http.StatusUnauthorized || proof != "" {
		t.Errorf("a key that it does not know: %d %s", status, proof)
	}
	if status, _ := x.prove(owner, "", words); status != http.StatusUnauthorized {
		t.Errorf("no key: %d", status)
	}
}

// A pass signs a browser in, any number of times, and opens nothing else.
func TestPass(t *testing.T) {
	x, y := serve(t, Options{Token: aToken}), serve(t, Options{Token: aToken})
	pass := x.s.Entrance().Pass
	if r := x.get("/api/sessions", withToken(pass)); r.status != http.StatusUnauthorized {
		t.Errorf("a pass opens more than the log-in: %d", r.status)
	}
	for range 2 {
		if status := x.browse("/api/sessions", x.signIn(pass)); status != http.StatusOK {
			t.Errorf("with a session for a pass: %d", status)
		}
	}
	if r := y.do("POST", loginPath, "", withToken(pass)); r.status != http.StatusUnauthorized {
		t.Errorf("at another server with the same token: %d", r.status)
	}
	if r := x.do("POST", "/api/ticket", "", withToken(pass)); r.status != http.StatusUnauthorized {
		t.Errorf("a ticket for a pass: %d", r.status)
	}
}

// The server's own name appears only in addresses of this machine.
func TestEntranceAt(t *testing.T) {
	e := Entrance{Name: "b123.localhost"}
	if !resolvable(e.Name) {
		e.Name = "localhost"
	}
	for url, want := range map[string]string{
		"http://127.0.0.1:7483/": "http://" + e.Name + ":7483/", "http://localhost:1/": "http://" + e.Name + ":1/", "http://[::1]:1/": "http://" + e.Name + ":1/",
		"https://127.0.0.1:7483/": "https://127.0.0.1:7483/", "http://box.lan:7483/": "http://box.lan:7483/", "http://192.0.2.7:1/": "http://192.0.2.7:1/",
	} {
		if got := e.At(url); got != want {
			t.Errorf("%s: %s, want %s", url, got, want)
		}
	}
	if a, b := newName(), newName(); a == b || !address.Loopback(a) {
		t.Errorf("names %s and %s", a, b)
	}
}
