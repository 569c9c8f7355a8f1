package access

import (
	"context"
	"crypto/tls"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"beckon/render/web/address"
	"beckon/render/web/peer"
	"beckon/render/web/webtest"
)

// A wrong token opens nothing, even for a program that would need none.
func TestToken(t *testing.T) {
	x := serve(t, Options{Token: webtest.Token})
	for i, auth := range []string{"Bearer " + webtest.Wrong, "Bearer x", "Bearer " + webtest.Token[1:], "Bearer " + webtest.Token + "0", "Bearer " + strings.ToUpper(webtest.Token)} {
		if r := x.Get("/api/sessions", "Authorization: "+auth); r.Status != http.StatusUnauthorized {
			t.Errorf("%d %s: %d", i, auth, r.Status)
		}
	}
	for _, path := range []string{"/api/sessions?token=" + webtest.Token, "/?token=" + webtest.Token, "/api/sessions#token=" + webtest.Token} {
		if r := x.Get(path, webtest.Browser); r.Status == http.StatusOK {
			t.Errorf("the token in the address %s: %d", path, r.Status)
		}
	}
	if r := x.Get("/api/sessions", webtest.Browser, "Cookie: token="+webtest.Token); r.Status != http.StatusUnauthorized {
		t.Errorf("the token is not a cookie: %d", r.Status)
	}
}

// A session works only for the user who signed in: a page of http://localhost also sends it to
// another user's program that listens at [::1].
func TestSessionIsItsUsers(t *testing.T) {
	x := serve(t, Options{Token: webtest.Token})
	ask := func(by peer.Peer, method, path, key string) *httptest.ResponseRecorder {
		r := httptest.NewRequest(method, "http://localhost"+path, nil)
		r.Header.Set("Authorization", "Bearer "+key)
		w := httptest.NewRecorder()
		x.h.ServeHTTP(w, r.WithContext(context.WithValue(r.Context(), peerKey{}, &otherEnd{peer: by})))
		return w
	}
	owner, other, proxy, remote := peer.Peer{Who: peer.Owner, Name: "1"}, peer.Peer{Who: peer.Another, Name: "2"}, peer.Peer{Name: "0"}, peer.Peer{}
	for _, user := range []peer.Peer{owner, other, proxy, remote} {
		var in signedIn
		if err := json.Unmarshal(ask(user, "POST", loginPath, webtest.Token).Body.Bytes(), &in); err != nil {
			t.Fatal(err)
		}
		for _, by := range []peer.Peer{owner, other, proxy, remote} {
			if by != user {
				ask(by, "POST", "/api/logout", in.Session)
			}
			if status := ask(by, "GET", "/api/sessions", in.Session).Code; (status == http.StatusOK) != (by == user) {
				t.Errorf("%v with the session of %v: %d", by, user, status)
			}
		}
	}
}

// Over TLS, too, an owner's program needs no token.
func TestOwnersProgramsOverTLS(t *testing.T) {
	webtest.NeedsPeers(t)
	l, err := address.Listen("127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	pair := httptest.NewTLSServer(nil)
	defer pair.Close()
	x := serveOn(t, tls.NewListener(l, &tls.Config{Certificates: pair.TLS.Certificates}), Options{Token: webtest.Token})
	res, err := pair.Client().Get("https" + strings.TrimPrefix(x.URL, "http") + "/api/sessions")
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	if res.StatusCode != http.StatusOK {
		t.Error(res.Status)
	}
}
