package page

import (
	"encoding/json"
	"fmt"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"beckon/state/request"
)

// The boxes of the notifications' settings subscribe and end that. What is pushed is one notification:
// with buttons for one request, which the open page answers; without for several; none when all was
// answered elsewhere.
func TestWebPush(t *testing.T) {
	t.Parallel()
	c := startOneOf(t, browsers[1:]) // the first has no service worker's notifications
	w := newWorld(t)
	w.start()
	p := c.open(t, "about:blank")
	p.must(c.call("", "Browser.grantPermissions", map[string]any{"permissions": []string{"notifications"}}, nil))
	// The browser would subscribe at its maker's service.
	p.do("Page.addScriptToEvaluateOnNewDocument", map[string]any{"source": `
		PushManager.prototype.getSubscription = async () => null;
		PushManager.prototype.subscribe = async (options) => ({ toJSON: () => ({ endpoint: "https://127.0.0.1:1/" + options.applicationServerKey.length, keys: { auth: "YQ", p256dh: "YQ" } }) });`})
	p.do("Page.navigate", map[string]any{"url": w.page("")})
	p.await("it is live", live)
	p.must(p.eval(`document.getElementById("notify").click()`, nil))
	p.await("the settings open", `document.getElementById("notices").open && !document.getElementById("notify-push").checked`)
	p.must(p.eval(`document.getElementById("notify-push").click()`, nil))
	told := func() bool {
		return get[bool](p, `import("/assets/line.mjs").then((api) => api.push()).then((push) => push.on)`)
	}
	until := func(what string, is func() bool) {
		t.Helper()
		for range 1000 {
			if is() {
				return
			}
			time.Sleep(20 * time.Millisecond)
		}
		t.Fatal(what)
	}
	until("the server is not told of a subscription", told)
	p.await("the bell says so", `document.getElementById("notify").getAttribute("aria-pressed") === "true"`)
	if dir := shots(); dir != "" {
		p.shot(filepath.Join(dir, "notices.png"))
	}

	registration := make(chan string, 10)
	c.mu.Lock()
	c.events["ServiceWorker.workerRegistrationUpdated"] = func(_ string, params json.RawMessage) {
		var m struct {
			Registrations []struct{ RegistrationID string }
		}
		if json.Unmarshal(params, &m) == nil && len(m.Registrations) > 0 {
			registration <- m.Registrations[0].RegistrationID
		}
	}
	c.mu.Unlock()
	p.do("ServiceWorker.enable", map[string]any{})
	id := <-registration
	origin := get[string](p, `location.origin`)
	var sent any
	deliver := func(v any) {
		t.Helper()
		sent = v
		data, _ := json.Marshal(v)
		p.do("ServiceWorker.deliverPushMessage", map[string]any{"origin": origin, "registrationId": id, "data": string(data)})
	}
	shown := func() []string {
		return get[[]string](p, `(async () => (await (await navigator.serviceWorker.getRegistration("/assets/")).getNotifications())
			.map((n) => [n.title, n.body, n.actions.map((a) => a.title)].join("|")))()`)
	}
	// Chromium forgets a notification that it is asked for while it is being shown.
	await := func(what string, want ...string) {
		t.Helper()
		var got []string
		for range 10 {
			time.Sleep(time.Second)
			if got = shown(); slices.Equal(got, want) {
				return
			}
			deliver(sent)
		}
		t.Fatalf("%s: %q, want %q", what, got, want)
	}
	o := w.asks("s1", request.Permission, "Bash", `{"hook_event_name":"PermissionRequest","session_id":"s1","tool_name":"Bash","tool_input":{"command":"make"}}`)
	p.await("the request is there", at(o))
	drawn := get[string](p, `import("/assets/line.mjs").then((api) => api.offer("`+o.ID+`")).then((a) => a.offer.drawn)`)
	one := map[string]any{"path": "/session/s1", "title": "shop needs a permission", "body": "make", "words": []string{"allow", "deny"},
		"offer": o.ID, "digest": o.Digest, "drawn": drawn}
	two := map[string]any{"path": "/session/s2", "title": "docs asks"}
	deliver(map[string]any{"news": true, "notices": []any{one, two}})
	await("two", "2 sessions need you|shop needs a permission\ndocs asks|")
	deliver(map[string]any{"notices": []any{one}})
	await("one of them was answered", "shop needs a permission|make|Allow,Deny")

	// A click comes from the system, so its handler is called as the browser would.
	var targets struct {
		TargetInfos []struct{ TargetID, Type string }
	}
	p.must(c.call("", "Target.getTargets", map[string]any{}, &targets))
	i := slices.IndexFunc(targets.TargetInfos, func(x struct{ TargetID, Type string }) bool { return x.Type == "service_worker" })
	if i < 0 {
		t.Fatalf("no service worker in %v", targets)
	}
	var attached struct{ SessionID string }
	p.must(c.call("", "Target.attachToTarget", map[string]any{"targetId": targets.TargetInfos[i].TargetID, "flatten": true}, &attached))
	worker := &tab{t: t, c: c, session: attached.SessionID}
	worker.must(worker.eval(`self.registration.getNotifications().then(([notification]) =>
		self.dispatchEvent(new NotificationEvent("notificationclick", { notification, action: "allow" })))`, nil))
	if a := w.answered(o); a.Word != request.Allow {
		t.Errorf("the button answered %+v", a)
	}
	await("a click puts it away")
	deliver(map[string]any{"notices": []any{two}})
	await("what somebody has put away does not come back")
	deliver(map[string]any{"news": true, "notices": []any{two}})
	await("news", "docs asks||")
	deliver(map[string]any{"notices": []any{}})
	await("all was answered elsewhere")

	p.must(p.eval(`document.getElementById("notify-push").click()`, nil))
	until("the server is told that it ends", func() bool { return !told() })
	if said := get[string](p, `document.getElementById("notices-why").textContent`); said != "" {
		t.Error(fmt.Sprint("it says ", said))
	}
}
