package web

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// abuseTable is written by the test with BECKON_UPDATE=1 and compared without.
var abuseTable = filepath.Join("..", "..", "testdata", "serve", "ABUSE.md")

const abuseHead = `# What was tried against the server

` + "`go test ./render/web -run TestAbuse`" + ` sends all of this to one server and holds it to this table; with
` + "`BECKON_UPDATE=1`" + ` it writes it. After each the server still answered ` + "`/healthz`" + `, and in the end nothing had
been made in its state directory but the session of the good requests. The owner is a program of the user's that sends
the token; another user is one of the same machine, without it.

| tried | by the owner | by another user |
|---|---|---|
`

// abuse is one attempt. do returns the response.
type abuse struct {
	what string
	do   func(x *site) string
	want string
}

// raw sends bytes and returns the status code, or how the connection ended.
func (x *site) raw(parts ...string) string {
	c, err := net.Dial("tcp", strings.TrimPrefix(x.URL, "http://"))
	if err != nil {
		return err.Error()
	}
	defer c.Close()
	_ = c.SetDeadline(time.Now().Add(20 * time.Second))
	go func() { // the response may come before all is sent
		for _, p := range parts {
			if x.Key != "" {
				p = strings.Replace(p, "Host: localhost\r\n", "Host: localhost\r\nAuthorization: Bearer "+x.Key+"\r\n", 1)
			}
			if _, err := io.WriteString(c, p); err != nil {
				return
			}
		}
	}()
	return answerOf(c)
}

func answerOf(c net.Conn) string {
	res, err := http.ReadResponse(bufio.NewReader(c), nil)
	var timeout net.Error
	switch {
	case errors.As(err, &timeout) && timeout.Timeout():
		return "no answer"
	case err != nil:
		return "closed"
	}
	_ = res.Body.Close()
	return strconv.Itoa(res.StatusCode)
}

func (x *site) code(method, path, body string, headers ...string) string {
	return strconv.Itoa(x.Do(method, path, body, headers...).Status)
}

// flood posts a body of size bytes, with or without announcing its length.
func (x *site) flood(size int64, chunked bool) string {
	req, err := http.NewRequest("POST", x.URL+"/hook", io.LimitReader(zeros{}, size))
	if err != nil {
		return err.Error()
	}
	req.Header.Set("Content-Type", "application/json")
	req.ContentLength = size
	if chunked {
		req.ContentLength = -1
	}
	tr := &http.Transport{DisableKeepAlives: true}
	res, err := tr.RoundTrip(req)
	if err != nil { // the response may be lost if it comes while the body is being sent
		return "refused"
	}
	_ = res.Body.Close()
	if res.StatusCode == http.StatusRequestEntityTooLarge || res.StatusCode == http.StatusForbidden {
		return "refused"
	}
	return strconv.Itoa(res.StatusCode)
}

type zeros struct{}

func (zeros) Read(p []byte) (int, error) {
	for i := range p {
		p[i] = '1'
	}
	return len(p), nil
}

const nobodysOffer = "/api/offers/AAAAAAAAAAAAAAAAAAAAAAAAAA"

const hookHead = "POST /hook HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"

func (x *site) hookBody(body string) string {
	return x.code("POST", "/hook", body)
}

var abuses = []abuse{
	{"the sessions", func(x *site) string { return x.code("GET", "/api/sessions", "") }, "200"},
	{"a session's journal", func(x *site) string { return x.code("GET", "/api/sessions/good/journal", "") }, "404"},
	{"the configuration", func(x *site) string { return x.code("GET", "/api/config", "") }, "200"},
	{"events as they happen", func(x *site) string { return x.streamStatus("Accept: text/event-stream") }, "200, snapshot"},
	{"a hook", func(x *site) string {
		return x.hookBody(`{"event":"Stop","hookInput":{"session_id":"good","cwd":"/tmp"}}`)
	}, "200"},
	{"a tracker's hook", func(x *site) string { return x.code("POST", "/hook/stop", `{"session_id":"good"}`) }, "200"},
	{"a question to the policy", func(x *site) string {
		return x.hookBody(`{"version":"1.0","event":{"id":"e","type":"tool_use"},"data":{"cwd":"/tmp"}}`)
	}, "200"},
	{"the end of a session", func(x *site) string { return x.code("POST", "/hook/session-end", `{"session_id":"good"}`) }, "200"},
	{"an answer to an agent, by a program", func(x *site) string { return x.code("POST", nobodysOffer, `{"word":"allow"}`, noKey) }, "401"},
	{"an answer to an agent, with the token", func(x *site) string {
		return x.code("POST", nobodysOffer, `{"word":"allow"}`, withKey(testToken), browserAgent, "Sec-Fetch-Site: same-origin")
	}, "403"},
	{"an answer to an agent, from another site", func(x *site) string {
		return x.code("POST", nobodysOffer, `{"word":"allow"}`, "Sec-Fetch-Site: cross-site", "Sec-Fetch-Mode: cors")
	}, "403"},
	{"stopping a session, with the token", func(x *site) string {
		return x.code("POST", "/api/sessions/good/stop", "", withKey(testToken))
	}, "403"},
	{"saying that the user is away, with the token", func(x *site) string { return x.code("POST", "/api/away", `{}`, withKey(testToken)) }, "403"},
	{"an offer's id out of the directory", func(x *site) string { return x.code("GET", "/api/offers/..%2F..%2Ftoken", "") }, "404"},
	{"the page", func(x *site) string { return x.code("GET", "/", "") }, "200"},
	{"a wrong token", func(x *site) string { return x.code("GET", "/api/sessions", "", withKey(wrongToken)) }, "401"},
	{"no token, in a browser", func(x *site) string { return x.code("GET", "/api/sessions", "", browserAgent, noKey) }, "401"},
	{"no token, by a program", func(x *site) string { return x.code("GET", "/api/sessions", "", noKey) }, "401"},
	{"a hook without a token", func(x *site) string {
		return x.code("POST", "/hook", `{"event":"Stop","hookInput":{"session_id":"good","cwd":"/tmp"}}`, noKey)
	}, "200"},
	{"a hook without a token, in a browser", func(x *site) string {
		return x.code("POST", "/hook", `{"event":"Stop","hookInput":{"session_id":"good","cwd":"/tmp"}}`, noKey, browserAgent)
	}, "401"},
	{"a proof of a session that it does not know", func(x *site) string {
		return x.code("GET", "/api/proof?session=x&words="+wrongToken, "", noKey, browserAgent, "Sec-Fetch-Site: same-origin")
	}, "401"},
	{"the token in the address", func(x *site) string { return x.code("GET", "/api/sessions?token="+testToken, "", browserAgent, noKey) }, "401"},
	{"a cookie that an older version gave", func(x *site) string {
		return x.code("GET", "/api/sessions", "", browserAgent, "Cookie: beckon_"+testToken[:8]+"="+testToken, noKey)
	}, "401"},
	{"no token, through a proxy", func(x *site) string { return x.code("GET", "/api/sessions", "", "X-Forwarded-For: 192.0.2.7", noKey) }, "401"},
	{"signing in without a code", func(x *site) string { return x.code("POST", "/api/login", "", noKey) }, "401"},
	{"signing in with the token", func(x *site) string { return x.code("POST", "/api/login", "", withKey(testToken)) }, "401"},
	{"a hundred wrong tokens in a second", func(x *site) string {
		for range 100 {
			if code := x.code("GET", "/api/sessions", "", withKey(wrongToken)); code == "429" {
				return code
			}
		}
		return "all are looked at"
	}, "429"},
	{"Host of another name (DNS rebinding)", func(x *site) string { return x.code("GET", "/api/sessions", "", "Host: attacker.example") }, "421"},
	{"Host that only begins like loopback", func(x *site) string {
		return x.code("GET", "/api/sessions", "", "Host: 127.0.0.1.attacker.example")
	}, "421"},
	{"Host with a foreign address", func(x *site) string { return x.code("GET", "/api/sessions", "", "Host: 192.0.2.7:7483") }, "421"},
	{"no Host at all", func(x *site) string { return x.raw("GET /api/sessions HTTP/1.1\r\n\r\n") }, "400"},
	{"empty Host", func(x *site) string { return x.raw("GET /api/sessions HTTP/1.0\r\n\r\n") }, "421"},
	{"Origin of another site, reading", func(x *site) string {
		return x.code("GET", "/api/sessions", "", "Origin: https://attacker.example")
	}, "403"},
	{"Origin of another site, event stream", func(x *site) string { return x.code("GET", "/events", "", "Origin: https://attacker.example") }, "403"},
	{"Origin of another site, posting a hook", func(x *site) string {
		return x.code("POST", "/hook", `{"event":"Stop"}`, "Origin: https://attacker.example")
	}, "403"},
	{"Origin null (sandboxed frame, file)", func(x *site) string { return x.code("POST", "/api/sessions/s/seen", "", "Origin: null") }, "403"},
	{"Origin of another port of this machine", func(x *site) string { return x.code("GET", "/api/sessions", "", "Origin: http://127.0.0.1:1") }, "403"},
	{"cross-site fetch without Origin", func(x *site) string {
		return x.code("GET", "/api/sessions", "", "Sec-Fetch-Site: cross-site", "Sec-Fetch-Mode: no-cors")
	}, "403"},
	{"form post from another site", func(x *site) string {
		return x.code("POST", "/api/sessions/s/seen", "", "Sec-Fetch-Site: cross-site", "Sec-Fetch-Mode: navigate")
	}, "403"},
	{"post that needs no preflight (text/plain)", func(x *site) string { return x.code("POST", "/hook", `{"event":"Stop"}`, "Content-Type: text/plain") }, "400"},
	{"preflight", func(x *site) string {
		return x.code("OPTIONS", "/hook", "", "Access-Control-Request-Method: POST")
	}, "405"},
	{"body of 1 GiB, announced", func(x *site) string { return x.flood(1<<30, false) }, "refused"},
	{"body of 1 GiB, in chunks", func(x *site) string { return x.flood(1<<30, true) }, "refused"},
	{"body of a negative length", func(x *site) string { return x.raw(hookHead + "Content-Length: -1\r\n\r\n") }, "400"},
	{"two lengths that differ", func(x *site) string {
		return x.raw(hookHead + "Content-Length: 2\r\nContent-Length: 3\r\n\r\n{}")
	}, "400"},
	{"length and chunks at once (smuggling)", func(x *site) string {
		return x.raw(hookHead + "Content-Length: 3\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n")
	}, "400"},
	{"10,000 header lines", func(x *site) string {
		return x.raw("GET /api/sessions HTTP/1.1\r\nHost: localhost\r\n" + strings.Repeat("X-A: aaaaaaaaaaaaaaaaaaaa\r\n", 10_000) + "\r\n")
	}, "431"},
	{"one header of 1 MiB", func(x *site) string {
		return x.raw("GET /api/sessions HTTP/1.1\r\nHost: localhost\r\nX-A: " + strings.Repeat("a", 1<<20) + "\r\n\r\n")
	}, "431"},
	{"address of 1 MiB", func(x *site) string {
		return x.raw("GET /" + strings.Repeat("a", 1<<20) + " HTTP/1.1\r\nHost: localhost\r\n\r\n")
	}, "431"},
	{"slow header: 200 connections that send a byte now and then", slowHeaders, "closed within 10 s"},
	{"slow body: 200 connections that never finish theirs", slowBodies, "others are heard"},
	{"path out of the directory", func(x *site) string {
		return x.raw("GET /api/sessions/../../../etc/passwd HTTP/1.1\r\nHost: localhost\r\n\r\n")
	}, "307"},
	{"the same, escaped", func(x *site) string {
		return x.raw("GET /api/sessions/..%2f..%2f..%2fetc%2fpasswd HTTP/1.1\r\nHost: localhost\r\n\r\n")
	}, "404"},
	{"path with NUL", func(x *site) string {
		return x.raw("GET /api/sessions/a%00b HTTP/1.1\r\nHost: localhost\r\n\r\n")
	}, "404"},
	{"path with a line break", func(x *site) string {
		return x.raw("GET /api/sessions/a%0d%0aSet-Cookie:%20x HTTP/1.1\r\nHost: localhost\r\n\r\n")
	}, "404"},
	{"path of a device", func(x *site) string {
		return x.raw("GET /api/sessions/con HTTP/1.1\r\nHost: localhost\r\n\r\n")
	}, "404"},
	{"double slashes", func(x *site) string {
		return x.raw("GET //api//sessions HTTP/1.1\r\nHost: localhost\r\n\r\n")
	}, "307"},
	{"address of another server (proxying)", func(x *site) string {
		return x.raw("GET http://attacker.example/ HTTP/1.1\r\nHost: localhost\r\n\r\n")
	}, "421"},
	{"CONNECT", func(x *site) string {
		return x.raw("CONNECT attacker.example:443 HTTP/1.1\r\nHost: attacker.example:443\r\n\r\n")
	}, "421"},
	{"TRACE", func(x *site) string { return x.raw("TRACE /api/sessions HTTP/1.1\r\nHost: localhost\r\n\r\n") }, "405"},
	{"HTTP/2 without TLS", func(x *site) string { return x.raw("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n") }, "421"},
	{"no HTTP", func(x *site) string { return x.raw("\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03\r\n\r\n") }, "400"},
	{"JSON nested 1,000,000 deep", func(x *site) string { return x.hookBody(strings.Repeat("[", 1_000_000)) }, "400"},
	{"the same, in a known member", func(x *site) string {
		return x.hookBody(`{"event":"Stop","hookInput":` + strings.Repeat(`{"a":`, 1_000_000))
	}, "400"},
	{"1,000,000 members", func(x *site) string { return x.hookBody(`{` + strings.Repeat(`"a":1,`, 1_000_000) + `"b":2}`) }, "400"},
	{"truncated JSON", func(x *site) string { return x.hookBody(`{"event":"Stop","hookInput":{"session_id":"x"`) }, "400"},
	{"two JSON texts", func(x *site) string { return x.hookBody(`{"event":"Stop"}{"event":"Stop"}`) }, "400"},
	{"a byte-order mark alone", func(x *site) string { return x.hookBody("\xef\xbb\xbf") }, "400"},
	{"NUL bytes", func(x *site) string { return x.hookBody(strings.Repeat("\x00", 4096)) }, "400"},
	{"unknown session", func(x *site) string { return x.code("POST", "/api/sessions/nobody/seen", "") }, "404"},
	{"Last-Event-ID that is not an id", func(x *site) string { return x.streamStatus("Last-Event-ID: " + strings.Repeat("9", 4000)) }, "200, snapshot"},
	{"good request, invalid UTF-8 in its prompt", func(x *site) string {
		return x.hookBody("{\"event\":\"UserPromptSubmit\",\"hookInput\":{\"session_id\":\"good\",\"prompt\":\"a\xff\xfe\xc0b <script>alert(1)</script> \\u0000\\ud800\"}}")
	}, "200"},
}

// streamStatus opens a stream and returns the first thing received.
func (x *site) streamStatus(header string) string {
	res, err := http.DefaultClient.Do(x.Request("GET", "/events", "", header))
	if err != nil {
		return err.Error()
	}
	defer res.Body.Close()
	for lines := bufio.NewScanner(res.Body); res.StatusCode == http.StatusOK && lines.Scan(); {
		if event, ok := strings.CutPrefix(lines.Text(), "event: "); ok {
			return "200, " + event
		}
	}
	return strconv.Itoa(res.StatusCode)
}

// slowHeaders holds connections open that never finish their header.
func slowHeaders(x *site) string {
	start := time.Now()
	var wg sync.WaitGroup
	var mu sync.Mutex
	result := "closed within 10 s"
	for range 200 {
		wg.Go(func() {
			c, err := net.Dial("tcp", strings.TrimPrefix(x.URL, "http://"))
			if err != nil {
				return
			}
			defer c.Close()
			go func() {
				for _, err := io.WriteString(c, "GET / HTTP/1.1\r\nHost: localhost\r\n"); err == nil; time.Sleep(100 * time.Millisecond) {
					_, err = io.WriteString(c, "X")
				}
			}()
			_ = c.SetReadDeadline(start.Add(20 * time.Second))
			_, _ = io.ReadAll(c)
			if time.Since(start) > 10*time.Second {
				mu.Lock()
				result = "still open after 10 s"
				mu.Unlock()
			}
		})
	}
	x.alive("while slow headers hold connections")
	wg.Wait()
	return result
}

// slowBodies holds requests open whose bodies, of both sizes, never end, and checks that
// events of others are heard meanwhile.
func slowBodies(x *site) string {
	for i := range 200 {
		c, err := net.Dial("tcp", strings.TrimPrefix(x.URL, "http://"))
		if err != nil {
			return err.Error()
		}
		defer c.Close()
		length := [...]int{smallBody / 2, 2 * smallBody, maxBody}[i%3]
		if _, err := fmt.Fprintf(c, "%sContent-Length: %d\r\n\r\n{", hookHead, length); err != nil {
			return err.Error()
		}
	}
	start := time.Now()
	if got := x.hookBody(`{"event":"Stop","hookInput":{"session_id":"good"}}`); got != "200" {
		return got
	} else if late := time.Since(start); late > 5*time.Second {
		return fmt.Sprintf("heard after %v", late)
	}
	return "others are heard"
}

func (x *site) alive(when string) {
	x.T.Helper()
	if r := x.Get("/healthz"); r.Status != http.StatusOK {
		x.T.Errorf("%s: healthz says %d", when, r.Status)
	}
}

func TestAbuse(t *testing.T) {
	if testing.Short() {
		t.Skip("sends gigabytes")
	}
	var asked atomic.Int32
	judge := judge{
		ask:    func(context.Context, Question) ([]byte, error) { asked.Add(1); return []byte(allowed), nil },
		answer: func(context.Context, Question) []byte { asked.Add(1); return nil },
	}
	x := serve(t, Options{Token: testToken, Policy: judge, Config: func() (any, error) { return nil, nil }})
	owners := map[string]string{}
	for _, a := range abuses {
		if owners[a.what] = a.do(x); owners[a.what] != a.want {
			t.Errorf("%s: %s, want %s", a.what, owners[a.what], a.want)
		}
		x.alive("after " + a.what)
	}
	calls, before := asked.Load(), x.Get("/api/sessions/good/journal").Body
	if calls == 0 {
		t.Error("the owner's question was not asked")
	}
	others := x.asAnother("TestAbuseByAnother")
	if after := x.Get("/api/sessions/good/journal").Body; asked.Load() != calls || after != before {
		t.Errorf("another user was heard: the policy %d times, the journal\n%s\nthen\n%s", asked.Load()-calls, before, after)
	}
	var table strings.Builder
	table.WriteString(abuseHead)
	for _, a := range abuses {
		if got := others[a.what]; strings.HasPrefix(got, "2") || strings.HasPrefix(got, "3") {
			t.Errorf("%s, by another user: %s", a.what, got)
		}
		fmt.Fprintf(&table, "| %s | %s | %s |\n", a.what, owners[a.what], others[a.what])
	}
	live, problems, err := x.st.Live()
	if err != nil || len(live) != 1 || live[0].ID != "good" {
		t.Errorf("sessions in the state directory: %v, %v, %v", live, problems, err)
	}
	if body := x.Get("/api/sessions/good").Body; strings.Contains(body, "\x00") || !strings.Contains(body, "\ufffd") {
		t.Errorf("row %s", body)
	}
	if others == nil {
		return // the table has a column that cannot be tested here
	}
	if os.Getenv("BECKON_UPDATE") != "" {
		if err := os.WriteFile(abuseTable, []byte(table.String()), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(abuseTable)
	if err != nil || !bytes.Equal(want, []byte(table.String())) {
		t.Errorf("%s is not what was found (BECKON_UPDATE=1 writes it): %v", abuseTable, err)
	}
}

// TestAbuseByAnother is the part of TestAbuse that runs as another user.
func TestAbuseByAnother(t *testing.T) {
	url := os.Getenv(anotherEnv)
	if url == "" {
		return // TestAbuse runs this
	}
	x := &site{client: client{T: t, URL: url}}
	for _, a := range abuses {
		fmt.Printf("%s%s\t%s\n", anotherSays, a.what, a.do(x))
	}
}
