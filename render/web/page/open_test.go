package page

import (
	"fmt"
	"slices"
	"testing"
)

// The focus survives its button: after marking a session as seen it is on the session's card.
func TestFocusStays(t *testing.T) {
	t.Parallel()
	c := startChrome(t)
	w := newWorld(t)
	w.start()
	w.agent("hi").until("Stop")
	p := c.open(t, w.page(""))
	p.await("it is new", `document.querySelector("#groups .group")?.dataset.group === "done"`)
	p.must(p.eval(`document.querySelector("[data-act=seen]").focus()`, nil))
	p.press("Enter")
	p.await("it is seen", `document.querySelector("#groups .group")?.dataset.group === "idle"`)
	p.await("that is said", `document.getElementById("live").textContent.includes("Marked as seen")`)
	p.await("the card has the focus", `document.activeElement?.closest(".card") !== null && !document.activeElement.hidden`)

	// A key that is held down acts once.
	p.press("t")
	theme := get[string](p, `document.documentElement.dataset.theme`)
	p.must(p.eval(`document.dispatchEvent(new KeyboardEvent("keydown", { key: "t", repeat: true, bubbles: true }))`, nil))
	if now := get[string](p, `document.documentElement.dataset.theme`); now != theme {
		t.Errorf("a held key went on to %q", now)
	}
}

// The focus of a card that disappears moves to the card in its place.
func TestFocusOfACardThatGoes(t *testing.T) {
	t.Parallel()
	c := startChrome(t)
	w := newWorld(t)
	w.start()
	w.agent("hi").until("Stop")
	first := w.agent("perm_yes").until("PermissionRequest")
	p := c.open(t, w.page(""))
	p.await("both are there", `document.querySelectorAll("#groups .card").length === 2`)
	p.press("j")
	p.await("the first has the focus", `document.activeElement.closest(".needs")`)
	first.kill()
	p.await("it is gone", `document.querySelectorAll("#groups .card").length === 1`)
	p.await("the other has the focus", `document.activeElement.classList.contains("name")`)
}

// stubbed opens a session's page with responses that arrive when the test wants.
const stubbed = `(async () => {
	const { SessionPage } = await import("/assets/pages.mjs");
	const row = { session_id: "s", seat_id: "x", state: "ended", since: "2026-01-01T00:00:00Z", updated_at: "2026-01-01T00:00:00Z", created_at: "2026-01-01T00:00:00Z", source: "hook", confidence: "high" };
	const line = (seq) => ({ seq, at: "2026-01-01T00:00:00Z", kind: "event", event: { kind: "Stop" } });
	const asked = [], faults = [];
	const soon = () => new Promise((r) => setTimeout(r, 20));
	localStorage.removeItem("beckon.session"); // nothing is asked before what is
	window.fetch = (url) => new Promise((r) => /sessions\/[sx]/.test(url) && asked.push({ url, say: (v) => { r(Response.json(v)); return soon(); } }));
	const page = new SessionPage(document.createElement("div"), { act() {}, met() {}, fail: (e) => faults.push(e.message) });
	page.every.checked = true;
	const lines = (from, n) => ({ session_id: "s", lines: Array.from({ length: n }, (_, i) => line(from + i)) });
	%s
})()`

// blankWorld is a page without sessions.
func blankWorld(t *testing.T) *tab {
	c := startChrome(t)
	w := newWorld(t)
	w.start()
	p := c.open(t, w.page(""))
	p.await("it is live", live)
	return p
}

// A page that was left and opened again while a response was on its way shows that session,
// without an error.
func TestOpenedAgain(t *testing.T) {
	t.Parallel()
	p := blankWorld(t)
	got := get[[]any](p, fmt.Sprintf(stubbed, `
		page.open("x");
		await asked.shift().say(row);
		page.close();
		page.open("x");
		await asked.shift().say(lines(1, 3)); // of the visit before
		await asked.shift().say(row);
		await asked.shift().say(lines(1, 5));
		return [faults.join(), page.nodes.size, page.heading.textContent];`))
	if got[0] != "" || got[1] != 5.0 || got[2] != "Session" {
		t.Errorf("faults, lines and title: %q", got)
	}
}

// A page that stays open for days does not grow: lines that are no longer shown are dropped.
func TestPageDoesNotGrow(t *testing.T) {
	t.Parallel()
	p := blankWorld(t)
	got := get[[]int](p, fmt.Sprintf(stubbed, `
		page.open("x");
		await asked.shift().say(row);
		await asked.shift().say(lines(1, 500));
		for (let from = 501; from <= 2501; from += 1000) {
			page.refresh();
			await soon();
			await asked.shift().say(row);
			await asked.shift().say(lines(from, 1000));
		}
		return [page.nodes.size, page.lines.childElementCount];`))
	if got[0] != 1000 || got[1] != 1000 {
		t.Errorf("%d lines are kept, %d shown", got[0], got[1])
	}
}

// The page of a session that was opened in a background tab counts as seen once the tab is
// shown.
func TestSeenWhenShown(t *testing.T) {
	t.Parallel()
	c := startChrome(t)
	w := newWorld(t)
	w.start()
	w.agent("hi").until("Stop")
	p := c.open(t, "about:blank")
	p.do("Page.addScriptToEvaluateOnNewDocument", map[string]any{"source": hides})
	p.do("Page.navigate", map[string]any{"url": w.page("session/" + w.list()[0].SessionID)})
	p.await("it is there", live+` && document.querySelectorAll(".line").length > 0`)
	if !w.list()[0].Unseen {
		t.Fatal("it counts as seen though nobody looked")
	}
	p.must(p.eval(`shown()`, nil))
	p.await("it is seen", `document.querySelector("#session .fresh").hidden`)
}

// What is known of a session goes with it when it is cleared, and all of it with a snapshot: what was
// missed is not told.
func TestTurnsGo(t *testing.T) {
	t.Parallel()
	p := blankWorld(t)
	got := get[[]string](p, `import("/assets/state.mjs").then(({ initial, reduce }) => {
		const row = (session_id, seat_id) => ({ session_id, seat_id });
		const turns = (session) => ({ type: "turns", session, turns: [{ turn_id: session }] });
		const snapshot = (...sessions) => ({ type: "snapshot", data: { sessions, generated_at: "" }, now: 0 });
		const left = (...events) => [...events.reduce(reduce, initial()).turns.keys()].join();
		const begin = [snapshot(row("a", "x"), row("b", "y")), turns("a"), turns("b")];
		return [left(...begin), left(...begin, { type: "session_updated", data: { session: row("c", "x") } }), left(...begin, snapshot(row("b", "y")))];
	})`)
	if want := []string{"a,b", "b", ""}; !slices.Equal(got, want) {
		t.Errorf("turns are kept of %q, want %q", got, want)
	}
}
