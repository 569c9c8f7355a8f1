// Package webtest is a caller of beckon serve for tests.
package webtest

import (
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
	Token        = "6f1ed002ab5595859014ebf0951522d9" // of the server under test
	WrongToken   = "00000000000000000000000000000000" // no token of any server
	BrowserAgent = "User-Agent: Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) " +
		"Chrome/142.0.0.0 Safari/537.36"
)

// NoKey is for requests that send no key.
const NoKey = "No-Key: 1"

// WithKey returns the header that sends a key.
func WithKey(key string) string { return "Authorization: Bearer " + key }

// Client is a server under test.
type Client struct {
	T   testing.TB
	URL string
	Key string // is sent with requests that send no other, and not NoKey
}

// Until waits for a condition that must hold soon.
func (x Client) Until(what string, f func() bool) {
	x.T.Helper()
	for end := time.Now().Add(20 * time.Second); !f(); time.Sleep(2 * time.Millisecond) {
		if time.Now().After(end) {
			x.T.Fatalf("in 20 s it never came that %s", what)
		}
	}
}

// Request makes a request with headers given as "Name: value".
func (x Client) Request(method, path, body string, headers ...string) *http.Request {
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
	if req.Header.Get("Authorization") == "" && req.Header.Get("No-Key") == "" && x.Key != "" {
		req.Header.Set("Authorization", "Bearer "+x.Key)
	}
	req.Header.Del("No-Key")
	return req
}

// Do sends a request and returns the response.
func (x Client) Do(method, path, body string, headers ...string) Response {
	x.T.Helper()
	client := http.Client{
		Timeout:       20 * time.Second,
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
	res, err := client.Do(x.Request(method, path, body, headers...))
	if err != nil {
		x.T.Fatal(err)
	}
	defer res.Body.Close()
	b, err := io.ReadAll(res.Body)
	if err != nil {
		x.T.Fatal(err)
	}
	return Response{res.StatusCode, res.Header, string(b)}
}

// Get sends a request without a body.
func (x Client) Get(path string, headers ...string) Response {
	x.T.Helper()
	return x.Do("GET", path, "", headers...)
}

// SignIn returns what a browser sends with the session that it got for a code.
func (x Client) SignIn(code string) (session string) {
	x.T.Helper()
	r := x.Do("POST", "/api/login", "", WithKey(code), BrowserAgent, "Sec-Fetch-Site: same-origin", "Origin: "+x.URL)
	if r.Status != http.StatusOK || r.Header.Get("Set-Cookie") != "" {
		x.T.Fatalf("signing in: %d %v %s", r.Status, r.Header, r.Body)
	}
	return r.Field(x.T, "session")
}

// Browse returns the status that a signed-in browser gets.
func (x Client) Browse(path, session string) int {
	x.T.Helper()
	return x.Get(path, WithKey(session), BrowserAgent, "Sec-Fetch-Site: same-origin").Status
}

// Response is the response to a request.
type Response struct {
	Status int
	Header http.Header
	Body   string
}

// Into parses a JSON response.
func (r Response) Into(t testing.TB, v any) {
	t.Helper()
	if err := json.Unmarshal([]byte(r.Body), v); err != nil {
		t.Fatalf("answer %q: %v", r.Body, err)
	}
}

// Field returns a member of a JSON response as text.
func (r Response) Field(t testing.TB, name string) string {
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
