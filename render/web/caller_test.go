package web

import (
	"context"
	"crypto/tls"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"beckon/render/web/address"
	"beckon/render/web/peer"
)

const (
	aToken       = "6f1ed002ab5595859014ebf0951522d9"
	wrongToken   = "00000000000000000000000000000000"
	browserAgent = "User-Agent: Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/142.0.0.0 Safari/537.36"
)

func withToken(key string) string { return "Authorization: Bearer " + key }

func page() http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, "page") })
}

// paths has one path of each kind that is served.
var paths = []string{"/api/sessions", "/events", "/metrics", "/hook/status", "/readyz", "/api/config", "/nothing"}

// An owner's program needs no token; the owner's browser does, and so does whatever came
// through a proxy.
func TestOwnersPrograms(t *testing.T) {
	needsPeers(t)
	x := serve(t, Options{Token: aToken, Page: page()})
	if r := x.get("/api/sessions"); r.status != http.StatusOK {
		t.Errorf("a program of the owner's: %d %s", r.status, r.body)
	}
	// Node and Deno send how they fetch, as browsers do, but not for which site.
	if r := x.get("/api/sessions", "Sec-Fetch-Mode: cors", "User-Agent: node"); r.status != http.StatusOK {
		t.Errorf("a program in JavaScript: %d %s", r.status, r.body)
	}
	x.post("/hook", `{"event":"Stop","hookInput":{"session_id":"good"}}`)
	for _, header := range []string{
		"Sec-Fetch-Site: same-origin", "Sec-Fetch-Site: none", "Sec-Fetch-Dest: empty", "Origin: " + x.url, "Referer: " + x.url + "/", browserAgent,
		"X-Forwarded-For: 192.0.2.7", "Forwarded: for=192.0.2.7", "X-Forwarded-Host: box.example.ts.net", "X-Real-IP: 192.0.2.7", "Via: 1.1 caddy",
	} {
		for _, path := range paths {
			if r := x.get(path, header); r.status != http.StatusUnauthorized || r.header.Get("WWW-Authenticate") == "" {
				t.Errorf("%s with %s: %d %s", path, header, r.status, r.body)
			}
		}
		if r := x.do("POST", "/hook", `{"event":"Stop","hookInput":{"session_id":"bad"}}`, header); r.status != http.StatusUnauthorized {
			t.Errorf("a hook with %s: %d", header, r.status)
		}
		if r := x.get("/api/sessions", header, withToken(aToken)); r.status != http.StatusOK {
			t.Errorf("with %s and the token: %d", header, r.status)
		}
	}
	for _, path := range []string{"/", "/session/x", "/assets/main.mjs", "/healthz"} { // the page says how to sign in
		if r := x.get(path, browserAgent, "Sec-Fetch-Site: none"); r.status != http.StatusOK {
			t.Errorf("%s in a browser: %d", path, r.status)
		}
	}
	if keys, _ := x.st.Keys(); len(keys) != 1 {
		t.Errorf("sessions were made: %v", keys)
	}
}

// A wrong token opens nothing, even for a program that would need none.
func TestToken(t *testing.T) {
	x := serve(t, Options{Token: aToken})
	for i, auth := range []string{"Bearer " + wrongToken, "Bearer x", "Bearer " + aToken[1:], "Bearer " + aToken + "0", "Bearer " + strings.ToUpper(aToken)} {
		if r := x.get("/api/sessions", "Authorization: "+auth); r.status != http.StatusUnauthorized {
			t.Errorf("%d %s: %d", i, auth, r.status)
		}
	}
	for _, path := range []string{"/api/sessions?token=" + aToken, "/?token=" + aToken, "/api/sessions#token=" + aToken} {
		if r := x.get(path, browserAgent); r.status == http.StatusOK {
			t.Errorf("the token in the address %s: %d", path, r.status)
		}
	}
	if r := x.get("/api/sessions", browserAgent, "Cookie: token="+aToken); r.status != http.StatusUnauthorized {
		t.Errorf("the token is not a cookie: %d", r.status)
	}
}

// signIn returns what a browser sends with the session that it got for key.
func (x *site) signIn(key string) (session string) {
	x.t.Helper()
	r := x.do("POST", loginPath, "", withToken(key), browserAgent, "Sec-Fetch-Site: same-origin", "Origin: "+x.url)
	if r.status != http.StatusOK || r.header.Get("Set-Cookie") != "" {
		x.t.Fatalf("signing in: %d %v %s", r.status, r.header, r.body)
	}
	return r.field(x.t, "session")
}

func (x *site) browse(path, session string) int {
	x.t.Helper()
	return x.get(path, withToken(session), browserAgent, "Sec-Fetch-Site: same-origin").status
}

// A browser gets a session for the token, which is not the token, opens only this server, and
// ends when it signs out.
func TestBrowserSession(t *testing.T) {
	sites := []*site{serve(t, Options{Token: aToken, Page: page()}), serve(t, Options{Token: aToken})}
	x := sites[0]
	first, second := x.signIn(aToken), x.signIn(aToken)
	if first == second || first == aToken || bitsOf(first) < keyBits {
		t.Errorf("sessions %s and %s", first, second)
	}
	for _, session := range []string{first, second} {
		if status := x.browse("/api/sessions", session); status != http.StatusOK {
			t.Errorf("with the session: %d", status)
		}
		if status := sites[1].browse("/api/sessions", session); status != http.StatusUnauthorized {
			t.Errorf("at another server with the same token: %d", status)
		}
	}
	if r := x.do("POST", loginPath, "", withToken(first)); r.status != http.StatusUnauthorized {
		t.Errorf("a session for a session: %d", r.status)
	}
	if r := x.do("POST", "/api/ticket", "", withToken(first)); r.status != http.StatusUnauthorized {
		t.Errorf("a ticket for a session: %d", r.status)
	}
	if r := x.do("POST", "/api/logout", "", withToken(first)); r.status != http.StatusOK {
		t.Errorf("signing out: %d", r.status)
	}
	if status := x.browse("/api/sessions", first); status != http.StatusUnauthorized {
		t.Errorf("after signing out: %d", status)
	}
	if status := x.browse("/api/sessions", second); status != http.StatusOK {
		t.Errorf("the other session: %d", status)
	}
	for range maxSessions {
		x.signIn(aToken)
	}
	if status := x.browse("/api/sessions", second); status != http.StatusUnauthorized || len(x.s.keys.sessions) != maxSessions {
		t.Errorf("the session that was quiet for longest: %d, %d are kept", status, len(x.s.keys.sessions))
	}
	if r := x.do("POST", loginPath, "", withToken(aToken), "Origin: http://127.0.0.1:1"); r.status != http.StatusForbidden {
		t.Errorf("signing in from another port: %d", r.status)
	}
}

// A session works only for the user who signed in: a page of http://localhost also sends it to
// another user's program that listens at [::1].
func TestSessionIsItsUsers(t *testing.T) {
	x := serve(t, Options{Token: aToken})
	ask := func(by peer.Peer, method, path, key string) *httptest.ResponseRecorder {
		r := httptest.NewRequest(method, "http://localhost"+path, nil)
		r.Header.Set("Authorization", "Bearer "+key)
		w := httptest.NewRecorder()
		x.s.handler().ServeHTTP(w, r.WithContext(context.WithValue(r.Context(), peerKey{}, &otherEnd{peer: by})))
		return w
	}
	owner, other, proxy, remote := peer.Peer{Who: peer.Owner, Name: "1"}, peer.Peer{Who: peer.Another, Name: "2"}, peer.Peer{Name: "0"}, peer.Peer{}
	for _, user := range []peer.Peer{owner, other, proxy, remote} {
		var in signedIn
		if err := json.Unmarshal(ask(user, "POST", loginPath, aToken).Body.Bytes(), &in); err != nil {
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

// A ticket, which a browser's command line shows, signs in once, soon, and only this user.
func TestTicket(t *testing.T) {
	needsPeers(t)
	x := serve(t, Options{Token: aToken})
	ticket := x.do("POST", "/api/ticket", "").field(t, "ticket")
	if r := x.get("/api/sessions", withToken(ticket)); r.status != http.StatusUnauthorized {
		t.Errorf("a ticket opens more than the log-in: %d", r.status)
	}
	if r := x.do("POST", loginPath, "", withToken(ticket), "X-Forwarded-For: 192.0.2.7"); r.status != http.StatusUnauthorized {
		t.Errorf("a ticket from elsewhere: %d", r.status)
	}
	if status := x.browse("/api/sessions", x.signIn(ticket)); status != http.StatusOK {
		t.Errorf("with a session for a ticket: %d", status)
	}
	if r := x.do("POST", loginPath, "", withToken(ticket)); r.status != http.StatusUnauthorized {
		t.Errorf("a ticket twice: %d", r.status)
	}
	late := x.s.keys.ticket(time.Now().Add(-2 * ticketFor))
	if r := x.do("POST", loginPath, "", withToken(late)); r.status != http.StatusUnauthorized {
		t.Errorf("a ticket of yesterday: %d", r.status)
	}
	if r := x.do("POST", loginPath, ""); r.status != http.StatusUnauthorized {
		t.Errorf("a session for nothing: %d", r.status)
	}
}

// Ten wrong keys a second are answered; after that even the right one is refused. A signed-in
// user stays signed in: others may come from the same address.
func TestGuesses(t *testing.T) {
	x := serve(t, Options{Token: aToken})
	session := x.signIn(aToken)
	wrong, limited := 0, reply{}
	for end := time.Now().Add(time.Minute); limited.status == 0 && time.Now().Before(end); {
		if r := x.get("/api/sessions", withToken(wrongToken)); r.status == http.StatusTooManyRequests {
			limited = x.get("/api/sessions", withToken(aToken))
			if status := x.browse("/api/sessions", session); status != http.StatusOK {
				t.Errorf("with a session: %d", status)
			}
		} else {
			wrong++
		}
	}
	if limited.status == http.StatusOK { // a new second began between the two
		return
	}
	if limited.status != http.StatusTooManyRequests || limited.header.Get("Retry-After") == "" || wrong < maxWrong {
		t.Errorf("after %d wrong ones: %d", wrong, limited.status)
	}
	x.until("the token is taken again", func() bool { return x.get("/api/sessions", withToken(aToken)).status == http.StatusOK })

	k, now := newKeys(aToken), time.Unix(1_700_000_000, 0)
	for i := range 3 * maxPlaces {
		k.guessed(fmt.Sprint(i), now)
	}
	if len(k.wrong) > maxPlaces {
		t.Errorf("%d places are kept", len(k.wrong))
	}
}

// A guessable token is refused.
func TestCheckToken(t *testing.T) {
	for token, good := range map[string]bool{
		"": false, "x": false, "secret": false, "correct horse battery staple and so on": false, aToken: true, aToken[1:]: false,
		strings.ToUpper(aToken): true, "0123456789abcdef012345": false, // base64 of 128 bits, but hexadecimal of 88
		"q+8/Zw==": false, "q83vASNFZ4mrze8BI0VniQ==": true, "q83vASNFZ4mrze8BI0VniQ": true, "-_3vASNFZ4mrze8BI0VniQ": true, "q83vASNFZ4mrze8BI0Vn": false,
	} {
		if err := CheckToken(token); (err == nil) != good {
			t.Errorf("%q: %v", token, err)
		}
	}
}

// The token is created once, for this user only; one that others may know is not used.
func TestTokenFile(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "state")
	made := make(chan string, 8)
	for range cap(made) {
		go func() {
			token, err := Token(dir)
			if err != nil {
				token = err.Error()
			}
			made <- token
		}()
	}
	first := <-made
	if err := CheckToken(first); err != nil {
		t.Fatalf("%q: %v", first, err)
	}
	for range cap(made) - 1 {
		if token := <-made; token != first {
			t.Errorf("tokens %s and %s", first, token)
		}
	}
	if entries, err := os.ReadDir(dir); err != nil || len(entries) != 1 {
		t.Errorf("left %v, %v", entries, err)
	}
	if runtime.GOOS == "windows" {
		return
	}
	path := filepath.Join(dir, "token")
	if info, err := os.Stat(path); err != nil || info.Mode() != 0o600 {
		t.Errorf("%v, %v", info.Mode(), err)
	}
	if err := os.Chmod(path, 0o640); err != nil {
		t.Fatal(err)
	}
	if token, err := Token(dir); err == nil {
		t.Errorf("a token that others can read is taken: %s", token)
	}
	_ = os.Rename(path, path+".other")
	_ = os.Chmod(path+".other", 0o600)
	if err := os.Symlink(path+".other", path); err != nil {
		t.Fatal(err)
	}
	if token, err := Token(dir); err == nil {
		t.Errorf("a link is followed: %s", token)
	}
}

// Beyond loopback a server is addressed by the machine's own names and any address, and
// everybody needs the token.
func TestBeyondLoopback(t *testing.T) {
	l, err := address.Listen("0.0.0.0:0")
	if err != nil {
		t.Fatal(err)
	}
	x := serveOn(t, l, Options{Token: aToken})
	_, port, _ := strings.Cut(l.Addr().String(), "]:")
	urls := address.URLs("http", "0.0.0.0:"+port)
	if len(urls) < 2 || urls[0] != "http://127.0.0.1:"+port+"/" {
		t.Fatalf("addresses %v", urls)
	}
	x.url = strings.TrimSuffix(urls[0], "/")
	for _, url := range urls {
		host := strings.TrimSuffix(strings.TrimPrefix(url, "http://"), "/")
		if r := x.get("/api/sessions", "Host: "+host, withToken(aToken)); r.status != http.StatusOK {
			t.Errorf("%s: %d %s", url, r.status, r.body)
		}
		if url == urls[0] {
			continue
		}
		if r := x.get("/api/sessions", "Host: "+host); r.status != http.StatusUnauthorized {
			t.Errorf("%s without the token: %d %s", url, r.status, r.body)
		}
	}
	if r := x.get("/api/sessions", "Host: attacker.example", withToken(aToken)); r.status != http.StatusMisdirectedRequest {
		t.Errorf("another name: %d", r.status)
	}
}

// Over TLS, too, an owner's program needs no token.
func TestOwnersProgramsOverTLS(t *testing.T) {
	needsPeers(t)
	l, err := address.Listen("127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	pair := httptest.NewTLSServer(nil)
	defer pair.Close()
	x := serveOn(t, tls.NewListener(l, &tls.Config{Certificates: pair.TLS.Certificates}), Options{Token: aToken})
	res, err := pair.Client().Get("https" + strings.TrimPrefix(x.url, "http") + "/api/sessions")
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	if res.StatusCode != http.StatusOK {
		t.Error(res.Status)
	}
}
