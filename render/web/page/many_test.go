package page

import (
	"fmt"
	"testing"
	"time"
)

// many is the number of sessions with which a board must stay usable.
const many = 500

// slowest is how long the page may not react to its user, in milliseconds: far more than it
// takes on a busy machine, far less than a user tolerates.
const slowest = 5000

// work is how many changes of the document an event may cause besides ages.
const work = 40

// With 500 sessions the page shows each, reacts to keys and filter, and a change of one
// session touches only its card.
func TestManySessions(t *testing.T) {
	c := startChrome(t)
	w := newWorld(t)
	w.start()
	hook := func(i int, kind string, more map[string]any) {
		p := map[string]any{"session_id": fmt.Sprintf("many-%03d", i), "cwd": fmt.Sprintf("/home/you/p%02d", i%20), "hook_event_name": kind}
		for k, v := range more {
			p[k] = v
		}
		w.post(p)
	}
	for i := range many {
		hook(i, "SessionStart", map[string]any{"source": "startup"})
		hook(i, "UserPromptSubmit", map[string]any{"prompt": fmt.Sprintf("prompt number %d", i)})
	}
	p := c.open(t, "about:blank")
	p.do("Page.addScriptToEvaluateOnNewDocument", map[string]any{"source": `
		window.tasks = [];
		new PerformanceObserver(l => tasks.push(...l.getEntries().map(e => e.duration))).observe({type: "longtask", buffered: true});`})
	p.do("Page.navigate", map[string]any{"url": w.page("")})
	began := time.Now()
	p.await("all are shown", fmt.Sprintf(`document.querySelectorAll("#groups .card").length === %d`, many))
	t.Logf("shown after %v", time.Since(began).Round(time.Millisecond))
	p.await("turns of those in view are there", `document.querySelectorAll("#groups .card .turns").length > 0`)

	// One card changes: no other is created, moved or removed.
	p.must(p.eval(`tasks.length = 0; window.moved = new Set();
		new MutationObserver(l => { for (const m of l) for (const n of [...m.addedNodes, ...m.removedNodes])
			if (n.classList?.contains("card")) moved.add(n.dataset.session); })
			.observe(document.getElementById("groups"), {childList: true, subtree: true})`, nil))
	hook(250, "PreToolUse", map[string]any{"tool_name": "AskUserQuestion", "tool_use_id": "t", "tool_input": map[string]any{
		"questions": []any{map[string]any{"question": "Which?", "options": []any{map[string]any{"label": "this"}}}}}})
	p.await("it needs you", `document.querySelector(".card.needs")?.dataset.session === "many-250"`)
	if got := get[[]string](p, `[...moved]`); len(got) != 1 || got[0] != "many-250" {
		t.Errorf("cards moved: %q", got)
	}

	p.must(p.eval(`window.changes = 0; new MutationObserver(l => { for (const m of l) if (!m.target.parentElement?.closest("time") && m.target.tagName !== "TIME") changes++; })
		.observe(document.body, {childList: true, subtree: true, characterData: true, attributes: true})`, nil))
	for i := range 100 {
		hook(i, "PreToolUse", map[string]any{"tool_name": "Bash", "tool_use_id": "b", "tool_input": map[string]any{"command": fmt.Sprintf("make part%d", i)}})
	}
	p.await("the last is shown", `document.body.textContent.includes("make part99")`)
	if n := get[int](p, `changes`); n > 100*work {
		t.Errorf("%d changes of the document for 100 events", n)
	} else {
		t.Logf("%d changes of the document for 100 events", n)
	}
	p.press("/")
	p.await("the filter has the focus", `document.activeElement.id === "filter"`)
	p.press("p", "a", "r", "t", "4", "2")
	p.await("one is left", `document.querySelectorAll("#groups .card").length === 1`)
	p.press("Escape")
	p.await("all are back", fmt.Sprintf(`document.querySelectorAll("#groups .card").length === %d`, many))
	tasks := get[[]float64](p, `tasks`)
	longest := 0.0
	for _, ms := range tasks {
		longest = max(longest, ms)
	}
	t.Logf("%d tasks above 50 ms, the longest %.0f ms", len(tasks), longest)
	if longest > slowest {
		t.Errorf("the page was deaf for %.0f ms", longest)
	}
}
