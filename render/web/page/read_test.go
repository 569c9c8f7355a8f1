package page

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"beckon/state/request"
)

// quiet fails if an offer is answered within the next moment.
func (w *world) quiet(what string, o request.Request) {
	w.t.Helper()
	time.Sleep(300 * time.Millisecond)
	if a, ok := w.given.Load(o.ID); ok {
		w.t.Fatalf("%s: %+v", what, a)
	}
}

// Nothing is allowed, by key or by click, that has not been on the screen whole, and each key
// has one meaning everywhere.
func TestReadBeforeAllow(t *testing.T) {
	t.Parallel()
	c := startChrome(t)
	w := newWorld(t)
	w.start()
	w.agent("perm_yes").until("PermissionRequest")
	record := w.list()[0].SessionID
	p := c.open(t, w.page("session/"+record))
	p.size(1280, 720, false)
	p.await("it is live", live)
	lines := make([]string, 120)
	for i := range lines {
		lines[i] = fmt.Sprintf("echo %d", i)
	}
	long := `{"tool_name":"Bash","tool_input":{"command":` + quote(strings.Join(lines, "\n")) + `},` + suggestions + `}`
	toasted := func() bool {
		return get[bool](p, `document.getElementById("toast").textContent === "Read all of it first, then once more"`)
	}
	for _, by := range []string{"y", "a", "Allow"} {
		o := w.asks(record, request.Permission, "Bash", long)
		p.settled(o)
		p.must(p.eval(`scrollTo(0, 0)`, nil))
		times := 0
		for ; times < 40; times++ {
			if by == "Allow" {
				p.must(p.eval(at(o)+`.querySelector(".yes").click()`, nil))
			} else {
				p.press(by)
			}
			time.Sleep(150 * time.Millisecond)
			if _, ok := w.given.Load(o.ID); ok {
				break
			}
			if !toasted() {
				t.Errorf("%s: it is not said why nothing happens", by)
			}
		}
		if times < 3 { // 120 lines are more than three windows
			t.Errorf("%s: allowed after %d looks", by, times)
		}
		if a := w.answered(o); a.Word != request.Allow {
			t.Errorf("%s: %+v", by, a)
		}
	}

	p.press("S")
	p.await("S asks whether to stop", `document.getElementById("aside").open && document.getElementById("aside-title").textContent === "Stop it?"`)
	p.press("Escape")
	p.await("it is not meant", `!document.getElementById("aside").open`)
	o := w.asks(record, request.Permission, "Bash", bash)
	p.settled(o)
	p.must(p.eval(`scrollTo(0, document.documentElement.scrollHeight)`, nil))
	p.press("s", "m")
	w.quiet("s, m", o)
	p.press("n") // next, which is on the board
	p.await("n goes to the next that needs you", `location.pathname === "/" && document.activeElement.matches(".needs .name")`)
	p.press("d", "y")
	w.quiet("d and y on the board", o)
	p.do("Page.navigate", map[string]any{"url": w.url() + "session/" + record})
	p.settled(o)
	p.must(p.eval(at(o)+`.scrollIntoView({block: "center"})`, nil))
	p.await("it is on the screen", `new Promise((r) => setTimeout(r, 300, true))`)
	p.press("d")
	if a := w.answered(o); a.Word != request.Deny {
		t.Errorf("d: %+v", a)
	}
}
