package page

import (
	"path/filepath"
	"strings"
	"testing"

	"beckon/event"
	"beckon/state"
	"beckon/state/request"
	"beckon/state/store"
)

const longPlan = "# Move sessions to Redis\n\nThe store is **slow** since `a71c2`, and *nobody* reads it twice.\n\n" +
	"1. Add the client\n   - pool of 8\n   - time-out of 2 s\n2. Write both, read the old one\n\n> Not on a Friday.\n\n" +
	"```go\nfunc Open(url string) (*Store, error)\n```\n\n| step | days |\n|------|------|\n| 1 | 2 |\n"

// A plan and what the agent says are drawn as Markdown, and a plan counts as read only when all of
// it was on the screen.
func TestMarkdown(t *testing.T) {
	t.Parallel()
	c := startChrome(t)
	axe := findAxe(t)
	w := newWorld(t)
	w.start()
	w.agent("perm_yes").until("PermissionRequest")
	record := w.list()[0].SessionID
	st, at0 := store.Open(w.state), w.list()[0].UpdatedAt.UnixMilli()
	said := event.Event{Kind: event.Stop, Name: "Stop", SessionID: record, At: event.Millis(at0 + 50), Message: longPlan}
	if _, err := st.Fold(store.KeyOf(record), store.Update{Change: state.Change{At: said.At, Event: &said}}); err != nil {
		t.Fatal(err)
	}
	long := longPlan + strings.Repeat("\n- **one** more step\n", 90)
	o := w.asks(record, request.Plan, "ExitPlanMode", `{"tool_name":"ExitPlanMode","tool_input":{"plan":`+quote(long)+`,"allowedPrompts":[{"tool":"Bash","prompt":"run tests"}]}}`)
	p := c.open(t, w.page("session/"+record))
	for _, v := range []struct {
		name          string
		width, height int
	}{{"desk", 1280, 900}, {"phone", 360, 740}} {
		p.size(v.width, v.height, v.width < 500)
		p.await("the plan is drawn", at(o)+`.querySelectorAll(".block").length > 90`)
		p.await("the turn is drawn", `document.querySelectorAll(".line.turn .block").length === 9`)
		if got := get[string](p, at(o)+`.querySelector("[data-block=h]").textContent`); got != "Move sessions to Redis" {
			t.Errorf("the heading is %q", got)
		}
		for _, part := range []string{`[data-block=h]`, `b`, `code`, `i`, `[data-block=item][data-level="2"]`, `[data-block=quote]`, `[data-block=code]`} {
			if !get[bool](p, `Boolean(`+at(o)+`.querySelector('.words `+part+`') && document.querySelector('.line.turn .words `+part+`'))`) {
				t.Errorf("%s: no %s", v.name, part)
			}
		}
		if rest := get[string](p, at(o)+`.querySelector(".sheet").innerText`); !strings.Contains(rest, "allowedPrompts") || !strings.Contains(rest, "run tests") {
			t.Errorf("beside the plan it shows %q", rest)
		}
		if wide := get[int](p, `document.documentElement.scrollWidth`); wide > v.width {
			t.Errorf("%s: the page is %d wide", v.name, wide)
		}
		if dir := shots(); dir != "" {
			p.shot(filepath.Join(dir, v.name+"-markdown.png"))
		}
		p.check(axe, v.name)
	}
	for _, of := range []string{".said", "time"} { // the whole width is the conversation's
		if x := get[float64](p, `Math.max(...[...document.querySelectorAll(".line.turn `+of+`")].map((s) => s.getBoundingClientRect().left))`); x > 60 {
			t.Errorf("%s of a turn begins at %.0f of 360 pixels", of, x)
		}
	}
	p.must(p.eval(`document.querySelector(".line.turn .block").scrollIntoView()`, nil))
	if dir := shots(); dir != "" {
		p.shot(filepath.Join(dir, "phone-turn.png"))
	}
	p.settled(o)
	p.must(p.eval(at(o)+`.querySelector(".yes").click()`, nil))
	w.quiet("a plan that was not read", o)
}
