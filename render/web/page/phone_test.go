package page

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"
)

// crowd creates sixty sessions in a dozen repositories with long names: five that ask, twenty
// at work, fifteen that are done and twenty that have just begun.
func (w *world) crowd() {
	w.t.Helper()
	projects := []string{"shop", "billing-and-invoices-service", "website", "customer-portal-frontend", "api", "data-warehouse-ingestion-jobs",
		"mobile", "docs", "infrastructure-as-code", "search", "auth", "recommendation-engine-experiments"}
	branches := []string{"main", "feature/checkout-with-saved-payment-methods", "fix/4711-totals-are-rounded-twice-on-refunds", "release/2026-11", "chore/upgrade-everything-to-the-newest-release"}
	for i := range 60 {
		dir := filepath.Join(w.home, "src", fmt.Sprint(i%5), projects[i%len(projects)])
		if err := os.MkdirAll(filepath.Join(dir, ".git"), 0o755); err != nil {
			w.t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, ".git", "HEAD"), []byte("ref: refs/heads/"+branches[i%5]+"\n"), 0o644); err != nil {
			w.t.Fatal(err)
		}
		hook := func(kind string, more map[string]any) {
			p := map[string]any{"session_id": fmt.Sprintf("crowd-%02d", i), "cwd": dir, "hook_event_name": kind}
			for k, v := range more {
				p[k] = v
			}
			w.post(p)
		}
		hook("SessionStart", map[string]any{"source": "startup"})
		if i >= 40 {
			continue
		}
		hook("UserPromptSubmit", map[string]any{"prompt": fmt.Sprintf("task number %d: make the totals right, and say what was wrong with them", i)})
		call := map[string]any{"tool_name": "Bash", "tool_use_id": "b", "tool_input": map[string]any{"command": fmt.Sprintf("make install-%d PREFIX=/usr/local", i)}}
		switch {
		case i < 5:
			hook("PreToolUse", call)
			hook("PermissionRequest", call)
		case i < 25:
			hook("PreToolUse", call)
		default:
			hook("Stop", map[string]any{"last_assistant_message": "The totals are right now."})
		}
	}
}

// Sixty sessions fit a phone: a row each, those that ask on the first screen, names that keep
// their ends, and nothing beyond the edge of the screen.
func TestSixtyOnAPhone(t *testing.T) {
	t.Parallel()
	c := startChrome(t)
	axe := findAxe(t)
	w := newWorld(t)
	w.start()
	w.crowd()
	p := c.open(t, "about:blank")
	p.size(390, 844, true)
	for _, scheme := range []string{"light", "dark"} {
		p.scheme(scheme)
		p.do("Page.navigate", map[string]any{"url": w.page("")})
		p.await("all are rows", `document.querySelectorAll("#groups.rows .card").length === 60 && document.getElementById("view").value === "rows"`)
		got := get[struct {
			Order                            []string
			Asking, Shown, Wide, Tall, Least int
			Cut                              []string
		}](p, `(() => {
			const box = (n) => n.getBoundingClientRect(), all = [...document.querySelectorAll("#groups .card")];
			return {
				Order: [...document.querySelectorAll(".group")].map((g) => g.dataset.group),
				Asking: all.filter((c) => c.matches(".needs") && box(c).bottom <= innerHeight).length,
				Shown: all.filter((c) => box(c).bottom <= innerHeight).length,
				Wide: document.documentElement.scrollWidth,
				Tall: Math.round(box(document.getElementById("groups")).height),
				Least: Math.min(...all.map((c) => box(c).height)),
				Cut: [...document.querySelectorAll("#groups .place")].filter((place) => [...place.querySelectorAll(".mid")].some((m) =>
					box(m.lastChild).right > box(place).right + 1 || m.childElementCount > 1 && box(m.lastChild).right > box(m).right + 1)).map((p) => p.textContent),
			};
		})()`)
		if fmt.Sprint(got.Order) != "[needs_you working done idle]" || got.Asking != 5 || got.Shown < 20 || got.Wide > 390 || got.Tall > 3*844 || got.Least < 24 || len(got.Cut) > 0 {
			t.Errorf("%s: %+v", scheme, got)
		}
		t.Logf("%d of 60 rows are on the first screen, the list is %d screens tall", got.Shown, (got.Tall+843)/844)
		if dir := shots(); dir != "" {
			p.shot(filepath.Join(dir, "phone-60-"+scheme+".png"))
		}
		p.check(axe, "rows, "+scheme)
	}
	p.must(p.eval(`document.querySelector("#groups .needs .name").click()`, nil))
	p.await("a row opens its page", `location.pathname.startsWith("/session/") && document.querySelector("#session .state").textContent === "permission"`)
	p.must(p.eval(`document.querySelector(".back").click()`, nil))
	p.view("cards")
	p.await("who wants cards has cards", `!document.querySelector("#groups.rows")`)
	p.do("Page.reload", map[string]any{})
	p.await("and keeps them", `document.querySelectorAll("#groups .card").length === 60 && !document.querySelector("#groups.rows")`)
}

// The heading counts the sessions that pass the filter; the tab's title counts all. A failed
// turn is not called complete.
func TestHeadingFollowsFilter(t *testing.T) {
	t.Parallel()
	c := startChrome(t)
	w := newWorld(t)
	w.start()
	furnish(w)
	p := c.open(t, w.page(""))
	p.await("all are counted", `document.getElementById("tally").textContent === "4 sessions need you" && document.title.startsWith("(4) ")`)
	filter := func(words string) {
		p.must(p.eval(fmt.Sprintf(`document.getElementById("filter").value = %q, document.getElementById("filter").dispatchEvent(new Event("input"))`, words), nil))
	}
	filter("shop")
	p.await("those of the shop are counted", `document.getElementById("tally").textContent === "2 of these need you" && document.getElementById("sum").textContent.includes("2 of 9 sessions shown") && document.title.startsWith("(4) ")`)
	filter("mobile")
	p.await("none of mobile needs you", `document.getElementById("tally").textContent === "None of these needs you"`)
	filter("website")
	p.await("a failed turn is failed", `document.querySelector("#groups .card").dataset.task === "failed" && document.querySelector("#groups .card .said").textContent === "failed"`)
	lit := `[...document.querySelectorAll("#groups .steps i")].filter((i) => getComputedStyle(i).backgroundColor === getComputedStyle(document.querySelector("#groups .steps i")).backgroundColor).length`
	if n := get[int](p, lit); n != 2 {
		t.Errorf("%d bars of a failed turn are lit", n)
	}
	filter("complete")
	p.await("nor is it found as complete", `![...document.querySelectorAll("#groups .card")].some((c) => c.dataset.state === "failed")`)
}
