package page

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"

	"beckon/render"
)

const denied = `document.documentElement.dataset.phase === "denied"`

// signInAgain opens the address that signs in, in a tab whose server was restarted: its
// session ended with the server.
func (p *tab) signInAgain() {
	p.t.Helper()
	p.await("the session is over", denied+` && !document.getElementById("login").hidden`)
	p.must(p.eval(`location.hash = "code=`+p.codeHere()+`"`, nil))
	p.await("it is live again", live)
}

// codeHere returns a code for the server of the tab's page.
func (p *tab) codeHere() string {
	p.t.Helper()
	return codeFor(p.t, get[string](p, `location.origin`))
}

// A user who is not signed in is told how to sign in, and sees nothing else. Neither the
// address that signs in nor the browser keeps a token.
func TestSignIn(t *testing.T) {
	t.Parallel()
	c := startChrome(t)
	axe := findAxe(t)
	w := newWorld(t)
	w.start()
	w.agent("hi").until("UserPromptSubmit")
	p := c.open(t, "about:blank")
	p.expectOutage() // 401 is on the console
	for _, scheme := range []string{"light", "dark"} {
		p.scheme(scheme)
		p.do("Page.navigate", map[string]any{"url": w.url()})
		p.await("it says how", denied+` && document.getElementById("login").innerText.includes("beckon serve url") && document.getElementById("tally").textContent === "Not signed in"`)
		p.check(axe, scheme+" not signed in")
	}
	paste := func(words string) {
		p.must(p.eval(fmt.Sprintf(`document.getElementById("secret").value = %q, document.querySelector("#login button").click()`, words), nil))
	}
	for _, wrong := range []string{"00000000000000000000000000000000", token} { // the token is for programs
		paste(wrong)
		p.await("what is no link is told", `document.getElementById("login-why").textContent === "that opens nothing here"`)
	}
	paste("h" + strings.Repeat("0", 7) + ".x." + strings.Repeat("a", 26))
	p.await("a wrong code is told", `document.getElementById("login-why").textContent === "that link was used, or is too old"`)
	p.must(p.eval(`location.hash = "code=%"`, nil))
	p.await("a broken address is told", `document.getElementById("login-why").textContent === "that address is not whole"`)
	if n := get[int](p, `document.querySelectorAll("#groups .card").length`); n != 0 {
		t.Errorf("%d cards are shown to somebody who is not signed in", n)
	}
	paste("  " + w.page("") + " ")
	p.await("the address can be pasted", live+` && document.querySelector("#groups .card") && document.getElementById("login").hidden`)

	other := c.open(t, w.url()) // a tab of the same browser
	other.await("it is signed in too", live)
	other.expectOutage()
	p.must(p.eval(`document.getElementById("leave").click()`, nil))
	for _, tab := range []*tab{p, other} {
		tab.await("it is signed out", denied+` && !document.querySelector("#groups .card")`)
	}
	other.do("Page.navigate", map[string]any{"url": w.page("session/" + w.list()[0].SessionID)})
	other.await("a session's page opens so as well", live+` && document.querySelector(".line.turn")`)
	p.await("who waits in another tab is signed in with it", live)
	for _, tab := range []*tab{p, other} {
		kept := get[string](tab, `location.href + JSON.stringify({...localStorage}) + JSON.stringify({...sessionStorage}) + document.cookie`)
		if strings.Contains(kept, token) {
			t.Errorf("the browser keeps the token: %s", kept)
		}
	}
	p.await("there is a card to act on", `document.querySelector("#groups .card")`)
	p.press("j", "m")
	p.await("actions are taken", `document.getElementById("toast").textContent === "Marked as seen"`)
}

// A link signs in once.
func TestLinkInABrowser(t *testing.T) {
	t.Parallel()
	c := startChrome(t)
	w := newWorld(t)
	w.start()
	code := w.code()
	p := c.open(t, w.url()+"#code="+code)
	p.expectOutage()
	p.await("it is signed in", live)
	p.must(p.eval(`document.getElementById("leave").click()`, nil))
	p.await("it is signed out", denied)
	p.must(p.eval(`location.hash = "code=`+code+`"`, nil))
	p.await("the link is used up", `document.getElementById("login-why").textContent === "that link was used, or is too old"`)
}

// otherPort is a web server on another port of this host, as an agent starts one for its work:
// it records the requests that it gets, and its page tries to get in.
type otherPort struct {
	*httptest.Server
	mu   sync.Mutex
	seen []string
}

func newOtherPort(t *testing.T) *otherPort {
	o := &otherPort{}
	o.Server = httptest.NewServer(http.HandlerFunc(func(out http.ResponseWriter, r *http.Request) {
		o.mu.Lock()
		for name, values := range r.Header {
			o.seen = append(o.seen, name+": "+strings.Join(values, ", "))
		}
		o.seen = append(o.seen, r.URL.String())
		o.mu.Unlock()
		out.Header().Set("Content-Type", "text/html")
		out.Header().Set("Access-Control-Allow-Origin", "*")
		fmt.Fprint(out, "<!doctype html><title>other</title>")
	}))
	t.Cleanup(o.Close)
	return o
}

// tries are the attempts of a page of another port to read or change something. Each returns
// what it got.
const tries = `(async (base) => {
	const got = [];
	const tried = (what) => (value) => got.push(what + ": " + value);
	const lost = () => "nothing";
	for (const path of ["api/sessions", "api/config", "hook/status", "metrics"]) {
		for (const options of [{}, { credentials: "include" }, { mode: "no-cors", credentials: "include" }]) {
			await fetch(base + path, options).then((r) => r.type === "opaque" ? "nothing" : r.text(), lost).then(tried(path));
		}
	}
	for (const type of ["application/json", "text/plain"]) {
		const options = { method: "POST", credentials: "include", headers: { "Content-Type": type }, body: '{"event":"Stop","hookInput":{"session_id":"trap"}}' };
		await fetch(base + "hook", options).then((r) => r.text(), lost).then(tried("hook"));
		await fetch(base + "hook", { ...options, mode: "no-cors", headers: { "Content-Type": "text/plain" } }).then((r) => r.type === "opaque" ? "nothing" : r.text(), lost).then(tried("hook"));
		await fetch(base + "api/login", { method: "POST", credentials: "include" }).then((r) => r.text(), lost).then(tried("login"));
		await fetch(base + "api/offers/x", { method: "POST", credentials: "include" }).then((r) => r.text(), lost).then(tried("answer"));
	}
	await new Promise((done) => {
		const e = new EventSource(base + "events", { withCredentials: true });
		e.onerror = () => { e.close(); done("nothing"); };
		e.addEventListener("snapshot", (m) => { e.close(); done(m.data); });
	}).then(tried("events"));
	await new Promise((done) => {
		const s = document.createElement("script");
		s.onload = () => done("loaded"), s.onerror = () => done("nothing");
		s.src = base + "api/sessions";
		document.head.append(s);
	}).then(tried("script"));
	await new Promise((done) => {
		const f = document.createElement("iframe");
		f.onload = () => { try { done(f.contentDocument.body.textContent || "nothing"); } catch { done("nothing"); } };
		f.src = base;
		document.body.append(f);
	}).then(tried("frame"));
	await new Promise((done) => {
		const w = window.open(base), since = Date.now();
		const look = setInterval(() => {
			try {
				if (w.location.href === "about:blank" && Date.now() - since < 20_000) return; // not there yet
				done(w.localStorage.length + w.document.title);
			} catch { done("nothing"); }
			clearInterval(look);
		}, 100);
	}).then(tried("window"));
	got.push("storage: " + (localStorage.getItem("beckon.session") ?? "nothing"), "cookies: " + (document.cookie || "nothing"));
	return got;
})(%q)`

// A page of another port of this host, in the browser that is signed in, gets nothing: no
// useful header is sent to it, and none of its requests is answered.
func TestOtherPort(t *testing.T) {
	t.Parallel()
	c := startChrome(t)
	w := newWorld(t)
	w.start()
	w.agent("hi").until("UserPromptSubmit")
	p := c.open(t, w.page(""))
	p.await("it is signed in", live)
	session := get[string](p, `localStorage.getItem("beckon.session")`)
	if session == "" {
		t.Fatal("the browser has no session")
	}
	o := newOtherPort(t)
	q := c.open(t, "about:blank")
	q.mute = true
	for _, host := range []string{"127.0.0.1", "localhost"} {
		q.do("Page.navigate", map[string]any{"url": strings.Replace(o.URL, "127.0.0.1", host, 1)})
		q.await("the other page is there", `document.title === "other" && location.hostname === "`+host+`"`)
		for _, base := range []string{w.url(), strings.Replace(w.url(), "127.0.0.1", "localhost", 1)} {
			for _, got := range get[[]string](q, fmt.Sprintf(tries, base)) {
				if !strings.HasSuffix(got, ": nothing") {
					t.Errorf("a page of %s, asking %s, got %s", host, base, got)
				}
			}
		}
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	if len(o.seen) == 0 {
		t.Fatal("the other port was not asked")
	}
	for _, line := range o.seen {
		if strings.Contains(line, session) || strings.Contains(line, token) || strings.HasPrefix(line, "Cookie") || strings.HasPrefix(line, "Authorization") {
			t.Errorf("the other port is sent %s", line)
		}
	}
	if rows := w.list(); len(rows) != 1 || slices.ContainsFunc(rows, func(r render.Row) bool { return r.SessionID == "trap" }) {
		t.Errorf("sessions %+v", rows)
	}
	p.await("who is signed in stays so", live)
}
