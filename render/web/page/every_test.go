package page

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"beckon/state/request"
)

// browser is a tab of one of the browsers in which the page is tested.
type browser interface {
	eval(expr string, out any) error
	load(script string)
	goTo(url string)
	size(width, height int, phone bool)
	scheme(name string)
	press(keys ...string)
	shot(path string)
	await(what, expr string)
}

// awaitIn waits until expr is true.
func awaitIn(t *testing.T, b browser, what, expr string) {
	t.Helper()
	deadline := time.Now().Add(40 * time.Second)
	for {
		var ok bool
		if err := b.eval("Promise.resolve(("+expr+")).then(Boolean)", &ok); err == nil && ok {
			return
		} else if time.Now().After(deadline) {
			b.shot(filepath.Join(os.TempDir(), "beckon-page-failed.png"))
			t.Fatalf("waiting until %s: %s is still false (%v)", what, expr, err)
		}
		time.Sleep(20 * time.Millisecond)
	}
}

// checkIn fails the test for each problem that axe finds serious or critical.
func checkIn(t *testing.T, b browser, axe, where string) {
	t.Helper()
	b.load(axe)
	var found []string
	err := b.eval(`axe.run(document, {resultTypes: ["violations"]}).then(r => r.violations
		.filter(v => v.impact === "serious" || v.impact === "critical")
		.map(v => v.id + " (" + v.impact + "): " + v.help + "\n" + v.nodes.map(n => n.html + "\n  " + n.failureSummary).join("\n")))`, &found)
	if err != nil {
		t.Fatalf("%s: %v", where, err)
	}
	for _, f := range found {
		t.Errorf("%s: %s", where, f)
	}
}

// A day with the page, at a desk and on a phone, in each browser: from the page that says how
// to sign in, through cards, rows and timeline, to the end of the session. Axe finds nothing
// serious at any point.
func TestEveryBrowser(t *testing.T) {
	t.Parallel()
	axe := findAxe(t)
	for name, open := range map[string]func(*testing.T) browser{
		"chromium": func(t *testing.T) browser {
			p := startChrome(t).open(t, "about:blank")
			p.expectOutage() // 401 is on the console
			return p
		},
		"firefox": func(t *testing.T) browser { return startFirefox(t) },
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			w.shift(time.Hour)
			w.start()
			w.agent("perm_yes", "/lab/proj", "/home/you/src/shop").until("PermissionRequest")
			b := open(t)
			for _, v := range []struct {
				name, scheme  string
				width, height int
			}{{"desk", "light", 1280, 900}, {"phone", "dark", 390, 844}} {
				w.t = t
				b.size(v.width, v.height, v.width < 500)
				b.scheme(v.scheme)
				look := func(state string) {
					t.Helper()
					var wide int
					if err := b.eval(`document.documentElement.scrollWidth`, &wide); err != nil || wide > v.width {
						t.Errorf("%s, %s: the page is %d wide in a window of %d, %v", v.name, state, wide, v.width, err)
					}
					if dir := shots(); dir != "" {
						b.shot(filepath.Join(dir, name+"-"+v.name+"-"+state+".png"))
					}
					checkIn(t, b, axe, v.name+", "+state)
				}
				view := func(is string) {
					t.Helper()
					if err := b.eval(fmt.Sprintf(`(document.getElementById("view").value = %q, document.getElementById("view").dispatchEvent(new Event("change")))`, is), nil); err != nil {
						t.Fatal(err)
					}
				}
				b.goTo(w.url())
				b.await("it says how to sign in", denied+` && ["beckon serve url", "--qr"].every((s) => document.getElementById("login").innerText.includes(s))`)
				look("not signed in")
				b.goTo(w.page(""))
				b.await("the link signs in", live+` && !location.hash`)
				b.await("what was is told", `document.querySelectorAll("#digest:not([hidden]) li").length > 3 && document.querySelectorAll("#groups .card").length === 6`)
				look("digest")
				b.press("Escape")
				b.await("it is dismissed", `document.getElementById("digest").hidden`)
				look("cards")
				view("rows")
				b.await("a row each", `document.querySelectorAll("#groups.rows .card").length === 6`)
				look("rows")
				view("day")
				b.await("a lane each", `document.querySelectorAll("#lanes li.lane").length >= 6`)
				look("timeline")
				view("cards")
				b.await("the cards are there", `!document.getElementById("groups").hidden`)
				b.press("j", " ")
				b.await("Space opens the first", `location.pathname.startsWith("/session/") && document.querySelectorAll(".line.turn").length > 0`)
				look("session")
				record := w.list()[0].SessionID
				b.goTo(w.url() + "session/" + record)
				o := w.asks(record, request.Permission, "Bash", bash)
				b.await("its question is drawn", `document.querySelector("#session .asks")?.textContent.includes("make install")`)
				look("question")
				time.Sleep(time.Second) // its buttons can be meant
				if err := b.eval(`document.querySelector("#session .asks").scrollIntoView()`, nil); err != nil {
					t.Fatal(err)
				}
				b.await("all of it was on the screen", `new Promise((r) => setTimeout(r, 300, true))`)
				b.press("y")
				if a := w.answered(o); a.Word != request.Allow {
					t.Errorf("y: %+v", a)
				}
				b.press("Escape", "?")
				b.await("help is open", `document.getElementById("help").open && location.pathname === "/"`)
				look("help")
				b.press("Escape")
				b.await("help is gone", `!document.getElementById("help").open`)
				if err := b.eval(`document.getElementById("leave").click()`, nil); err != nil {
					t.Fatal(err)
				}
				b.await("it is signed out", denied+` && !document.querySelector("#groups .card")`)
				var left []string
				if err := b.eval(`(async () => [localStorage.getItem("beckon.session"), localStorage.getItem("beckon.digest"), document.cookie, ...Object.keys(sessionStorage),
					...await caches.keys(), ...(await indexedDB.databases()).map((d) => d.name), ...(await navigator.serviceWorker.getRegistrations()).map((r) => r.scope)].filter(Boolean))()`, &left); err != nil || len(left) > 0 {
					t.Errorf("who signs out leaves %q, %v", left, err)
				}
			}
		})
	}
}

// On a phone, where a page may not show notifications itself, a service worker does. An answer
// withdraws the notification, and signing out removes both.
func TestNotificationsOfAPhone(t *testing.T) {
	t.Parallel()
	c := startOneOf(t, browsers[1:]) // the first has no service worker's notifications
	w := newWorld(t)
	w.start()
	if err := c.call("", "Browser.grantPermissions", map[string]any{"permissions": []string{"notifications"}}, nil); err != nil {
		t.Fatal(err)
	}
	p := c.open(t, "about:blank")
	p.do("Page.addScriptToEvaluateOnNewDocument", map[string]any{"source": `
		localStorage.setItem("beckon.notify", "on");
		window.raised = [], window.takenBack = [];
		{
			const show = ServiceWorkerRegistration.prototype.showNotification, close = Notification.prototype.close;
			ServiceWorkerRegistration.prototype.showNotification = async function (title, options) {
				await show.call(this, title, options);
				raised.push([title + ": " + options.body, options.data]);
			};
			Notification.prototype.close = function () { takenBack.push(this.title); close.call(this); };
		}
		window.Notification = new Proxy(Notification, { construct() { throw new TypeError("Illegal constructor"); } });
		document.hasFocus = () => false;`})
	p.do("Page.navigate", map[string]any{"url": w.page("")})
	p.await("it is live", live)
	if n := get[int](p, `navigator.serviceWorker.getRegistrations().then((all) => all.length)`); n != 0 {
		t.Errorf("%d service workers before anything is to be told", n)
	}
	a := w.agent("ask").until("PreToolUse")
	p.await("one is raised", `raised.length === 1`)
	if got, want := get[[]string](p, `raised[0]`), []string{"proj needs you: question: Which colour?", "/session/" + w.list()[0].SeatID}; !slices.Equal(got, want) {
		t.Errorf("text and address: %q, want %q", got, want)
	}
	a.rest()
	p.await("an answered one is taken back", `takenBack.join() === "proj needs you: question"`)
	p.await("the end is told", `raised.length === 2`)
	// Chromium is asked once, while no notification is being shown: it forgets one that is.
	if got := get[[]string](p, `(async () => (await (await navigator.serviceWorker.getRegistration("/assets/")).getNotifications()).map((n) => n.title))()`); !slices.Equal(got, []string{"proj is done"}) {
		t.Errorf("left: %q", got)
	}
	p.expectOutage()
	p.must(p.eval(`document.getElementById("leave").click()`, nil))
	p.await("it is signed out", denied)
	p.await("no service worker stays", `navigator.serviceWorker.getRegistrations().then((all) => all.length === 0)`)
	if n := get[int](p, `caches.keys().then((all) => all.length)`); n != 0 {
		t.Errorf("%d caches are left", n)
	}
}
