package page

import (
	"fmt"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
)

// squatter is another user's program that takes the port when serve is gone, and leaves in a
// browser what such a program can leave for later.
type squatter struct {
	*http.Server
	mu   sync.Mutex
	seen []string
}

const evilPage = `<!doctype html><title>evil</title><script>
	navigator.serviceWorker.register("/worker.js").then(() => navigator.serviceWorker.ready).then(() => { document.title = "evil for good"; });
	window.stolen = () => JSON.stringify({...localStorage}) + location.hash;
</script>`

const evilWorker = `
	self.addEventListener("install", () => self.skipWaiting());
	self.addEventListener("activate", (e) => e.waitUntil(self.clients.claim()));
	self.addEventListener("fetch", (e) => e.respondWith(new Response("<!doctype html><title>evil worker</title>", { headers: { "Content-Type": "text/html" } })));`

func squat(t *testing.T, addr string) *squatter {
	t.Helper()
	l, err := net.Listen("tcp", addr)
	if err != nil {
		t.Fatal(err)
	}
	s := &squatter{}
	s.Server = &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		s.mu.Lock()
		for name, values := range r.Header {
			s.seen = append(s.seen, name+": "+strings.Join(values, ", "))
		}
		s.seen = append(s.seen, r.Method+" "+r.URL.String())
		s.mu.Unlock()
		w.Header().Set("Cache-Control", "max-age=31536000, immutable")
		switch {
		case r.URL.Path == "/worker.js":
			w.Header().Set("Content-Type", "text/javascript")
			fmt.Fprint(w, evilWorker)
		case strings.HasPrefix(r.URL.Path, "/api/proof"): // it guesses
			fmt.Fprint(w, `{"proof":"`+strings.Repeat("0", 64)+`"}`)
		case strings.HasPrefix(r.URL.Path, "/api/"), r.URL.Path == "/events":
			fmt.Fprint(w, `{"session":"evil"}`)
		default:
			w.Header().Set("Content-Type", "text/html")
			fmt.Fprint(w, evilPage)
		}
	})}
	go func() { _ = s.Serve(l) }()
	t.Cleanup(func() { _ = s.Close() })
	return s
}

// printed returns the address that `beckon serve url` prints for this machine.
func (w *world) printed() string {
	w.t.Helper()
	url, _, _ := strings.Cut(string(w.beckon("serve", "url", "--addr", w.addr)), "\n")
	return url
}

// When serve is gone, a program that takes its port gets nothing from a browser that was
// signed in: the browser sends no session to a program that does not prove to be the server, what
// is in its storage opens nothing, and what the program left in it (a service worker, files
// cached for a year, a page) does not exist for the next server's name.
func TestSquatter(t *testing.T) {
	t.Parallel()
	c := startChrome(t)
	w := newWorld(t)
	w.start()
	first := w.printed()
	p := c.open(t, first)
	p.expectOutage()
	p.await("it is signed in", live)
	session := get[string](p, `localStorage.getItem("beckon.session")`)
	if session == "" || strings.Contains(first, token) {
		t.Fatalf("session %q, address %s", session, first)
	}
	w.stop()
	s := squat(t, w.addr)
	p.await("the page does not take it for the server", denied)
	p.mute = true // what follows is the squatter's page
	p.must(p.eval(fmt.Sprintf(`document.getElementById("secret").value = %q, document.querySelector("#login button").click()`, token), nil))
	p.await("nor does it sign in there", `document.getElementById("login-why").textContent === "that opens nothing here"`)
	s.mu.Lock()
	for _, line := range s.seen {
		if strings.Contains(line, session) || strings.Contains(line, token) || strings.HasPrefix(line, "Authorization") || strings.HasPrefix(line, "Cookie") {
			t.Errorf("the squatter is sent %s", line)
		}
	}
	if len(s.seen) == 0 {
		t.Error("the squatter was not asked")
	}
	s.mu.Unlock()
	q := c.open(t, first) // the address is in the scrollback
	q.mute = true
	q.await("the squatter's page is there, for good", `document.title === "evil for good"`)
	old := c.open(t, w.url())
	old.mute = true
	old.await("at the address that anybody knows, too", `document.title === "evil for good"`)
	stolen := get[string](q, `stolen()`) + get[string](old, `stolen()`)
	if strings.Contains(stolen, token) {
		t.Errorf("the squatter's page finds the token: %s", stolen)
	}
	_ = s.Close()

	w.start()
	fresh := c.open(t, w.printed())
	fresh.await("the next server's page is its own", live)
	kept := get[string](fresh, `localStorage.getItem("beckon.session")`)
	if stolen := get[string](q, `stolen()`) + get[string](old, `stolen()`); kept == "" || strings.Contains(stolen, kept) {
		t.Errorf("the squatter's page, still open, finds the session %s: %s", kept, stolen)
	}
	_, code, _ := strings.Cut(first, "#code=")
	for _, key := range []string{session, code} {
		for _, path := range []string{"api/sessions", "api/login"} {
			r, err := http.NewRequest(map[bool]string{true: "POST", false: "GET"}[path == "api/login"], w.url()+path, nil)
			if err != nil {
				t.Fatal(err)
			}
			r.Header.Set("Authorization", "Bearer "+key)
			res, err := http.DefaultClient.Do(r)
			if err != nil {
				t.Fatal(err)
			}
			_ = res.Body.Close()
			if res.StatusCode != http.StatusUnauthorized {
				t.Errorf("%s with what the squatter may have: %s", path, res.Status)
			}
		}
	}
}

// The key that signs in is in no entry of the tab's history once the page is there, and the
// token is in none of the browser's files.
func TestNoKeyInHistory(t *testing.T) {
	t.Parallel()
	c := startChrome(t)
	w := newWorld(t)
	w.start()
	link := w.printed()
	_, first, _ := strings.Cut(link, "#code=")
	p := c.open(t, link)
	p.await("it is signed in", live)
	second := w.code()
	p.do("Page.navigate", map[string]any{"url": w.url() + "#code=" + second})
	p.await("so it is by its other name", live+` && location.hostname === "127.0.0.1"`)
	var history struct {
		Entries []struct{ URL, UserTypedURL string }
	}
	p.must(c.call(p.session, "Page.getNavigationHistory", map[string]any{}, &history))
	if len(history.Entries) < 2 {
		t.Errorf("history %v", history)
	}
	for _, e := range history.Entries {
		if strings.Contains(e.URL, first) || strings.Contains(e.URL, second) {
			t.Errorf("the tab's history keeps %s", e.URL)
		}
	}
	c.quit()
	err := filepath.WalkDir(c.profile, func(path string, d os.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() {
			return nil // it is going away
		}
		b, err := os.ReadFile(path)
		if err == nil && strings.Contains(string(b), token) {
			t.Errorf("the token is in %s", path)
		}
		if err == nil && strings.Contains(string(b), first) {
			t.Logf("the used code is in %s", strings.TrimPrefix(path, c.profile))
		}
		return nil
	})
	if err != nil {
		t.Error(err)
	}
}
