package page

import (
	"encoding/json"
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"beckon/event"
	"beckon/render"
	"beckon/state"
	"beckon/state/store"
)

// happened is an event that a session's hook reported a while ago.
type happened struct {
	ago time.Duration
	event.Event
}

// past creates a session that did all that, as its hooks would have.
func (w *world) past(session, project, branch string, all ...happened) {
	w.t.Helper()
	st := store.Open(w.state)
	now := time.Now()
	for _, h := range all {
		e := h.Event
		e.At, e.SessionID, e.Agent, e.Name, e.Cwd = event.MillisOf(now.Add(-h.ago)), session, event.ClaudeCode, string(e.Kind), "/home/you/src/"+project
		e.Origin = &event.Origin{Project: e.Cwd, Git: event.Git{Branch: branch, Repo: project}}
		if _, err := st.Fold(store.KeyOf(session), store.Update{Change: state.Change{At: e.At, Event: &e}}); err != nil {
			w.t.Fatal(err)
		}
	}
}

// shift creates some hours of work, which ended with a break: six sessions, of which one asks,
// one failed and one is over.
func (w *world) shift(unit time.Duration) {
	at := func(n float64, e event.Event) happened { return happened{time.Duration(n * float64(unit)), e} }
	start := func(n float64) happened {
		return at(n, event.Event{Kind: event.SessionStart, Source: "startup"})
	}
	prompt := func(n float64, words string) happened {
		return at(n, event.Event{Kind: event.UserPromptSubmit, Prompt: words})
	}
	call := event.Tool{Name: "Bash", UseID: "t", Hash: "0123456789abcdef", Summary: "Bash: make install PREFIX=/usr/local"}
	tool := func(n float64, kind event.Kind) happened { return at(n, event.Event{Kind: kind, Tool: call}) }
	stop := func(n float64) happened { return at(n, event.Event{Kind: event.Stop, Message: "Done."}) }
	w.past("day-shop", "shop", "fix/4711-totals-are-rounded-twice", start(5), prompt(5, "round the totals once"), stop(3.8), prompt(3.5, "and the refunds"), tool(2.6, event.PreToolUse), tool(2.6, event.PermissionRequest), tool(2.1, event.PostToolUse), stop(1.2))
	w.past("day-api", "api", "main", start(4.6), prompt(4.6, "rename the customer endpoints"), stop(3), prompt(2.4, "now the clients"), at(1.4, event.Event{Kind: event.StopFailure, Reason: "server_error"}))
	w.past("day-docs", "docs", "main", start(4), prompt(3.9, "tidy up the table of contents"), stop(3.3), at(0.9, event.Event{Kind: event.SessionEnd, Reason: "prompt_input_exit"}))
	w.past("day-billing", "billing-and-invoices-service", "feature/invoices-that-look-right-on-paper", start(3.4), prompt(3.3, "make invoices look right on paper"), tool(0.8, event.PreToolUse), tool(0.8, event.PermissionRequest))
	w.past("day-search", "search", "main", start(2.9), prompt(2.9, "find out why the index is rebuilt twice"))
	w.past("day-auth", "auth", "release/2026-11", start(2.2), prompt(2, "log in with passkeys"), stop(0.6))
}

// The page's timeline has the lanes of `beckon stats --timeline`, each with its spans in their
// places.
func TestTimeline(t *testing.T) {
	t.Parallel()
	c := startChrome(t)
	axe := findAxe(t)
	w := newWorld(t)
	w.shift(time.Minute) // on one day, unless it has just begun
	w.start()
	timeline := func() (day render.Timeline) {
		if err := json.Unmarshal(w.beckon("stats", "--timeline", "--json"), &day); err != nil {
			t.Fatal(err)
		}
		return day
	}
	before := timeline()
	p := c.open(t, "about:blank")
	for _, v := range []struct {
		name, scheme  string
		width, height int
	}{{"light", "light", 1280, 900}, {"dark", "dark", 1280, 900}, {"phone", "light", 390, 844}, {"phone-dark", "dark", 390, 844}} {
		p.size(v.width, v.height, v.width < 500)
		p.scheme(v.scheme)
		p.do("Page.navigate", map[string]any{"url": w.page("")})
		p.await("it is live", live)
		p.view("day")
		p.await("the lanes are there", `document.querySelectorAll("#lanes li.lane").length === 6 && document.getElementById("groups").hidden`)
		if wide := get[int](p, `document.documentElement.scrollWidth`); wide > v.width {
			t.Errorf("%s: the page is %d wide in a window of %d", v.name, wide, v.width)
		}
		if dir := shots(); dir != "" {
			p.shot(filepath.Join(dir, v.name+"-day.png"))
		}
		p.check(axe, v.name+" timeline")
	}
	lanes := get[[]struct {
		Label string
		Kinds []string
		Ends  float64
	}](p, `[...document.querySelectorAll("#lanes li.lane")].map((l) => { const spans = [...l.querySelectorAll(".spans rect:not(.tick)")]; return {
		Label: l.querySelector(".place").textContent, Kinds: spans.map((s) => s.getAttribute("class")), Ends: Number(spans.at(-1).getAttribute("x")) + Number(spans.at(-1).getAttribute("width")) }; })`)
	day := timeline()
	for i, l := range day.Tracks {
		var kinds []string
		for _, s := range l.Spans {
			kinds = append(kinds, string(s.Kind))
		}
		if got := lanes[i]; got.Label != l.Project+l.Branch || fmt.Sprint(got.Kinds) != fmt.Sprint(kinds) {
			t.Errorf("lane %d is %+v, want %s of %s", i, got, kinds, l.Project)
		}
		last := l.Spans[len(l.Spans)-1]
		// The page was drawn between the two: a lane that has ended moves left as the day gets longer.
		least := 1000 * float64(last.To.Sub(day.From)) / float64(day.To.Sub(day.From))
		most := min(1000, 1000*float64(last.To.Sub(day.From))/float64(before.To.Sub(day.From)))
		if ends := lanes[i].Ends; ends < least-5 || ends > most+5 {
			t.Errorf("%s ends at %.0f of 1000, want %.0f to %.0f", l.Project, ends, least, most)
		}
	}
	p.must(p.eval(`document.getElementById("filter").value = "shop", document.getElementById("filter").dispatchEvent(new Event("input"))`, nil))
	p.await("the filter is for lanes, too", `document.querySelectorAll("#lanes li.lane").length === 1`)
	p.press("Escape")
	p.must(p.eval(`document.getElementById("day-before").click()`, nil))
	p.await("nothing was done the day before", `document.getElementById("lanes").textContent === "Nothing was done on this day." && !document.getElementById("day-name").textContent.startsWith("Today")`)
	p.must(p.eval(`document.getElementById("day-after").click()`, nil))
	p.await("today is back", `document.querySelectorAll("#lanes li.lane").length === 6 && document.getElementById("day-after").disabled`)
	p.must(p.eval(`document.querySelector("#lanes a").click()`, nil))
	p.await("a lane opens its session", `location.pathname === "/session/day-shop"`)
}

// What happened while the user was away is shown at the top until it is dismissed, and again
// after the next absence.
func TestDigest(t *testing.T) {
	t.Parallel()
	c := startChrome(t)
	axe := findAxe(t)
	w := newWorld(t)
	w.shift(time.Hour)
	w.start()
	p := c.open(t, "about:blank")
	for _, v := range []struct {
		name, scheme  string
		width, height int
	}{{"light", "light", 1280, 900}, {"phone-dark", "dark", 390, 844}} {
		p.size(v.width, v.height, v.width < 500)
		p.scheme(v.scheme)
		p.do("Page.navigate", map[string]any{"url": w.page("")})
		p.await("it is told", `document.querySelectorAll("#digest:not([hidden]) li").length > 0`)
		if wide := get[int](p, `document.documentElement.scrollWidth`); wide > v.width {
			t.Errorf("%s: the page is %d wide in a window of %d", v.name, wide, v.width)
		}
		if dir := shots(); dir != "" {
			p.shot(filepath.Join(dir, v.name+"-digest.png"))
		}
		p.check(axe, v.name+" digest")
	}
	var digest render.Digest
	if err := json.Unmarshal(w.beckon("digest", "--json"), &digest); err != nil {
		t.Fatal(err)
	}
	said := get[[]string](p, `[...document.querySelectorAll("#digest li")].map((l) => l.textContent)`)
	if len(said) != len(digest.Sessions) || len(said) < 4 {
		t.Fatalf("the page tells of %q, digest of %d sessions", said, len(digest.Sessions))
	}
	for i, r := range digest.Sessions {
		if !strings.Contains(said[i], r.Project) {
			t.Errorf("line %d is %q, want %s", i, said[i], r.Project)
		}
	}
	p.press("Escape")
	p.await("it is dismissed", `document.getElementById("digest").hidden`)
	p.do("Page.reload", map[string]any{})
	p.await("the page is there again", live+` && document.querySelectorAll("#groups .card").length > 0`)
	p.must(p.eval(`new Promise((r) => setTimeout(r, 500))`, nil))
	if !get[bool](p, `document.getElementById("digest").hidden`) {
		t.Error("it comes back")
	}
	p.must(p.eval(`localStorage.setItem("beckon.digest", "another time")`, nil))
	p.do("Page.reload", map[string]any{})
	p.await("what is new is told", `!document.getElementById("digest").hidden`)
	p.must(p.eval(`document.getElementById("dismiss").click()`, nil))
	p.await("the button dismisses it, too", `document.getElementById("digest").hidden`)
}
