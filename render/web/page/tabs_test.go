package page

import (
	"fmt"
	"testing"
)

// hides makes a page a background tab until shown() is called.
const hides = `
	Object.defineProperty(document, "hidden", { get: () => hides, configurable: true });
	window.hides = true;
	window.show = (yes) => { hides = !yes; document.dispatchEvent(new Event("visibilitychange")); };
	window.shown = () => show(true);`

// A browser opens six connections to one server. Pages in background tabs do not use them all
// up, and are current again when they are shown.
func TestManyTabs(t *testing.T) {
	t.Parallel()
	c := startChrome(t)
	w := newWorld(t)
	w.start()
	var tabs []*tab
	for i := range 9 {
		p := c.open(t, "about:blank")
		p.do("Page.addScriptToEvaluateOnNewDocument", map[string]any{"source": hides})
		p.do("Page.navigate", map[string]any{"url": w.page("")})
		p.await(fmt.Sprintf("tab %d is live", i), `document.documentElement.dataset.phase === "live"`)
		tabs = append(tabs, p)
	}
	first, last := tabs[0], tabs[8]
	first.await("the first rests", `document.documentElement.dataset.phase === "resting"`)
	last.await("few have a line", `import("/assets/line.mjs").then((api) => api.hooks()).then((s) => s.sse_clients <= 3)`)
	first.must(first.eval(`shown()`, nil))
	first.await("who is looked at is live", `document.documentElement.dataset.phase === "live"`)
	tabs[6].await("it makes room", `document.documentElement.dataset.phase !== "live"`)
	for _, p := range tabs[7:] {
		p.do("Page.navigate", map[string]any{"url": "about:blank"})
	}
	tabs[6].await("who goes makes room", `document.documentElement.dataset.phase === "live"`)

	// A session that was looked at while others arrived keeps its line when its page is left.
	first.must(first.eval(`window.heard = 0, new BroadcastChannel("beckon.tabs").onmessage = () => heard++, 0`, nil))
	tabs[2].must(tabs[2].eval(`shown()`, nil))
	tabs[3].must(tabs[3].eval(`shown()`, nil))
	first.await("it heard of both", `heard === 2`)
	first.must(first.eval(`show(false)`, nil))
	tabs[4].must(tabs[4].eval(`shown()`, nil))
	first.await("it heard of the third", `heard === 3`)
	if ph := get[string](first, `new Promise((r) => setTimeout(() => r(document.documentElement.dataset.phase), 600))`); ph != "live" {
		t.Errorf("who was just left is %s", ph)
	}
}
