package web

import (
	"context"
	"errors"
	"fmt"
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
	"beckon/render/web/access"
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
	if os.Getenv(anotherEnv) != "" {
		os.Exit(code) // it built nothing
	}
	if dir, err := built(); err == nil {
		_ = os.RemoveAll(dir)
	}
	os.Exit(code)
}

// site is a server under test with its own state directory.
type site struct {
	client
	s    *Server
	st   *store.Store
	stop func() error
	home string
	mu   sync.Mutex
	errs []error // what was logged
}

func (x *site) logged() int {
	x.mu.Lock()
	defer x.mu.Unlock()
	return len(x.errs)
}

// serve starts a server on a free port of loopback and stops it with the test.
func serve(t testing.TB, o Options) *site {
	t.Helper()
	l, err := access.Listen("127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	return serveOn(t, l, o)
}

func serveOn(t testing.TB, l net.Listener, o Options) *site {
	t.Helper()
	x := &site{client: client{T: t, Key: testToken, URL: "http://" + l.Addr().String()}}
	if o.Token == "" {
		o.Token = testToken
	}
	if o.Policy == nil {
		o.Policy = judge{}
	}
	if o.Store == nil {
		x.home = t.TempDir()
		o.Store = store.Open(filepath.Join(x.home, "state"))
		if o.Registry == "" {
			o.Registry = filepath.Join(x.home, ".claude", "sessions")
		}
	}
	o.Log = func(err error) {
		x.mu.Lock()
		defer x.mu.Unlock()
		x.errs = append(x.errs, err)
	}
	x.st = o.Store
	o.Act = func(a state.Action, seen ...state.Seen) (err error) {
		at := event.MillisOf(time.Now())
		for _, v := range seen {
			change := state.Change{At: at, Action: &a}
			_, e := x.st.Fold(store.KeyOf(v.Session.Record()), store.Update{Change: change})
			err = errors.Join(err, e)
		}
		return err
	}
	x.s = New(o)
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- x.s.Serve(ctx, l) }()
	x.stop = sync.OnceValue(func() error { cancel(); return <-done })
	t.Cleanup(func() {
		if err := x.stop(); err != nil && !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("serving: %v", err)
		}
	})
	x.Until("it is ready", func() bool { return x.Get("/healthz").Status == http.StatusOK })
	return x
}

// loginCode returns a code that signs a browser of this machine in.
func (x *site) loginCode() string { return access.Code(testToken, x.s.Name(), true, time.Now()) }

// post posts to a hook and expects 200.
func (x *site) post(path, body string) response {
	x.T.Helper()
	r := x.Do("POST", path, body)
	if r.Status != http.StatusOK {
		x.T.Fatalf("POST %s: %d %s", path, r.Status, r.Body)
	}
	return r
}

// fold folds an event as a hook in another process would.
func (x *site) fold(e event.Event) {
	x.T.Helper()
	if e.At == 0 {
		e.At = event.MillisOf(time.Now())
	}
	e.Agent, e.Name = event.ClaudeCode, string(e.Kind)
	if _, err := x.st.Fold(store.KeyOf(e.SessionID), store.Update{Change: state.Change{At: e.At, Event: &e}, Elapsed: func() int64 { return 1500 }}); err != nil {
		x.T.Fatal(err)
	}
}

// hook runs the real hook binary.
func (x *site) hook(payload string, env ...string) {
	x.T.Helper()
	cmd := exec.Command(builtProgram(x.T, "beckon-hook"))
	cmd.Env = append([]string{"HOME=" + x.home, "PATH=" + os.Getenv("PATH"), "BECKON_STATE_DIR=" + x.st.Dir}, env...)
	cmd.Stdin = strings.NewReader(payload)
	if out, err := cmd.CombinedOutput(); err != nil || len(out) > 0 {
		x.T.Fatalf("hook: %v, said %q", err, out)
	}
}

func storeIn(home string) *store.Store { return store.Open(filepath.Join(home, "state")) }
