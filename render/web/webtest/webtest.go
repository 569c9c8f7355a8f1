// Package webtest asks a server under test what its callers ask.
package webtest

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"runtime"
	"strings"
	"testing"
	"time"
)

// What callers send.
const (
	Token   = "6f1ed002ab5595859014ebf0951522d9"
	Wrong   = "00000000000000000000000000000000" // no token of any server
	Browser = "User-Agent: Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/142.0.0.0 Safari/537.36"
)

// With returns the header that sends a key.
func With(key string) string { return "Authorization: Bearer " + key }

// Site is a server under test.
type Site struct {
	T   testing.TB
	URL string
}

// Until waits for a condition that must hold soon.
func (x Site) Until(what string, f func() bool) {
	x.T.Helper()
	for end := time.Now().Add(20 * time.Second); !f(); time.Sleep(2 * time.Millisecond) {
		if time.Now().After(end) {
			x.T.Fatalf("in 20 s it never came that %s", what)
		}
	}
}

// Request makes a request with headers given as "Name: value".
func (x Site) Request(method, path, body string, headers ...string) *http.Request {
	x.T.Helper()
	req, err := http.NewRequest(method, x.URL+path, strings.NewReader(body))
	if err != nil {
		x.T.Fatal(err)
	}
	if body != "" {
		req.Header.Set("Content-Type", "application/json")
	}
	for _, h := range headers {
		k, v, _ := strings.Cut(h, ": ")
		if k == "Host" {
			req.Host = v
			continue
		}
		req.Header.Set(k, v)
	}
	return req
}

// Do sends a request and returns the response.
func (x Site) Do(method, path, body string, headers ...string) Reply {
	x.T.Helper()
	client := http.Client{Timeout: 20 * time.Second, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	res, err := client.Do(x.Request(method, path, body, headers...))
	if err != nil {
		x.T.Fatal(err)
	}
	defer res.Body.Close()
	b, err := io.ReadAll(res.Body)
	if err != nil {
		x.T.Fatal(err)
	}
	return Reply{res.StatusCode, res.Header, string(b)}
}

// Get sends a request without a body.
func (x Site) Get(path string, headers ...string) Reply {
	x.T.Helper()
	return x.Do("GET", path, "", headers...)
}

// SignIn returns what a browser sends with the session that it got for key.
func (x Site) SignIn(key string) (session string) {
	x.T.Helper()
	r := x.Do("POST", "/api/login", "", With(key), Browser, "Sec-Fetch-Site: same-origin", "Origin: "+x.URL)
	if r.Status != http.StatusOK || r.Header.Get("Set-Cookie") != "" {
		x.T.Fatalf("signing in: %d %v %s", r.Status, r.Header, r.Body)
	}
	return r.Field(x.T, "session")
}

// Browse returns the status that a signed-in browser gets.
func (x Site) Browse(path, session string) int {
	x.T.Helper()
	return x.Get(path, With(session), Browser, "Sec-Fetch-Site: same-origin").Status
}

// Reply is the response to a request.
type Reply struct {
	Status int
	Header http.Header
	Body   string
}

// Into parses a JSON response.
func (r Reply) Into(t testing.TB, v any) {
	t.Helper()
	if err := json.Unmarshal([]byte(r.Body), v); err != nil {
		t.Fatalf("answer %q: %v", r.Body, err)
	}
}

// Field returns a member of a JSON response as text.
func (r Reply) Field(t testing.TB, name string) string {
	t.Helper()
	m := map[string]any{}
	r.Into(t, &m)
	if v, ok := m[name]; ok {
		return fmt.Sprint(v)
	}
	return "(none)"
}

// NeedsPeers skips a test where the system does not tell whose process is at the other end of
// a connection.
func NeedsPeers(t testing.TB) {
	t.Helper()
	if runtime.GOOS != "linux" && runtime.GOOS != "darwin" && runtime.GOOS != "windows" {
		t.Skip("this system does not tell whose process is at the other end")
	}
}

// Proof returns the path by which a page asks the server to prove that it knows a key.
func Proof(key, words string) string {
	digest := sha256.Sum256([]byte(key))
	name := hmac.New(sha256.New, digest[:])
	name.Write([]byte("name"))
	return fmt.Sprintf("/api/proof?key=%x&words=%s", name.Sum(nil), words)
}
