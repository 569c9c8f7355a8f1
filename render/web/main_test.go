package web

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"beckon/event"
	"beckon/render"
	"beckon/state"
	"beckon/state/store"
)

// built is the directory with the programs that the tests run, made once.
var built = sync.OnceValues(func() (string, error) {
	dir, err := os.MkdirTemp("", "beckon-web-test-")
	if err != nil {
		return "", err
	}
	cmd := exec.Command("go", "build", "-o", dir, "beckon/cmd/beckon-hook", "beckon/cmd/beckon")
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := cmd.CombinedOutput(); err != nil {
		return dir, fmt.Errorf("%w\n%s", err, out)
	}
	return dir, nil
})

func builtProgram(t testing.TB, name string) string {
	t.Helper()
	dir, err := built()
	if err != nil {
		t.Fatal(err)
	}
	return filepath.Join(dir, name)
}

func TestMain(m *testing.M) {
	code := m.Run()
	if dir, err := built(); err == nil {
		_ = os.RemoveAll(dir)
	}
	os.Exit(code)
}

// site is a server under test with its own state directory.
type site struct {
	t    testing.TB
	s    *Server
	st   *store.Store
	home string
	url  string
	errs *[]error
}

// serve starts a server on a free port of loopback and stops it with the test.
func serve(t testing.TB, o Options) *site {
	t.Helper()
	l, err := Listen("127.0.0.1:0", o.Token)
	if err != nil {
		t.Fatal(err)
	}
	return serveOn(t, l, o)
}

func serveOn(t testing.TB, l net.Listener, o Options) *site {
	t.Helper()
	x := &site{t: t, url: "http://" + l.Addr().String()}
	if o.Store == nil {
		x.home = t.TempDir()
		o.Store = store.Open(filepath.Join(x.home, "state"))
		if o.Registry == "" {
			o.Registry = filepath.Join(x.home, ".claude", "sessions")
		}
	}
	var mu sync.Mutex
	x.errs = new([]error)
	o.Log = func(err error) {
		mu.Lock()
		*x.errs = append(*x.errs, err)
		mu.Unlock()
	}
	x.st = o.Store
	x.s = New(o)
	done := make(chan error, 1)
	go func() { done <- x.s.Serve(l) }()
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
		defer cancel()
		if err := x.s.Close(ctx); err != nil && !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("closing: %v", err)
		}
		if err := <-done; err != nil {
			t.Errorf("serving: %v", err)
		}
	})
	x.until("it is ready", func() bool { return x.s.ready.Load() })
	return x
}

// until waits for what must come soon.
func (x *site) until(what string, f func() bool) {
	x.t.Helper()
	for end := time.Now().Add(20 * time.Second); !f(); time.Sleep(2 * time.Millisecond) {
		if time.Now().After(end) {
			x.t.Fatalf("in 20 s it never came that %s", what)
		}
	}
}

// reply is what a request got.
type reply struct {
	status int
	header http.Header
	body   string
}

func (r reply) into(t testing.TB, v any) {
	t.Helper()
	if err := json.Unmarshal([]byte(r.body), v); err != nil {
		t.Fatalf("answer %q: %v", r.body, err)
	}
}

// field returns a member of a JSON answer as text.
func (r reply) field(t testing.TB, name string) string {
	t.Helper()
	m := map[string]any{}
	r.into(t, &m)
	if v, ok := m[name]; ok {
		return fmt.Sprint(v)
	}
	return "(none)"
}

// do sends a request with headers given as "Name: value".
func (x *site) do(method, path, body string, headers ...string) reply {
	x.t.Helper()
	req, err := http.NewRequest(method, x.url+path, strings.NewReader(body))
	if err != nil {
		x.t.Fatal(err)
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
	client := http.Client{Timeout: 20 * time.Second, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	res, err := client.Do(req)
	if err != nil {
		x.t.Fatal(err)
	}
	defer res.Body.Close()
	b, err := io.ReadAll(res.Body)
	if err != nil {
		x.t.Fatal(err)
	}
	return reply{res.StatusCode, res.Header, string(b)}
}

func (x *site) get(path string, headers ...string) reply {
	x.t.Helper()
	return x.do("GET", path, "", headers...)
}

// post posts to a hook and wants 200.
func (x *site) post(path, body string) reply {
	x.t.Helper()
	r := x.do("POST", path, body)
	if r.status != http.StatusOK {
		x.t.Fatalf("POST %s: %d %s", path, r.status, r.body)
	}
	return r
}

// fold folds an event as a hook in another process would.
func (x *site) fold(e event.Event) {
	x.t.Helper()
	if e.At == 0 {
		e.At = event.Millis(time.Now().UnixMilli())
	}
	e.Agent, e.Name = event.ClaudeCode, string(e.Kind)
	if _, err := x.st.Fold(store.KeyOf(e.SessionID), store.Update{Change: state.Change{At: e.At, Event: &e}, Elapsed: func() int64 { return 1500 }}); err != nil {
		x.t.Fatal(err)
	}
}

// hook runs the real hook binary.
func (x *site) hook(payload string, env ...string) {
	x.t.Helper()
	cmd := exec.Command(builtProgram(x.t, "beckon-hook"))
	cmd.Env = append([]string{"HOME=" + x.home, "PATH=" + os.Getenv("PATH"), "BECKON_STATE_DIR=" + x.st.Dir}, env...)
	cmd.Stdin = strings.NewReader(payload)
	if out, err := cmd.CombinedOutput(); err != nil || len(out) > 0 {
		x.t.Fatalf("hook: %v, said %q", err, out)
	}
}

// heard is one event of a stream.
type heard struct {
	id, name string
	data     string
	at       time.Time
}

// stream is an open event stream that keeps what it heard, and what a page
// would show after it.
type stream struct {
	t      testing.TB
	cancel context.CancelFunc
	mu     sync.Mutex
	all    []heard
	beats  int
	rows   map[string]render.Row // by seat, else session
	ended  chan struct{}
}

// stream opens an event stream. One that does not go on from an event has its
// snapshot when this returns: what happens from then on it is told.
func (x *site) stream(path string, headers ...string) *stream {
	x.t.Helper()
	s := x.open(path, headers)
	if !strings.Contains(path, "after=") && len(headers) == 0 {
		s.await("snapshot", nil)
	}
	return s
}

func (x *site) open(path string, headers []string) *stream {
	x.t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	req, err := http.NewRequestWithContext(ctx, "GET", x.url+path, nil)
	if err != nil {
		x.t.Fatal(err)
	}
	for _, h := range headers {
		k, v, _ := strings.Cut(h, ": ")
		req.Header.Set(k, v)
	}
	tr := &http.Transport{DisableKeepAlives: true}
	res, err := tr.RoundTrip(req)
	if err != nil {
		x.t.Fatal(err)
	}
	if res.StatusCode != http.StatusOK {
		x.t.Fatalf("%s: %s", path, res.Status)
	}
	s := &stream{t: x.t, cancel: cancel, rows: map[string]render.Row{}, ended: make(chan struct{})}
	go s.read(res.Body)
	x.t.Cleanup(func() { cancel(); <-s.ended })
	return s
}

func (s *stream) read(body io.ReadCloser) {
	defer close(s.ended)
	defer body.Close()
	in := bufio.NewReader(body)
	var h heard
	for {
		line, err := in.ReadBytes('\n')
		if err != nil {
			return
		}
		line = bytes.TrimSuffix(line, []byte("\n"))
		name, value, _ := bytes.Cut(line, []byte(": "))
		switch string(name) {
		case "id":
			h.id = string(value)
		case "event":
			h.name = string(value)
		case "data":
			h.data = string(value)
		case "":
			if len(value) > 0 { // a comment
				s.mu.Lock()
				s.beats++
				s.mu.Unlock()
			} else if h.name != "" {
				h.at = time.Now()
				s.note(h)
				h = heard{}
			}
		}
	}
}

// note shows an event as a page does.
func (s *stream) note(h heard) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.all = append(s.all, h)
	switch h.name {
	case "snapshot":
		var l render.List
		if err := json.Unmarshal([]byte(h.data), &l); err != nil {
			s.t.Errorf("snapshot: %v", err)
		}
		s.rows = map[string]render.Row{}
		for _, r := range l.Sessions {
			s.rows[rowKey(r)] = r
		}
	case "session_created", "session_updated", "session_ended":
		var n struct{ Session render.Row }
		if err := json.Unmarshal([]byte(h.data), &n); err != nil {
			s.t.Errorf("%s: %v", h.name, err)
		}
		if h.name == "session_ended" {
			delete(s.rows, rowKey(n.Session))
		} else {
			s.rows[rowKey(n.Session)] = n.Session
		}
	}
}

func rowKey(r render.Row) string {
	if r.SeatID != "" {
		return r.SeatID
	}
	return r.SessionID
}

// find returns the first event of that name for which f holds.
func (s *stream) find(name string, f func(data map[string]any) bool) (heard, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, h := range s.all {
		m := map[string]any{}
		if h.name == name && json.Unmarshal([]byte(h.data), &m) == nil && (f == nil || f(m)) {
			return h, true
		}
	}
	return heard{}, false
}

// await waits for an event.
func (s *stream) await(name string, f func(data map[string]any) bool) heard {
	s.t.Helper()
	for end := time.Now().Add(20 * time.Second); ; time.Sleep(time.Millisecond) {
		if h, ok := s.find(name, f); ok {
			return h
		}
		if time.Now().After(end) {
			s.mu.Lock()
			defer s.mu.Unlock()
			s.t.Fatalf("no %s came in 20 s; heard %s", name, s.told())
		}
	}
}

// told is what was heard, for a failure's message.
func (s *stream) told() string {
	var b strings.Builder
	for _, h := range s.all {
		fmt.Fprintf(&b, "\n  %s %s %.200s", h.id, h.name, h.data)
	}
	return b.String()
}

func (s *stream) events() []heard {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]heard(nil), s.all...)
}

// list returns what a page would show, in the order of list --json.
func (s *stream) list() []render.Row {
	s.mu.Lock()
	defer s.mu.Unlock()
	rows := make([]render.Row, 0, len(s.rows))
	for _, r := range s.rows {
		rows = append(rows, r)
	}
	render.Sort(rows)
	return rows
}

func sessionIs(id string) func(map[string]any) bool {
	return func(m map[string]any) bool {
		s, _ := m["session"].(map[string]any)
		return s["session_id"] == id
	}
}

func policyOf(t *testing.T, want string) func(context.Context, []byte) (int, []byte) {
	return func(_ context.Context, body []byte) (int, []byte) {
		if string(body) != want {
			t.Errorf("the policy got %s", body)
		}
		return http.StatusOK, []byte(`{"version":"1.0","decision":"allow"}`)
	}
}

func storeIn(home string) *store.Store { return store.Open(filepath.Join(home, "state")) }
