package page

import (
	"context"
	"net"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"beckon/render"
	"beckon/render/card"
	"beckon/render/web"
	"beckon/state"
	"beckon/state/offer"
	"beckon/state/store"
)

// otherMachine asks until it is answered, and records its requests.
type otherMachine struct {
	asks     offer.Offer
	answered atomic.Bool
	told     chan string
}

func (m *otherMachine) Ask(context.Context, render.Row) ([]card.Offered, error) {
	if m.answered.Load() {
		return nil, nil
	}
	return []card.Offered{{Offer: m.asks, Card: card.Of(&m.asks, "here")}}, nil
}

func (m *otherMachine) Answer(_ context.Context, _ render.Row, _ card.Offered, a offer.Answer) (string, error) {
	m.answered.Store(true)
	m.told <- string(a.Word) + " " + a.Digest
	return "allowed", nil
}

func (m *otherMachine) Say(_ context.Context, _ render.Row, words string) (string, error) {
	m.told <- "say " + words
	return "said", nil
}

func (m *otherMachine) Stop(context.Context, render.Row) (string, error) {
	m.told <- "stop"
	return "stops", nil
}

// A session of another machine is answered on its page, stopped, and given a reply when its
// turn is over. Actions that work only at its machine have no buttons.
func TestAnswersFromAnotherMachine(t *testing.T) {
	t.Parallel()
	c := startChrome(t)
	payload := []byte(`{"hook_event_name":"PermissionRequest","tool_name":"Bash","cwd":"/p","tool_input":{"command":"make install"}}`)
	o := offer.Offer{ID: "AAAAAAAAAAAAAAAAAAAAAAAAAA", Kind: offer.Permission, Event: "PermissionRequest", Tool: "Bash", Record: "s1", Session: "s1", Digest: offer.Digest(payload), Payload: payload}
	row := render.Row{SessionID: "s1", SeatID: "seat-1", Agent: "claude-code", Project: "shop", State: state.Permission, NeedsYou: true, Group: render.GroupNeedsYou, Unseen: true,
		Since: time.Now(), Host: "ann/box", Terminal: &render.Terminal{Kind: "tmux"}, Remote: &render.Remote{Name: "ann/box", User: "ann", Link: "l"}}
	idle := row
	idle.State, idle.NeedsYou, idle.Group = state.Idle, false, render.GroupDone
	rows, box := make(chan render.Row, 1), &otherMachine{asks: o, told: make(chan string, 9)}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	s := web.New(web.Options{
		Store: store.Open(filepath.Join(t.TempDir(), "state")), Token: token, Page: Handler(),
		Others: func(ctx context.Context, show func([]render.Row)) {
			for now := row; ; {
				show([]render.Row{now})
				select {
				case now = <-rows:
				case <-ctx.Done():
					return
				}
			}
		},
		Far: box,
	})
	done := make(chan error, 1)
	go func() { done <- s.Serve(l) }()
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
		defer cancel()
		_ = s.Close(ctx)
		<-done
	})
	heard := func(want string) {
		t.Helper()
		select {
		case got := <-box.told:
			if got != want {
				t.Errorf("that machine is told %q, want %q", got, want)
			}
		case <-time.After(20 * time.Second):
			t.Fatalf("that machine is not told %q", want)
		}
	}
	p := c.open(t, "about:blank")
	p.expectOutage() // this server has no statistics
	p.do("Page.navigate", map[string]any{"url": "http://" + l.Addr().String() + "/session/ann%2Fbox%2Fseat-1#code=" + codeFor(t, "http://"+l.Addr().String())})
	p.settled(o)
	if text := get[string](p, at(o)+`.innerText`); !strings.Contains(text, "make install") {
		t.Errorf("it shows %q", text)
	}
	if n := get[int](p, `[...document.querySelectorAll("#session .acts button")].filter((b) => !b.hidden).length`); n != 0 {
		t.Errorf("%d buttons are for this machine's sessions", n)
	}
	p.push(o, "Allow")
	heard("allow " + o.Digest)
	p.await("it is asked no more", `!`+at(o))
	p.must(p.eval(`document.querySelector("#session .stop").click(), document.querySelector("#aside-choices button").click()`, nil))
	heard("stop")
	rows <- idle
	p.await("it takes words", `!document.querySelector("#session form[aria-label=Reply]").hidden`)
	p.must(p.eval(`(() => { const f = document.querySelector("#session form[aria-label=Reply]"); f.querySelector("textarea").value = "now the tests"; f.requestSubmit(); })()`, nil))
	heard("say now the tests")
}

// Another machine may use the id of a session or seat of this one. Each keeps its row, its
// card and its page, and what goes there says which it is.
func TestSameIDElsewhere(t *testing.T) {
	t.Parallel()
	p := blankWorld(t)
	got := get[[]string](p, `Promise.all(["state", "card", "session", "api"].map((m) => import("/assets/" + m + ".mjs"))).then(async ([{ initial, reduce, keyOf }, { pathOf }, { SessionPage }, api]) => {
		const times = { since: "2026-01-01T00:00:00Z", updated_at: "2026-01-01T00:00:00Z", created_at: "2026-01-01T00:00:00Z" };
		const row = (title, more) => ({ session_id: "s", seat_id: "x", state: "idle", title, ...times, ...more });
		const far = row("far", { remote: { name: "ann/box", user: "ann" } }), near = row("near", {}), bare = { ...far, seat_id: undefined };
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
		asked.length = 0;
		await api.act(far, "stop");
		await api.act(bare, "stop");
		return [...result, ...asked];
	})`)
	want := []string{"far,near", "near", "near", "far", "near", "near", "far", "near", "Session", "/api/hosts/ann%2Fbox/sessions/x/stop", "/api/hosts/ann%2Fbox/sessions/s/stop"}
	if !slices.Equal(got, want) {
		t.Errorf("rows, pages and addresses:\n%q, want\n%q", got, want)
	}
}
