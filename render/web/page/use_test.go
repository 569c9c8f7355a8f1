package page

import (
	"encoding/json"
	"testing"
	"time"
)

const live = `document.documentElement.dataset.phase === "live"`

// The page works without a mouse, and remembers its settings.
func TestKeyboard(t *testing.T) {
	t.Parallel()
	c := startChrome(t)
	w := newWorld(t)
	w.start()
	furnish(w)
	p := c.open(t, w.page(""))
	p.await("all are there", `document.querySelectorAll("#groups .card").length === 9`)
	at := func(n int) string {
		return `document.activeElement === document.querySelectorAll("#groups .name")[` + string(rune('0'+n)) + `]`
	}
	p.press("j")
	p.await("j goes to the first", at(0))
	p.press("j", "j")
	p.await("and on", at(2))
	p.press("k")
	p.await("k goes back", at(1))
	p.press("n")
	p.await("n goes to the next that needs you", at(2)+` && document.activeElement.closest(".needs")`)
	title := get[string](p, `document.activeElement.textContent`)
	p.press(" ")
	p.await("Space opens its page", `location.pathname.startsWith("/session/") && !document.getElementById("session").hidden`)
	p.await("with its name", `document.querySelector("#session h1").textContent === `+jsString(title)+` && document.title.includes(`+jsString(title)+`)`)
	p.press("Escape")
	p.await("Escape goes back to its card", `location.pathname === "/" && `+at(2))

	p.press("/")
	p.await("/ goes to the filter", `document.activeElement.id === "filter"`)
	p.press("s", "h", "o", "p")
	p.await("what is typed is not a shortcut, and filters", `document.getElementById("filter").value === "shop" && document.querySelectorAll("#groups .card").length === 2`)
	p.await("how many are left is shown and said", `["sum", "live"].every(id => document.getElementById(id).textContent.includes("2 of 9 sessions shown"))`)
	p.press("Escape")
	p.await("Escape clears it", `document.querySelectorAll("#groups .card").length === 9`)
	p.must(p.eval(`document.activeElement.blur()`, nil))

	p.press("?")
	p.await("? helps", `document.getElementById("help").open`)
	p.press("Escape")
	p.await("and goes", `!document.getElementById("help").open`)
	p.press("t", "t")
	p.await("t makes it dark", `document.documentElement.dataset.theme === "dark"`)
	p.must(p.eval(`document.getElementById("group").value = "project", document.getElementById("group").dispatchEvent(new Event("change"))`, nil))
	p.do("Page.reload", map[string]any{})
	p.await("both are kept", `document.documentElement.dataset.theme === "dark" && document.querySelector(".group")?.dataset.group.startsWith("project-")`)

	// Keys can be switched off, for people whose voice or hand types them by accident.
	p.press("?")
	p.must(p.eval(`document.getElementById("keys").click(), document.querySelector("#help [data-close]").click()`, nil))
	p.press("j")
	if get[bool](p, `document.activeElement.classList.contains("name")`) {
		t.Error("a key that was switched off does something")
	}
}

// However the stream is split, the same events are read.
func TestParser(t *testing.T) {
	t.Parallel()
	c := startChrome(t)
	w := newWorld(t)
	w.start()
	p := c.open(t, w.page(""))
	got := get[[]string](p, `import("/assets/line.mjs").then(({parser}) => {
		const stream = "retry: 1000\n\n: heartbeat\n\nid: e-1\nevent: snapshot\ndata: {\"a\":1}\n\nid: e-2\r\nevent:x\r\ndata:one\r\ndata: two\r\n\r\nid: e-3\rdata: é…\r\revent: no data\n\ndata: last\n\n";
		const seen = new Set();
		for (let i = 0; i <= stream.length; i++) for (let j = i; j <= stream.length; j++) {
			const events = [], push = parser((e) => events.push(e));
			for (const piece of [stream.slice(0, i), stream.slice(i, j), stream.slice(j)]) push(piece);
			seen.add(JSON.stringify(events.map((e) => [e.type, e.data])));
		}
		return [...seen];
	})`)
	want := `[["snapshot","{\"a\":1}"],["x","one\ntwo"],["message","é…"],["message","last"]]`
	if len(got) != 1 || got[0] != want {
		t.Errorf("events %q\nwant %s", got, want)
	}
}

// A session is set aside for the chosen time.
func TestSetAside(t *testing.T) {
	t.Parallel()
	c := startChrome(t)
	w := newWorld(t)
	w.start()
	a := w.agent("hi").until("Stop")
	p := c.open(t, w.page(""))
	p.await("its card is there", `document.querySelector("#groups .card")`)
	p.must(p.eval(`document.querySelector("[data-act=backburner]").click()`, nil))
	p.must(p.eval(`[...document.querySelectorAll("#aside-choices button")].find(b => b.textContent === "For 2 hours").click()`, nil))
	p.await("it is aside", `document.querySelector("#groups .group").dataset.group === "backburner"`)
	p.await("that is said", `document.getElementById("toast").textContent === "Set aside for 2 hours"`)
	var page struct {
		Lines []struct {
			Action *struct {
				Kind  string
				Until int64
			}
		}
	}
	p.must(json.Unmarshal([]byte(get[string](p, `import("/assets/line.mjs").then((api) => api.journal(document.querySelector(".card").dataset.session, 0)).then(JSON.stringify)`)), &page))
	last := page.Lines[len(page.Lines)-1].Action
	if last == nil || last.Kind != "backburner" {
		t.Fatalf("the journal ends with %+v", last)
	}
	if d := time.Until(time.UnixMilli(last.Until)); d < 119*time.Minute || d > 2*time.Hour {
		t.Errorf("it is set aside for %v", d)
	}
	a.rest()
	for _, of := range []struct{ filter, cards string }{{"nosuch", "0"}, {"aside", "1"}} {
		p.must(p.eval(`document.getElementById("filter").value = "`+of.filter+`", document.getElementById("filter").dispatchEvent(new Event("input"))`, nil))
		p.await("the filter "+of.filter, `document.querySelectorAll("#groups .card").length === `+of.cards)
	}
	p.press("Escape", "z")
	p.await("it is back", `document.querySelector("#groups .group").dataset.group !== "backburner"`)
	p.expectOutage() // the console reports the refusal
	p.press("z")
	p.await("there is no more", `document.getElementById("toast").textContent === "there is nothing to undo"`)
}

// A label is put on a session on its page, and found, shown and grouped by on the board.
func TestLabel(t *testing.T) {
	t.Parallel()
	c := startChrome(t)
	w := newWorld(t)
	w.start()
	a := w.agent("hi").until("Stop")
	defer a.rest()
	p := c.open(t, w.page(""))
	p.await("its card is there", `document.querySelector("#groups .card")`)
	p.must(p.eval(`document.querySelector("#groups a.name").click()`, nil))
	p.await("its page is open", `[...document.querySelectorAll("#session button")].some(b => b.textContent === "Label" && !b.hidden)`)
	p.must(p.eval(`[...document.querySelectorAll("#session button")].find(b => b.textContent === "Label").click()`, nil))
	p.must(p.eval(`document.querySelector("#aside-choices input").value = " Shop urgent "`, nil))
	p.must(p.eval(`document.querySelector("#aside-choices button").click()`, nil))
	p.await("that is said", `document.getElementById("toast").textContent === "Labelled Shop urgent"`)
	p.press("Escape")
	p.await("the card shows it", `document.querySelector("#groups .badge.label")?.textContent === "#Shop urgent"`)
	for _, of := range []struct{ filter, cards string }{{"label:urgent", "1"}, {"!label:urgent", "0"}, {"label:", "1"}, {"!#shop", "0"}} {
		p.must(p.eval(`document.getElementById("filter").value = "`+of.filter+`", document.getElementById("filter").dispatchEvent(new Event("input"))`, nil))
		p.await("the filter "+of.filter, `document.querySelectorAll("#groups .card").length === `+of.cards)
	}
	p.press("Escape")
	p.must(p.eval(`document.getElementById("group").value = "label", document.getElementById("group").dispatchEvent(new Event("change"))`, nil))
	p.await("it is a heading", `document.querySelector("#groups .group h2")?.textContent.startsWith("Shop urgent")`)
}

// A session's page follows the session to its end, and survives a wrong address.
func TestSessionPage(t *testing.T) {
	t.Parallel()
	c := startChrome(t)
	w := newWorld(t)
	w.start()
	a := w.agent("ask").until("UserPromptSubmit")
	w.report(w.list()[0].SessionID, 62, 1.24)
	p := c.open(t, w.page("session/"+w.list()[0].SeatID))
	p.await("what was asked is there", `document.querySelectorAll(".line.turn").length === 1`)
	p.await("facts are there", `["62% used", "$1.24"].every(f => document.querySelector("#session .facts").textContent.includes(f))`)
	p.await("badges are there", `["context 62%", "$1.24"].every(b => document.querySelector("#session .badges").textContent.includes(b))`)
	a.until("PreToolUse")
	p.await("the question comes by itself", `document.querySelector("#session .options")?.childElementCount === 2 && document.querySelectorAll(".line.turn").length === 2`)
	p.must(p.eval(`window.kept = document.querySelectorAll(".line.turn")[1], document.getElementById("every").click()`, nil))
	p.await("every event is listed", `[...document.querySelectorAll(".line b")].some(b => b.textContent === "PreToolUse")`)
	if !get[bool](p, `document.contains(kept)`) {
		t.Error("lines that were there are made anew")
	}
	a.rest()
	a.kill()
	p.await("its end is told", `document.getElementById("session").textContent.includes("This session is over.")`)
	p.expectOutage()
	p.do("Page.navigate", map[string]any{"url": w.url() + "session/%00nothing"})
	p.await("a wrong address is told", `document.getElementById("session").textContent.includes("There is no such session.")`)
}

// Opening the page of a session marks it as seen, as `beckon show` does; what ends while the
// page is open is new.
func TestOpeningIsSeeing(t *testing.T) {
	t.Parallel()
	c := startChrome(t)
	w := newWorld(t)
	w.start()
	a := w.agent("hi").until("SessionStart")
	turn := a.steps
	a.until("Stop")
	p := c.open(t, w.page(""))
	p.await("it is new", `document.querySelector("#groups .group")?.dataset.group === "done"`)
	p.press("j", " ")
	p.await("it is seen", `document.querySelector("#session .card")?.classList.contains("unseen") === false && document.querySelector("#session .fresh").hidden`)
	if r := w.list()[0]; r.Unseen {
		t.Errorf("list says %+v", r)
	}
	a.steps = turn
	a.until("Stop")
	p.await("its next turn is new", `!document.querySelector("#session .fresh").hidden`)
	p.press("Escape")
	p.await("on the board too", `document.querySelector("#groups .group")?.dataset.group === "done"`)
}
