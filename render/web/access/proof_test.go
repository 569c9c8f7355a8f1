package access

import (
	"context"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"beckon/render/web/peer"
	"beckon/render/web/webtest"
)

// prove asks the server, as by, for a proof of a key, and returns it.
func (x *site) prove(by peer.Peer, key, words string) (status int, proof string) {
	r := httptest.NewRequest("GET", "http://localhost"+webtest.Proof(key, words), nil)
	r.Header.Set("Sec-Fetch-Site", "same-origin")
	w := httptest.NewRecorder()
	x.h.ServeHTTP(w, r.WithContext(context.WithValue(r.Context(), peerKey{}, &otherEnd{peer: by})))
	var p proved
	_ = json.Unmarshal(w.Body.Bytes(), &p)
	return w.Code, p.Proof
}

// The server proves that it knows the key that opens it, and nothing else, and not to a caller
// that asks for another user's page.
func TestProof(t *testing.T) {
	x := serve(t, Options{Token: webtest.Token})
	owner, other, remote := peer.Peer{Who: peer.Owner, Name: "1"}, peer.Peer{Who: peer.Another, Name: "2"}, peer.Peer{}
	e := x.d.Entrance()
	session := x.d.keys.begin(owner.Name, time.Now())
	words := strings.Repeat("0123456789abcdef", 2)
	for name, key := range map[string]string{"token": webtest.Token, "pass": e.Pass, "ticket": e.Ticket, "session": session} {
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
	if status, proof := x.prove(owner, webtest.Wrong, words); status != http.StatusUnauthorized || proof != "" {
		t.Errorf("a key that it does not know: %d %s", status, proof)
	}
	if status, _ := x.prove(owner, "", words); status != http.StatusUnauthorized {
		t.Errorf("no key: %d", status)
	}
}
