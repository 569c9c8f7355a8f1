package page

import (
	"net"
	"strings"
	"testing"
	"time"

	"beckon/render/web/access"
	"beckon/state/request"
)

// A phone that signed in by the address of this machine stays signed in when the server starts
// again, and answers without the code; signing out ends that for good.
func TestPhoneStaysSignedIn(t *testing.T) {
	t.Parallel()
	c := startChrome(t)
	w := newWorld(t)
	_, port, err := net.SplitHostPort(w.addr)
	if err != nil {
		t.Fatal(err)
	}
	w.addr = "0.0.0.0:" + port
	url, err := access.Elsewhere(w.addr, nil)
	if err != nil {
		t.Skipf("no network: %v", err)
	}
	w.start()
	w.agent("perm_yes").until("PermissionRequest")
	record := w.list()[0].SessionID
	health, _, ok := access.Ask(w.url())
	if !ok {
		t.Fatal("no server")
	}
	p := c.open(t, "about:blank")
	p.mute = true // browsers say that they trust no page of the network without TLS
	p.size(360, 740, true)
	p.do("Page.navigate", map[string]any{"url": access.Link(token, health.Name, url)})
	p.await("it is signed in", live)
	for range 2 {
		o := w.asks(record, request.Permission, "Bash", bash)
		p.settled(o)
		p.push(o, "Allow")
		if a := w.answered(o); a.Word != request.Allow || a.From != request.Remote {
			t.Errorf("answered %+v", a)
		}
		p.await("it is gone", `!`+at(o))
		w.stop()
		p.await("the loss is seen", `document.documentElement.dataset.phase === "lost"`)
		w.start()
		p.await("it is live again, and still signed in", live)
	}
	p.do("Page.reload", map[string]any{})
	p.await("a page that is loaded anew is, too", live)
	session := get[string](p, `localStorage.getItem("beckon.session")`)
	p.must(p.eval(`document.getElementById("leave").click()`, nil))
	p.await("it is signed out", denied)
	w.stop()
	w.start()
	p.must(p.eval(`localStorage.setItem("beckon.session", `+jsString(session)+`), location.reload()`, nil))
	time.Sleep(200 * time.Millisecond)
	p.await("that session is over", denied)
	if !strings.Contains(session, ".") {
		t.Errorf("session %q", session)
	}
}
