package access

import (
	"encoding/hex"
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// A browser gets a session for a code, which opens only this server, and ends when it signs
// out.
func TestBrowserSession(t *testing.T) {
	sites := []*site{serve(t, Options{Token: testToken}), serve(t, Options{Token: testToken})}
	x := sites[0]
	first, second := x.SignIn(x.code()), x.SignIn(x.code())
	_, secret, _ := strings.Cut(first, ".")
	if first == second || len(secret)*5 < keyBits {
		t.Errorf("sessions %s and %s", first, second)
	}
	for _, session := range []string{first, second} {
		if status := x.Browse("/api/sessions", session); status != http.StatusOK {
			t.Errorf("with the session: %d", status)
		}
		if status := sites[1].Browse("/api/sessions", session); status != http.StatusUnauthorized {
			t.Errorf("at another server with the same token: %d", status)
		}
	}
	for _, broken := range []string{first[:len(first)-1], first + "a", strings.Replace(first, ".", "", 1), secret, "." + secret, strings.ToUpper(first)} {
		if status := x.Browse("/api/sessions", broken); status != http.StatusUnauthorized {
			t.Errorf("with %s: %d", broken, status)
		}
	}
	time.Sleep(time.Second) // ten wrong keys are looked at each second
	for _, key := range []string{first, testToken, ScopedToken(testToken, "read"), wrongToken, ""} {
		if r := x.Do("POST", "/api/login", "", withKey(key)); r.Status != http.StatusUnauthorized {
			t.Errorf("a session for %q: %d", key, r.Status)
		}
	}
	if r := x.Do("POST", "/api/logout", "", withKey(first)); r.Status != http.StatusOK {
		t.Errorf("signing out: %d", r.Status)
	}
	if status := x.Browse("/api/sessions", first); status != http.StatusUnauthorized {
		t.Errorf("after signing out: %d", status)
	}
	if status := x.Browse("/api/sessions", second); status != http.StatusOK {
		t.Errorf("the other session: %d", status)
	}
	for range maxSessions {
		x.SignIn(x.code())
	}
	if status := x.Browse("/api/sessions", second); status != http.StatusUnauthorized || len(x.d.sessions) != maxSessions {
		t.Errorf("the session that was quiet for longest: %d, %d are kept", status, len(x.d.sessions))
	}
	if r := x.Do("POST", "/api/login", "", withKey(x.code()), "Origin: http://127.0.0.1:1"); r.Status != http.StatusForbidden {
		t.Errorf("signing in from another port: %d", r.Status)
	}
}

// A code signs in once, within ten minutes, at its server, and opens nothing else. One for this
// machine, which a browser's command line shows, signs in only this user's browsers.
func TestCode(t *testing.T) {
	x, y := serve(t, Options{Token: testToken}), serve(t, Options{Token: testToken})
	now := time.Now()
	here, anywhere := Code(testToken, x.d.name, true, now), Code(testToken, x.d.name, false, now)
	proxied := []string{"X-Forwarded-For: 192.0.2.7", browserAgent}
	for _, code := range []string{here, anywhere} {
		if r := x.Get("/api/sessions", withKey(code)); r.Status != http.StatusUnauthorized {
			t.Errorf("a code opens more than the log-in: %d", r.Status)
		}
		if r := y.Do("POST", "/api/login", "", withKey(code)); r.Status != http.StatusUnauthorized {
			t.Errorf("at another server with the same token: %d", r.Status)
		}
	}
	if r := x.Do("POST", "/api/login", "", append(proxied, withKey(here))...); r.Status != http.StatusUnauthorized {
		t.Errorf("a code for this machine, from elsewhere: %d", r.Status)
	}
	if r := x.Do("POST", "/api/login", "", append(proxied, withKey(anywhere))...); r.Status != http.StatusOK {
		t.Errorf("a code for a phone, from elsewhere: %d", r.Status)
	}
	if status := x.Browse("/api/sessions", x.SignIn(here)); status != http.StatusOK {
		t.Errorf("with a session for a code: %d", status)
	}
	time.Sleep(time.Second)
	for name, code := range map[string]string{
		"twice": here, "of yesterday": Code(testToken, x.d.name, true, now.Add(-2*codeFor)), "of another token": Code(wrongToken, x.d.name, true, now),
		"made longer": "h" + "zzzzzzz" + x.code()[8:], "made to work anywhere": "a" + x.code()[1:], "cut": x.code()[:20], "nothing": "",
	} {
		if r := x.Do("POST", "/api/login", "", withKey(code)); r.Status != http.StatusUnauthorized {
			t.Errorf("a code %s: %d", name, r.Status)
		}
	}
	g := New(Options{Token: "t"})
	for i := range 1000 {
		at := now.Add(time.Duration(i) * time.Second)
		if !g.take(Code("t", g.name, true, at), true, at) {
			t.Fatal("a code of now is refused")
		}
	}
	if most := int(codeFor.Seconds()) + 1; len(g.used) > most {
		t.Errorf("%d used codes are kept", len(g.used))
	}
}

// Another user of the machine cannot use a code of the owner's browser.
func TestCodeOfAnother(t *testing.T) {
	x := serve(t, Options{Token: testToken})
	for _, by := range []Peer{"64321"} {
		r := httptest.NewRequest("POST", "http://localhost/api/login", nil)
		r.Header.Set("Authorization", "Bearer "+x.code())
		w := httptest.NewRecorder()
		x.h.ServeHTTP(w, from(by, r))
		if w.Code != http.StatusForbidden {
			t.Errorf("%v: %d", by, w.Code)
		}
	}
}

// Ten wrong keys a second are looked at. The right ones are taken in any case: others may come
// from the same address, and no guess of 128 bits is right.
func TestGuesses(t *testing.T) {
	x := serve(t, Options{Token: testToken})
	session := x.SignIn(x.code())
	for range 30 {
		r := x.Get("/api/sessions", withKey(wrongToken))
		if r.Status != http.StatusTooManyRequests {
			continue
		}
		if r.Header.Get("Retry-After") == "" {
			t.Errorf("headers %v", r.Header)
		}
		if status := x.Browse("/api/sessions", session); status != http.StatusOK {
			t.Errorf("with a session: %d", status)
		}
		if r := x.Get("/api/sessions", withKey(testToken)); r.Status != http.StatusOK {
			t.Errorf("with the token: %d", r.Status)
		}
		return
	}
	t.Error("all guesses are looked at")
}

// Sessions of an address that leads elsewhere are kept over a restart, for their user; those of
// loopback end with the server, and a broken file signs nobody in.
func TestSessionsAreKept(t *testing.T) {
	dir := t.TempDir()
	open := func() *site { return serve(t, Options{Token: testToken, Dir: dir, Hosts: []string{"phone.example"}}) }
	browse := func(x *site, session string) int {
		return x.Get("/api/sessions", withKey(session), "Host: phone.example", browserAgent).Status
	}
	x := open()
	local := x.SignIn(x.code())
	r := x.Do("POST", "/api/login", "", withKey(Code(testToken, x.d.name, false, time.Now())), "Host: phone.example")
	phone := r.Field(t, "session")
	file := filepath.Join(dir, "browsers.json")
	if info, err := os.Stat(file); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("%v, %v", info, err)
	}
	id, _, _ := strings.Cut(phone, ".")
	x.d.SetDevice(id, &Device{Site: "https://phone.example"})
	b, _ := os.ReadFile(file)
	for _, session := range []string{local, phone} {
		if _, secret, _ := strings.Cut(session, "."); strings.Contains(string(b), secret) {
			t.Errorf("the file holds a session: %s", b)
		}
	}
	y := open()
	if status := browse(y, phone); status != http.StatusOK {
		t.Errorf("the phone after a restart: %d", status)
	}
	if devices := y.d.Devices(); len(devices) != 1 || devices[id].Site != "https://phone.example" {
		t.Errorf("told by Web Push after a restart: %v", devices)
	}
	if status := y.Browse("/api/sessions", local); status != http.StatusUnauthorized {
		t.Errorf("the browser of this machine after a restart: %d", status)
	}
	y.Do("POST", "/api/logout", "", withKey(phone), "Host: phone.example")
	if status := browse(open(), phone); status != http.StatusUnauthorized {
		t.Errorf("signed out, after a restart: %d", status)
	}
	for _, broken := range []string{"", "{", `{"a":null}`, `{"a":{"digest":""}}`, `[]`} {
		if err := os.WriteFile(file, []byte(broken), 0o600); err != nil {
			t.Fatal(err)
		}
		z := open()
		for _, key := range []string{"a.", "a", ".", phone} {
			if status := browse(z, key); status != http.StatusUnauthorized {
				t.Errorf("file %q, session %q: %d", broken, key, status)
			}
		}
		if r := z.Do("POST", "/api/login", "", withKey(Code(testToken, z.d.name, false, time.Now())), "Host: phone.example"); r.Status != http.StatusOK {
			t.Errorf("file %q: signing in: %d", broken, r.Status)
		}
	}
}

// A session works only for the user who signed in: a page of http://localhost also sends it to
// another user's program that listens at [::1].
func TestSessionIsItsUsers(t *testing.T) {
	x := serve(t, Options{Token: testToken})
	ask := func(by Peer, method, path, key string) *httptest.ResponseRecorder {
		r := httptest.NewRequest(method, "http://localhost"+path, nil)
		r.Header.Set("Authorization", "Bearer "+key)
		w := httptest.NewRecorder()
		x.h.ServeHTTP(w, from(by, r))
		return w
	}
	other, proxy, remote := Peer("64321"), Peer("0"), Peer("")
	for _, user := range []Peer{owner, other, proxy, remote} {
		session := x.d.begin(user, false, time.Now())
		for _, by := range []Peer{owner, other, proxy, remote} {
			if by != user {
				ask(by, "POST", "/api/logout", session)
			}
			if status := ask(by, "GET", "/api/sessions", session).Code; (status == http.StatusOK) != (by == user) {
				t.Errorf("%v with the session of %v: %d", by, user, status)
			}
		}
	}
}

// With a new token those who signed in by the old one are out.
func TestSessionsEndWithTheToken(t *testing.T) {
	dir := t.TempDir()
	open := func(token string) *site {
		return serve(t, Options{Token: token, Dir: dir, Hosts: []string{"phone.example"}})
	}
	browse := func(x *site, session string) int {
		return x.Get("/api/sessions", withKey(session), "Host: phone.example", browserAgent).Status
	}
	signIn := func(x *site) string {
		code := Code(testToken, x.d.name, false, time.Now())
		return x.Do("POST", "/api/login", "", withKey(code), "Host: phone.example").Field(t, "session")
	}
	phone := signIn(open(testToken))
	if status := browse(open(wrongToken), phone); status != http.StatusUnauthorized {
		t.Errorf("with another token: %d", status)
	}
}

// The server proves to the page of a session that it knows it, and to nobody else.
func TestProof(t *testing.T) {
	x := serve(t, Options{Token: testToken})
	other, remote := Peer("64321"), Peer("")
	session := x.d.begin(owner, false, time.Now())
	id, secret, _ := strings.Cut(session, ".")
	prove := func(by Peer, id, words string, headers ...string) (int, string) {
		r := httptest.NewRequest("GET", fmt.Sprintf("http://localhost/api/proof?session=%s&words=%s", id, words), nil)
		r.Header.Set("Sec-Fetch-Site", "same-origin")
		for _, h := range headers {
			r.Header.Set("Authorization", h)
		}
		w := httptest.NewRecorder()
		x.h.ServeHTTP(w, from(by, r))
		var p Proof
		_ = json.Unmarshal(w.Body.Bytes(), &p)
		return w.Code, p.Proof
	}
	words := strings.Repeat("0123456789abcdef", 2)
	status, proof := prove(owner, id, words)
	if status != http.StatusOK || proof != hex.EncodeToString(mac(digestOf(secret), "proof "+words)) {
		t.Errorf("%d %s", status, proof)
	}
	if _, another := prove(owner, id, words[1:]+"f"); another == proof {
		t.Error("one proof for all words")
	}
	for name, try := range map[string]func() (int, string){
		"another user":             func() (int, string) { return prove(other, id, words) },
		"another user with a key":  func() (int, string) { return prove(other, id, words, "Bearer x") },
		"elsewhere":                func() (int, string) { return prove(remote, id, words) },
		"no words":                 func() (int, string) { return prove(owner, id, "") },
		"a session that is not":    func() (int, string) { return prove(owner, "x", words) },
		"no session":               func() (int, string) { return prove(owner, "", words) },
		"the session as its id":    func() (int, string) { return prove(owner, session, words) },
		"the digest as a session":  func() (int, string) { return prove(owner, digestOf(secret), words) },
		"another user, no session": func() (int, string) { return prove(other, "", words) },
	} {
		if status, proof := try(); status == http.StatusOK || proof != "" {
			t.Errorf("%s: %d %s", name, status, proof)
		}
	}
}

// Tokens open what their scope says, and the owner's own programs only events.
func TestScopes(t *testing.T) {
	needsPeers(t)
	x := serve(t, Options{Token: testToken})
	paths := map[Scope]string{Open: "/healthz", Events: "/hook", Read: "/api/sessions", Act: "/api/jump", Answer: "/api/answer"}
	session := x.SignIn(x.code())
	for name, c := range map[string]struct {
		header string
		may    Scope
	}{
		"nothing": {noKey, Events}, "the token": {withKey(testToken), Events | Read | Act}, "a session": {withKey(session), Events | Read | Act | Answer},
		"read": {withKey(ScopedToken(testToken, "read")), Read}, "events": {withKey(ScopedToken(testToken, "events")), Events},
		"answer": {withKey(ScopedToken(testToken, "answer")), Read | Answer},
	} {
		for scope, path := range paths {
			r := x.Get(path, c.header)
			want := http.StatusOK
			switch {
			case c.may&scope == scope:
			case c.header == noKey:
				want = http.StatusUnauthorized
			default:
				want = http.StatusForbidden
			}
			if r.Status != want {
				t.Errorf("%s with %s: %d, want %d", path, name, r.Status, want)
			}
		}
	}
	if len(scopes) != 3 || ScopedToken(testToken, "read") == ScopedToken(wrongToken, "read") {
		t.Errorf("scopes %v", scopes)
	}
}

// The server's own name appears only in links to this machine.
func TestLink(t *testing.T) {
	name := newName()
	if !IsName(name) || IsName("localhost") || IsName("b123.localhost") || IsName("x"+name[1:]) || IsName(name[:13]+".example.c") || newName() == name {
		t.Errorf("name %s", name)
	}
	at := name
	if !resolvable(name) {
		at = "127.0.0.1"
	}
	for url, want := range map[string]string{
		"http://127.0.0.1:7483/": "http://" + at + ":7483/#code=h",
		"http://box.lan:7483/":   "http://box.lan:7483/#code=a", "http://192.0.2.7:1/": "http://192.0.2.7:1/#code=a", "https://box.ts.net/": "https://box.ts.net/#code=a",
	} {
		if got := Link(testToken, name, url); !strings.HasPrefix(got, want) {
			t.Errorf("%s: %s, want %s", url, got, want)
		}
	}
}

// Others than the owner have a part of the connections, and the owner the rest.
func TestConnections(t *testing.T) {
	left := maxOthers + 10
	l := &listener{Listener: pipes{left: &left}}
	taken := map[int]net.Conn{}
	for i := range maxOthers {
		taken[i], _ = l.Accept()
	}
	if c, err := l.Accept(); err == nil {
		t.Errorf("one too many is served: %v", c)
	}
	if all, others := l.all.Load(), l.others.Load(); all != maxOthers || others != maxOthers {
		t.Errorf("%d and %d are counted", all, others)
	}
	for _, c := range taken {
		_ = c.Close()
	}
	if all, others := l.all.Load(), l.others.Load(); all != 0 || others != 0 {
		t.Errorf("%d and %d are left", all, others)
	}
}

// pipes is a listener that nobody knows the other ends of.
type pipes struct {
	net.Listener
	left *int
}

func (p pipes) Accept() (net.Conn, error) {
	if *p.left--; *p.left < 0 {
		return nil, net.ErrClosed
	}
	a, _ := net.Pipe()
	return a, nil
}
