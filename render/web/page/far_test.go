package page

import (
	"slices"
	"testing"
)

// Another machine may use the id of a session or seat of this one. Each keeps its row, its
// card and its page, and what goes there says which it is.
func TestSameIDElsewhere(t *testing.T) {
	t.Parallel()
	p := blankWorld(t)
	got := get[[]string](p, `Promise.all(["state", "cards", "pages"].map((m) => import("/assets/" + m + ".mjs"))).then(async ([{ initial, reduce, keyOf }, { pathOf }, { SessionPage }]) => {
		const times = { since: "2026-01-01T00:00:00Z", updated_at: "2026-01-01T00:00:00Z", created_at: "2026-01-01T00:00:00Z" };
		const row = (title, more) => ({ session_id: "s", seat_id: "x", state: "idle", title, ...times, ...more });
		const far = row("far", { remote: { name: "ann/box", user: "ann" } }), near = row("near", {});
		const of = (type, session) => ({ type, data: { session } });
		const rows = (...events) => events.reduce(reduce, initial());
		const titles = (s) => [...s.rows.values()].map((r) => r.title).sort().join();
		const asked = [];
		localStorage.removeItem("beckon.session"); // nothing is asked before what is
		window.fetch = async (url) => { asked.push(url); return Response.json({ lines: [], offers: [] }); };
		const page = new SessionPage(document.createElement("div"), { act() {}, met() {}, fail() {} });
		const opened = (path, s) => {
			page.open(decodeURIComponent(path.slice("/session/".length)));
			page.draw(s);
			return page.heading.textContent;
		};
		const both = rows(of("session_created", far), of("session_created", near)), other = rows(of("session_created", near), of("session_created", far));
		const result = [titles(both), titles(rows(of("session_created", near), of("session_created", far), of("session_ended", far))),
			...[both, other].flatMap((s) => [opened(pathOf(near), s), opened(pathOf(far), s), opened("/session/s", s)]), opened(pathOf(far), rows(of("session_created", near)))];
		page.close();
		return [...result, ...asked.filter((url) => String(url).includes("hosts"))];
	})`)
	want := []string{"far,near", "near", "near", "far", "near", "near", "far", "near", "Session"}
	if !slices.Equal(got, want) {
		t.Errorf("rows and pages:\n%q, want\n%q", got, want)
	}
}
