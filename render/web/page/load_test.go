package page

import (
	"os"
	"slices"
	"strings"
	"testing"
)

// On a slow phone cards are readable in the first frame that has them, and nothing moves under the
// finger while the rest arrives. The page at rest animates nothing, which would cost power all day.
func TestLoading(t *testing.T) {
	t.Parallel()
	c := startChrome(t)
	w := newWorld(t)
	w.start()
	furnish(w)
	p := c.open(t, "about:blank")
	p.size(390, 844, true)
	p.do("Network.enable", nil)
	p.do("Network.emulateNetworkConditions", map[string]any{"offline": false, "latency": 150, "downloadThroughput": 200_000, "uploadThroughput": 94_000})
	p.do("Page.addScriptToEvaluateOnNewDocument", map[string]any{"source": `window.shift = window.first = 0;
		new PerformanceObserver((l) => { for (const e of l.getEntries()) if (!e.hadRecentInput) shift += e.value; }).observe({type: "layout-shift", buffered: true});
		const look = () => {
			const card = document.querySelector("#groups .card");
			if (card) [first, clear] = [performance.now(), getComputedStyle(card).opacity];
			else requestAnimationFrame(look);
		};
		window.clear = ""; look();`})
	p.do("Page.navigate", map[string]any{"url": w.page("")})
	p.await("all is there", `first && document.querySelectorAll("#groups .card").length === 9 && document.querySelectorAll("#hooks dd").length > 0 && document.querySelectorAll(".days td").length > 0`)
	p.await("and drawn", `new Promise((r) => requestAnimationFrame(() => requestAnimationFrame(() => r(true))))`)
	got := get[struct {
		Shift, First float64
		Clear        string
		Bytes, Moves int
	}](p, `({ Shift: shift, First: first, Clear: clear, Moves: document.getAnimations().length,
		Bytes: performance.getEntriesByType("resource").reduce((n, e) => n + e.transferSize, performance.getEntriesByType("navigation")[0].transferSize) })`)
	if early := get[bool](p, `((of) => of("/api/login").startTime < of("/main.mjs").responseEnd)((end) => performance.getEntriesByType("resource").find((e) => e.name.includes(end)))`); !early {
		t.Error("it signed in only once all modules were there")
	}
	// A browser has six requests to a server at a time, and each takes a slow phone's round trip.
	asked := get[[]string](p, `performance.getEntriesByType("resource").filter((e) => e.startTime < first).map((e) => new URL(e.name).pathname)`)
	if len(asked) > 18 || slices.Contains(asked, "/api/proof") {
		t.Errorf("%d requests before the first card: %q", len(asked), asked)
	}
	t.Logf("the first card after %.0f ms, %d bytes", got.First, got.Bytes)
	if got.Shift >= 0.1 || got.Clear != "1" || got.Moves != 0 {
		t.Errorf("layout shift %.3f, opacity of the first card %s, %d animations", got.Shift, got.Clear, got.Moves)
	}
}

// Who comes back loads the document and asks for sessions; the rest is kept, until the program is another.
func TestLoadingAgain(t *testing.T) {
	t.Parallel()
	c := startChrome(t)
	w := newWorld(t)
	w.start()
	furnish(w)
	p := c.open(t, w.page(""))
	p.await("all is there", `document.querySelectorAll("#groups .card").length === 9`)
	p.must(p.eval(`window.old = true, location.href = "/?again"`, nil))
	p.await("it is there again", `!window.old && document.querySelectorAll("#groups .card").length === 9`)
	asked := get[[]string](p, `performance.getEntriesByType("resource").filter((e) => e.transferSize && e.name.includes("/assets/")).map((e) => e.name)`)
	if len(asked) > 0 {
		t.Errorf("it asked again for %q", asked)
	}
	t.Logf("the line was asked for after %.0f ms", get[float64](p, `performance.getEntriesByType("resource").find((e) => e.name.includes("/api/proof")).startTime`))
}

// A module that the document does not name is requested only after those that import it have come.
func TestPreload(t *testing.T) {
	index, err := os.ReadFile("assets/index.html")
	if err != nil {
		t.Fatal(err)
	}
	every(t, func(name, _ string) {
		if strings.HasSuffix(name, ".mjs") && !strings.Contains(string(index), `"/assets/`+name+`"`) {
			t.Errorf("the document does not name %s", name)
		}
	})
}
