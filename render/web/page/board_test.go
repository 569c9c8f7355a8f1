package page

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"beckon/render"
)

// shownCard is a card as a person reads it.
type shownCard struct {
	Session, State, Task, Word, Project, Title, Question string
	Needs, Unseen                                        bool
	Options                                              []string
}

const readCards = `[...document.querySelectorAll("#groups .card")].map(c => ({
	Session: c.dataset.session, State: c.dataset.state, Task: c.dataset.task,
	Word: c.querySelector(".state").textContent, Project: c.querySelector(".project").textContent,
	Title: c.querySelector(".name").textContent,
	Question: [...c.querySelectorAll(".need > .ask, .needs .need > .call, .need > .why")].map(e => e.textContent)[0] ?? "",
	Needs: c.classList.contains("needs"), Unseen: c.classList.contains("unseen"),
	Options: [...c.querySelectorAll(".options b")].map(e => e.textContent),
}))`

// cardOf returns what the row must look like.
func cardOf(r render.Row) shownCard {
	c := shownCard{Session: r.SessionID, State: string(r.State), Task: "idle", Word: string(r.State), Project: r.Project, Title: r.Title,
		Needs: r.NeedsYou, Unseen: r.Unseen, Options: []string{}}
	if r.Turn != nil {
		c.Task = string(r.Turn.Task)
	}
	if r.State == "failed" {
		c.Task = "failed"
	}
	if r.State == "idle" {
		c.Word = r.Reason
	}
	if c.Title == "" {
		c.Title = "no prompt yet"
	}
	switch q := r.Question; {
	case q != nil:
		c.Question = q.Text
		if q.Header != "" {
			c.Question = q.Header + ": " + q.Text
		}
		if q.Multi {
			c.Question += " (several may be chosen)"
		}
		for _, o := range q.Options {
			c.Options = append(c.Options, o.Label)
		}
		for _, m := range q.More {
			for _, o := range m.Options {
				c.Options = append(c.Options, o.Label)
			}
		}
	case r.State == "failed":
		c.Question = strings.ReplaceAll(r.Reason, "_", " ")
	case r.NeedsYou && r.Tool != nil:
		c.Question = r.Tool.Summary
	}
	return c
}

// agrees waits until the page shows the rows of `list --json`, in their order.
func agrees(t *testing.T, w *world, p *tab, when string) {
	t.Helper()
	var shown, want []shownCard
	for deadline := time.Now().Add(30 * time.Second); time.Now().Before(deadline); time.Sleep(30 * time.Millisecond) {
		want = nil
		for _, r := range w.list() {
			want = append(want, cardOf(r))
		}
		shown = get[[]shownCard](p, readCards)
		if len(shown) == len(want) && (len(want) == 0 || reflect.DeepEqual(shown, want)) {
			return
		}
	}
	a, _ := json.MarshalIndent(shown, "", " ")
	b, _ := json.MarshalIndent(want, "", " ")
	t.Fatalf("after %s the page shows\n%s\nlist --json says\n%s", when, a, b)
}

// The page and `list --json` agree after every hook of several recordings that are played at
// the same time.
func TestPageAgreesWithList(t *testing.T) {
	t.Parallel()
	c := startChrome(t)
	w := newWorld(t)
	w.start()
	p := c.open(t, "about:blank")
	p.do("Page.addScriptToEvaluateOnNewDocument", map[string]any{"source": `localStorage.setItem("beckon.group", "none")`})
	p.do("Page.navigate", map[string]any{"url": w.page("")})
	p.await("it is live", `document.documentElement.dataset.phase === "live"`)
	agrees(t, w, p, "nothing")
	var agents []*agent
	for _, name := range []string{"perm_yes", "ask_multi", "plan", "overload", "question", "subperm_busy", "todo", "bg", "ask_two"} {
		agents = append(agents, w.agent(name))
	}
	for step := 0; ; step++ {
		moved := false
		for _, a := range agents {
			moved = a.step() || moved
		}
		if !moved {
			break
		}
		agrees(t, w, p, fmt.Sprintf("step %d", step))
	}
	agents[0].kill()
	agrees(t, w, p, "the death of an agent")
}

// A day at the board: cards appear, change their group, age, survive a restart of the server,
// and disappear.
func TestBoardFollows(t *testing.T) {
	t.Parallel()
	c := startChrome(t)
	w := newWorld(t)
	w.start()
	p := c.open(t, w.page(""))
	p.await("it is live", `document.documentElement.dataset.phase === "live"`)
	p.await("it says that there are none", `document.getElementById("empty").textContent.startsWith("No sessions")`)
	p.must(p.eval(`window.stays = Math.random()`, nil))
	stays := get[float64](p, `window.stays`)

	perm := w.agent("perm_yes", "lab:write perm_yes.txt", "<img src=x onerror=alert(1)> write")
	perm.until("UserPromptSubmit")
	group := `document.querySelector("#groups .card")?.closest(".group").dataset.group`
	p.await("its card is at work", group+` === "working"`)
	p.await("what was asked is text", `document.querySelector(".name").textContent === "<img src=x onerror=alert(1)> write"`)
	perm.until("PermissionRequest")
	p.await("its card needs you", group+` === "needs_you"`)
	p.await("the title counts", `document.title === "(1) beckon"`)
	p.await("the icon counts", `decodeURIComponent(document.getElementById("icon").href).includes(">1</text>")`)
	p.await("the live region tells", `document.getElementById("live").textContent.includes("needs you: permission")`)

	age := func() int {
		return get[int](p, `Math.round(Number(document.querySelector(".active time").textContent.match(/^(\d+)s ago$/)[1]))`)
	}
	first := age()
	time.Sleep(3 * time.Second)
	if d := age() - first; d < 2 || d > 5 {
		t.Errorf("the age went on by %d s in 3 s", d)
	}

	// The focus and the element survive what happens to the card.
	p.must(p.eval(`document.querySelector(".name").focus(), window.card = document.querySelector(".card")`, nil))

	p.expectOutage()
	w.stop()
	p.await("the loss is seen", `document.documentElement.dataset.phase === "lost" && document.getElementById("link").textContent.includes("Reconnecting")`)
	perm.rest() // hooks continue without a server
	time.Sleep(time.Second)
	w.start()
	p.signInAgain()
	p.await("its card is done", group+` === "done"`)
	p.await("the title rests", `document.title === "beckon"`)
	if got := get[float64](p, `window.stays`); got != stays {
		t.Error("the page was loaded anew")
	}
	if !get[bool](p, `document.activeElement === document.querySelector(".name") && window.card === document.querySelector(".card")`) {
		t.Error("the card lost its element or its focus")
	}
	p.await("what it said is shown", `document.querySelectorAll(".turns li").length > 0`)

	p.press("m")
	p.await("seen is seen", group+` === "idle"`)
	p.press("b")
	p.await("how long is asked for", `document.getElementById("aside").open && document.activeElement.textContent === "Until its next prompt"`)
	p.press("Enter")
	p.await("it is set aside", group+` === "backburner"`)
	p.press("b")
	p.await("it is back", group+` !== "backburner"`)
	perm.kill()
	p.await("a killed agent's card goes", `!document.querySelector("#groups .card")`)
}

// An edge causes one notification, if nobody is looking.
func TestNotifications(t *testing.T) {
	t.Parallel()
	c := startChrome(t)
	w := newWorld(t)
	w.start()
	p := c.open(t, "about:blank")
	p.do("Page.addScriptToEvaluateOnNewDocument", map[string]any{"source": `
		localStorage.setItem("beckon.notify", "on");
		window.raised = [];
		window.Notification = class { constructor(title, o) { raised.push([title, o.body, o.tag]); } close() { window.closed1 = true; }
			static permission = "granted"; static requestPermission = async () => "granted"; };
		document.hasFocus = () => false;`})
	p.do("Page.navigate", map[string]any{"url": w.page("")})
	p.await("it is live", `document.documentElement.dataset.phase === "live"`)
	a := w.agent("ask")
	a.until("PreToolUse")
	p.await("one is raised", `raised.length === 1`)
	raised := get[[][]string](p, `raised`)
	if n := raised[0]; n[0] != "proj needs you: question" || n[1] != "Which colour?" {
		t.Errorf("notification %q", n)
	}
	p.expectOutage()
	w.stop()
	p.await("the loss is seen", `document.documentElement.dataset.phase === "lost"`)
	w.start()
	p.signInAgain()
	time.Sleep(500 * time.Millisecond)
	if n := get[int](p, `raised.length`); n != 1 {
		t.Errorf("%d notifications of one edge", n)
	}
	a.rest()
	p.await("an answered one is taken back", `window.closed1 === true`)
	p.await("its end is told", `raised.length === 2 && raised[1][0] === "proj is done"`)
}

// shots returns the directory for pictures to look at, which BECKON_PAGE_SHOTS names.
func shots() string { return os.Getenv("BECKON_PAGE_SHOTS") }

// furnish creates a morning's sessions.
func furnish(w *world) []*agent {
	place := func(project string, more ...string) []string {
		return append(more, "/lab/proj", "/home/you/src/"+project)
	}
	agents := []*agent{
		w.agent("perm_yes", place("shop", "lab:write perm_yes.txt", "add the missing migration for orders", "perm_yes.txt", "db/migrations/0042_orders.sql")...).until("PermissionRequest"),
		w.agent("ask", place("billing", "lab:ask", "make invoices look right on paper", "Which colour?", "Which page size should invoices use?",
			`"Colour"`, `"Page size"`, `"Red"`, `"A4"`, `"Blue"`, `"Letter"`)...).until("PreToolUse"),
		w.agent("plan", place("shop", "lab:plan", "plan how to move sessions to Redis")...).until("PermissionRequest"),
		w.agent("overload", place("website", "lab:overload", "write release notes for 4.2")...),
		w.agent("subperm_busy", place("search", "lab:subpermbusy", "find out why the index is rebuilt twice")...).until("SubagentStart"),
		w.agent("todo", place("api", "lab:todo", "rename the customer endpoints, step by step")...),
		w.agent("bg", place("api", "lab:bg", "run the load test in the background")...),
		w.agent("question", place("docs", "lab:question", "tidy up the table of contents")...),
		w.agent("hi", place("mobile", "lab:hi", "what changed in the login screen?")...),
	}
	for _, i := range []int{3, 5, 6, 7, 8} {
		for len(agents[i].steps) > 0 && agents[i].steps[0].Kind != "SessionEnd" {
			agents[i].step()
		}
	}
	for i, r := range w.list() {
		w.report(r.SessionID, 17+i*9, 0.31+0.47*float64(i))
	}
	return agents
}

// The page is looked at in light, in dark and on a phone; axe finds nothing serious in any of
// them.
func TestLooks(t *testing.T) {
	t.Parallel()
	c := startChrome(t)
	axe := findAxe(t)
	w := newWorld(t)
	w.start()
	furnish(w)
	p := c.open(t, "about:blank")
	for _, v := range []struct {
		name, scheme  string
		width, height int
	}{{"light", "light", 1360, 900}, {"dark", "dark", 1360, 900}, {"phone", "light", 390, 844}, {"phone-dark", "dark", 390, 844}} {
		p.size(v.width, v.height, v.width < 500)
		p.scheme(v.scheme)
		for name, path := range map[string]string{"": "", "-session": "session/" + w.list()[1].SessionID} {
			p.do("Page.navigate", map[string]any{"url": w.page(path)})
			p.await("it is live", `document.documentElement.dataset.phase === "live"`)
			if path == "" {
				p.await("turns are there", `document.querySelectorAll("#groups .card").length === 9 && (innerWidth < 500 || document.querySelectorAll(".turns li").length > 0)`)
			} else {
				p.await("lines are there", `document.querySelectorAll(".line").length > 0 && document.querySelectorAll("#session .facts dd").length > 5`)
			}
			p.await("figures are there", `document.querySelectorAll(".days td").length > 0 && document.querySelectorAll("#hooks dd").length > 0`)
			if wide := get[int](p, `document.documentElement.scrollWidth`); wide > v.width {
				t.Errorf("%s%s: the page is %d wide in a window of %d", v.name, name, wide, v.width)
			}
			if dir := shots(); dir != "" {
				p.shot(filepath.Join(dir, v.name+name+".png"))
			}
			p.check(axe, v.name+name)
		}
	}
}

// Opened parts, and what is shown when nothing works, are as accessible as the rest.
func TestLooksElsewhere(t *testing.T) {
	t.Parallel()
	c := startChrome(t)
	axe := findAxe(t)
	w := newWorld(t)
	w.start()
	p := c.open(t, "about:blank")
	p.expectOutage()
	for _, scheme := range []string{"light", "dark"} {
		p.scheme(scheme)
		p.do("Page.navigate", map[string]any{"url": w.page("")})
		look := func(name string) {
			if dir := shots(); dir != "" {
				p.shot(filepath.Join(dir, scheme+"-"+name+".png"))
			}
			p.check(axe, scheme+" "+name)
		}
		p.await("it is empty", `!document.getElementById("empty").hidden`)
		look("empty")
		a := w.agent("perm_yes").until("PermissionRequest")
		p.await("its card is there", `document.querySelector(".card.needs")`)
		p.press("?")
		p.await("help is open", `document.getElementById("help").open`)
		look("help")
		p.press("Escape")
		p.await("help is gone", `!document.getElementById("help").open`)
		p.press("n", "b")
		p.await("it asks for how long", `document.getElementById("aside").open`)
		look("aside")
		p.press("Escape")
		w.stop()
		p.await("the loss is seen", `document.documentElement.dataset.phase === "lost" && !document.getElementById("again").hidden`)
		p.await("what is shown is told to be old", `document.getElementById("sum").textContent.startsWith("as it was ")`)
		look("lost")
		w.start()
		p.must(p.eval(`document.getElementById("again").click()`, nil))
		p.signInAgain()
		a.kill()
		p.await("its card is gone", `!document.querySelector("#groups .card")`)
	}
}

func (p *tab) check(axe, where string) {
	p.t.Helper()
	checkIn(p.t, p, axe, where)
}
