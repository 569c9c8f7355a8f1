package web

import (
	"bytes"
	"crypto/aes"
	"crypto/cipher"
	"crypto/ecdh"
	"crypto/hkdf"
	"crypto/rand"
	"crypto/sha256"
	"crypto/tls"
	"crypto/x509"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"beckon/event"
	"beckon/render/web/access"
	"beckon/state/alert"
	"beckon/state/evidence"
	"beckon/state/request"
	"beckon/state/store"
)

// pushService is a push service, and the device that subscribed at it.
type pushService struct {
	t      *testing.T
	url    string
	key    *ecdh.PrivateKey
	secret []byte
	status atomic.Int32
	got    chan message
}

func newPushService(t *testing.T) *pushService {
	key, err := ecdh.P256().GenerateKey(rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	p := &pushService{t: t, key: key, secret: []byte(rand.Text()[:16]), got: make(chan message, 100)}
	p.status.Store(http.StatusCreated)
	s := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		h := r.Header
		if err != nil || h.Get("Content-Encoding") != "aes128gcm" || h.Get("TTL") != "43200" || h.Get("Urgency") != "high" || h.Get("Topic") != "beckon" ||
			!strings.HasPrefix(h.Get("Authorization"), "vapid t=") {
			t.Errorf("a message with %v, %v", h, err)
		}
		w.WriteHeader(int(p.status.Load()))
		p.got <- p.decrypt(body)
	}))
	t.Cleanup(s.Close)
	p.url = s.URL + "/send/secret-address"
	transport := http.DefaultTransport.(*http.Transport)
	was, pool := transport.TLSClientConfig, x509.NewCertPool()
	pool.AddCert(s.Certificate())
	transport.TLSClientConfig = &tls.Config{RootCAs: pool}
	t.Cleanup(func() { transport.TLSClientConfig = was })
	return p
}

// decrypt reads a message as RFC 8291 has it.
func (p *pushService) decrypt(body []byte) (m message) {
	salt, sender, sealed := body[:16], body[21:21+65], body[21+65:]
	theirs, err := ecdh.P256().NewPublicKey(sender)
	if err != nil {
		p.t.Error(err)
		return m
	}
	shared, _ := p.key.ECDH(theirs)
	ours := p.key.PublicKey().Bytes()
	ikm, _ := hkdf.Key(sha256.New, shared, p.secret, "WebPush: info\x00"+string(ours)+string(sender), 32)
	key, _ := hkdf.Key(sha256.New, ikm, salt, "Content-Encoding: aes128gcm\x00", 16)
	nonce, _ := hkdf.Key(sha256.New, ikm, salt, "Content-Encoding: nonce\x00", 12)
	block, _ := aes.NewCipher(key)
	gcm, _ := cipher.NewGCM(block)
	plain, err := gcm.Open(nil, nonce, sealed, nil)
	if err == nil {
		err = json.Unmarshal(bytes.TrimSuffix(bytes.TrimRight(plain, "\x00"), []byte{2}), &m)
	}
	if err != nil {
		p.t.Errorf("a message that the device cannot read: %v", err)
	}
	return m
}

func (p *pushService) subscription(more string) string {
	enc := base64.RawURLEncoding.EncodeToString
	return fmt.Sprintf(`{"endpoint":%q,"keys":{"p256dh":%q,"auth":%q}%s}`, p.url, enc(p.key.PublicKey().Bytes()), enc(p.secret), more)
}

func (p *pushService) await(what string) message {
	p.t.Helper()
	select {
	case m := <-p.got:
		return m
	case <-time.After(30 * time.Second):
		p.t.Fatalf("no message: %s", what)
		return message{}
	}
}

func (x *site) devices() map[string]access.Device { return x.s.guard.Devices() }

// A device is told once of what needs the user, however many ask at a time, with buttons for one
// request alone, and what was answered elsewhere is withdrawn. Secrets do not leave the machine.
func TestPush(t *testing.T) {
	p := newPushService(t)
	x := serve(t, Options{Alerts: alert.Defaults})
	browser := withKey(x.SignIn(x.loginCode()))
	if r := x.Do("POST", "/api/push", p.subscription(""), browser); r.Status != http.StatusOK {
		t.Fatalf("subscribing: %d %s", r.Status, r.Body)
	}
	if len(x.devices()) != 1 {
		t.Fatalf("devices %v", x.devices())
	}
	time.Sleep(2 * time.Second) // the first look
	asks := func(id, command string) {
		x.hook(fmt.Sprintf(`{"hook_event_name":"UserPromptSubmit","session_id":%q,"cwd":"/tmp/%s","prompt":"go"}`, id, id))
		for _, e := range []string{`"PreToolUse","tool_use_id":"use"`, `"PermissionRequest"`} {
			x.hook(fmt.Sprintf(`{"hook_event_name":%s,"session_id":%q,"cwd":"/tmp/%s","tool_name":"Bash","tool_input":{"command":%q}}`, e, id, id, command))
		}
	}
	asks("s1", "deploy --key ghp_16C7e42F292c6912E7710c838347Ae178B4a")
	m := p.await("one asks")
	if len(m.Notices) != 1 || !m.News || strings.Contains(fmt.Sprint(m.Notices[0]), "ghp_16C7") || !strings.Contains(m.Notices[0].Body, "deploy") ||
		m.Notices[0].Words != nil || !strings.HasPrefix(m.Notices[0].Path, "/session/") {
		t.Errorf("one asks: %+v", m)
	}
	x.hook(`{"hook_event_name":"Stop","session_id":"s1"}`)
	if m := p.await("it was answered"); len(m.Notices) != 0 || m.News {
		t.Errorf("one was answered: %+v", m)
	}
	for i := range 10 {
		asks(fmt.Sprint("many", i), "make it "+strings.Repeat("so ", 500))
	}
	for m = p.await("ten ask"); len(m.Notices)+m.More < 10; m = p.await("all of ten") {
	}
	if len(p.got) > 0 || m.More == 10 {
		t.Errorf("ten at once: %d more messages, %d are left out", len(p.got), m.More)
	}
	if log, err := x.st.Decisions(); err != nil || !slices.ContainsFunc(log, func(d store.Decided) bool { return d.Channels == "push" && d.Session == "s1" }) {
		t.Errorf("the log of decisions: %v, %v", log, err)
	}
	p.status.Store(http.StatusGone)
	x.hook(`{"hook_event_name":"Stop","session_id":"many1"}`)
	p.await("one of ten was answered")
	x.Until("a device that does not subscribe any more is forgotten", func() bool { return len(x.devices()) == 0 })
}

// The buttons are those of a notification on a phone, and a PIN, which no button asks for, takes
// them away.
func TestPushButtons(t *testing.T) {
	p := newPushService(t)
	x := serve(t, Options{Alerts: alert.Defaults})
	session := x.SignIn(x.loginCode())
	x.Do("POST", "/api/push", p.subscription(""), withKey(session))
	time.Sleep(2 * time.Second)
	input := `"tool_name":"Bash","tool_input":{"command":"make"}`
	for _, e := range []string{`"UserPromptSubmit","prompt":"go"`, `"PreToolUse","tool_use_id":"use",` + input, `"PermissionRequest",` + input} {
		x.hook(`{"hook_event_name":` + e + `,"session_id":"s1","cwd":"/tmp"}`)
	}
	here := evidence.ThisMachine()
	self, _ := evidence.Process(os.Getpid(), here)
	at := event.MillisOf(time.Now())
	o := request.Request{Kind: request.Permission, Event: "PermissionRequest", Record: "s1", Session: "s1", Host: here.Host, Made: at, Expires: at + 60_000,
		Waiter: self, Client: self, UseID: "use", Tool: "Bash", Cwd: "/tmp", Payload: []byte(`{"hook_event_name":"PermissionRequest","session_id":"s1","cwd":"/tmp",` + input + `}`)}
	if err := request.In(x.st.Dir).Make(&o, time.Now()); err != nil {
		t.Fatal(err)
	}
	m := p.await("one asks")
	if len(m.Notices) != 1 || !slices.Equal(m.Notices[0].Words, []request.Word{request.Allow, request.Deny}) || !strings.Contains(m.Notices[0].Body, "make\n") {
		t.Fatalf("%+v", m.Notices[0])
	}
	b := m.Notices[0]
	if b.Request != o.ID || b.Digest != o.Digest || b.Drawn != x.shownTo(session, o.ID).Request.Drawn {
		t.Errorf("what the button sends: %+v", b)
	}
	if r := x.Do("POST", "/api/logout", "", withKey(session)); r.Status != http.StatusOK {
		t.Fatalf("signing out: %d", r.Status)
	}
	x.Until("a device that signed out is forgotten", func() bool { return len(x.devices()) == 0 })
}

// Only a signed-in browser subscribes, at a service that is reached by TLS, and it can end that.
func TestSubscribing(t *testing.T) {
	p := newPushService(t)
	x := serve(t, Options{})
	browser := withKey(x.SignIn(x.loginCode()))
	key := x.Do("GET", "/api/push", "", browser)
	var got pushState
	key.Into(t, &got)
	if b, err := base64.RawURLEncoding.DecodeString(got.Key); err != nil || len(b) != 65 || got.On {
		t.Errorf("%s", key.Body)
	}
	for _, bad := range []struct{ body, who, want string }{
		{p.subscription(""), withKey(testToken), "403 no_browser"},
		{strings.Replace(p.subscription(""), "https:", "http:", 1), browser, "400 bad_endpoint"},
		{`{"endpoint":"file:///etc/passwd"}`, browser, "400 bad_endpoint"},
		{`{"endpoint":"https://x/` + strings.Repeat("x", 10_000) + `"}`, browser, "400 bad_endpoint"},
		{`{"url":"x"}`, browser, "400 bad_body"},
	} {
		if r := x.Do("POST", "/api/push", bad.body, bad.who); code(t, r) != bad.want {
			t.Errorf("%s: %s", bad.body, r.Body)
		}
	}
	for _, body := range []string{p.subscription(`,"done":true`), `{}`, `{}`} {
		if r := x.Do("POST", "/api/push", body, browser); r.Status != http.StatusOK || (len(x.devices()) == 1) != (body != "{}") {
			t.Errorf("%s: %d %s, %v", body, r.Status, r.Body, x.devices())
		}
	}
}
