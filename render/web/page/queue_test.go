package page

import (
	"fmt"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"beckon/state/request"
)

// One request is open at a time, so that many do not bury the board, and the next one opens when
// it is answered. On a phone a finger goes from one to the other.
func TestQueue(t *testing.T) {
	t.Parallel()
	c := startChrome(t)
	axe := findAxe(t)
	w := newWorld(t)
	w.start()
	w.agent("perm_yes").until("PermissionRequest")
	record := w.list()[0].SessionID
	var all []request.Request
	for range 5 {
		all = append(all, w.asks(record, request.Permission, "Edit", edit(t)))
		time.Sleep(2 * time.Millisecond) // they are shown in the order of their times
	}
	p := c.open(t, w.page(""))
	p.size(1280, 900, false)
	p.await("they are there", `document.querySelectorAll("#asks .offer").length === 5`)
	open := func() string {
		return get[string](p, `[...document.querySelectorAll("#asks .offer")].filter((o) => o.querySelector(".answer").checkVisibility()).map((o) => o.dataset.offer).join()`)
	}
	place := func(want string) {
		t.Helper()
		p.await("it says "+want, `document.querySelector(".queue span").textContent === `+quote(want))
	}
	if got := open(); got != all[0].ID {
		t.Errorf("open: %q, want the oldest, %q", got, all[0].ID)
	}
	place("1 of 5 requests")
	if y := get[float64](p, `document.getElementById("groups").getBoundingClientRect().top`); y > 900 {
		t.Errorf("the board begins at %.0f of 900 pixels", y)
	}
	p.settled(all[0])
	if dir := shots(); dir != "" {
		p.shot(filepath.Join(dir, "queue.png"))
	}
	p.check(axe, "a queue")

	p.must(p.eval(at(all[2])+`.querySelector(".more").click()`, nil))
	place("3 of 5 requests")
	p.settled(all[2])
	p.push(all[2], "Allow")
	if a := w.answered(all[2]); a.Word != request.Allow {
		t.Errorf("allow: %+v", a)
	}
	place("3 of 4 requests")
	if got := open(); got != all[3].ID {
		t.Errorf("after an answer %q is open, want the next, %q", got, all[3].ID)
	}

	p.size(390, 844, true)
	p.do("Page.reload", nil)
	place("1 of 4 requests")
	p.must(p.eval(`document.getElementById("view").value = "rows", document.getElementById("view").dispatchEvent(new Event("change"))`, nil))
	p.settled(all[0])
	if dir := shots(); dir != "" {
		p.shot(filepath.Join(dir, "queue-phone.png"))
	}
	p.check(axe, "a queue on a phone")
	swipe := func(from, to int) {
		y := get[float64](p, `document.querySelector("#asks .sheet").getBoundingClientRect().top`) + 10
		p.do("Input.dispatchTouchEvent", map[string]any{"type": "touchStart", "touchPoints": []any{map[string]any{"x": from, "y": y}}})
		p.do("Input.dispatchTouchEvent", map[string]any{"type": "touchMove", "touchPoints": []any{map[string]any{"x": to, "y": y}}})
		p.do("Input.dispatchTouchEvent", map[string]any{"type": "touchEnd", "touchPoints": []any{}})
	}
	swipe(300, 100)
	place("2 of 4 requests")
	if got := open(); got != all[1].ID {
		t.Errorf("after a swipe %q is open, want %q", got, all[1].ID)
	}
	p.press("y", "d") // on the board they mean nothing
	w.quiet("a key on the board", all[1])
	p.settled(all[1])
	p.push(all[1], "Deny")
	if a := w.answered(all[1]); a.Word != request.Deny {
		t.Errorf("deny: %+v", a)
	}
	place("2 of 3 requests")
}

// A diff has the numbers of its lines, of the old file for a line that goes, and marks what differs
// within a line.
func TestDiff(t *testing.T) {
	t.Parallel()
	c := startChrome(t)
	w := newWorld(t)
	w.start()
	w.agent("perm_yes").until("PermissionRequest")
	o := w.asks(w.list()[0].SessionID, request.Permission, "Edit", edit(t))
	p := c.open(t, w.page(""))
	p.await("it is drawn", at(o))
	got := get[[]string](p, `[...`+at(o)+`.querySelectorAll("[data-at]")].map((l) => l.dataset.at + l.textContent[0] + ([...l.querySelectorAll("mark")].map((m) => m.textContent).join("|")))`)
	want := []string{"3 ", "4 ", "5 ", "6-", "6+ * l.Count", "7 ", "8 ", "9 "}
	if !slices.Equal(got, want) {
		t.Errorf("lines are %q, want %q", got, want)
	}
	if styled := get[string](p, fmt.Sprintf(`getComputedStyle(%s.querySelector("[data-at]"), "::before").content`, at(o))); styled != `"3"` {
		t.Errorf("the number that is drawn is %s", styled)
	}
}
