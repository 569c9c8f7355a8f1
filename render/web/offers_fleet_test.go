package web

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"

	"beckon/render"
	cards "beckon/render/card"
	"beckon/render/web/feed"
	"beckon/state"
	"beckon/state/offer"
)

// there is another machine, which counts its requests.
type there struct {
	mu    sync.Mutex
	rows  chan []render.Row
	asks  []offer.Offer
	err   error
	told  []string
	given []offer.Answer
}

func (m *there) options() Options {
	m.rows = make(chan []render.Row, 1)
	return Options{Token: testToken,
		Others: func(ctx context.Context, show func([]render.Row)) {
			for {
				select {
				case rows := <-m.rows:
					show(rows)
				case <-ctx.Done():
					return
				}
			}
		},
		Far: m,
	}
}

func (m *there) note(r render.Row, what string) (string, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.told = append(m.told, r.Remote.Link+" "+what)
	return "done", m.err
}

func (m *there) Ask(_ context.Context, r render.Row) (list []cards.Offered, err error) {
	_, err = m.note(r, "ask")
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, o := range m.asks {
		list = append(list, cards.Offered{Offer: o, Card: cards.Of(&o, "here")})
	}
	return list, err
}

func (m *there) Answer(_ context.Context, r render.Row, _ cards.Offered, a offer.Answer) (string, error) {
	m.given = append(m.given, a)
	return m.note(r, "answer")
}

func (m *there) Say(_ context.Context, r render.Row, words string) (string, error) {
	return m.note(r, "say "+words)
}

func (m *there) Stop(_ context.Context, r render.Row) (string, error) { return m.note(r, "stop") }

func (m *there) calls() []string {
	m.mu.Lock()
	defer m.mu.Unlock()
	was := m.told
	m.told = nil
	return was
}

// farRow returns a session of another machine, whose user has two machines.
func farRow(id, link string) render.Row {
	return render.Row{SessionID: id, SeatID: "seat-" + id, State: state.Permission, NeedsYou: true, Host: "ann/box", Remote: &render.Remote{Name: "ann/box", User: "ann", Link: link}}
}

func farCall(command string) offer.Offer {
	payload := []byte(`{"hook_event_name":"PermissionRequest","tool_name":"Bash","cwd":"/p","tool_input":{"command":"` + command + `"}}`)
	return offer.Offer{ID: "AAAAAAAAAAAAAAAAAAAAAAAAAA", Kind: offer.Permission, Event: "PermissionRequest", Tool: "Bash", Record: "s1", Session: "s1", Digest: offer.Digest(payload), Payload: payload}
}

const farPath = "/api/hosts/ann%2Fbox/sessions/seat-s1"

// The question of a session on another machine is answered only by a user who may answer here,
// as it was drawn; nothing more than that counts there.
func TestAnswersElsewhere(t *testing.T) {
	seesProcesses(t)
	m := &there{asks: []offer.Offer{farCall("make")}}
	x := serve(t, m.options())
	session := x.SignIn(x.loginCode())
	m.rows <- []render.Row{farRow("s1", "l1"), farRow("ssh", "")}
	x.Until("its row is there", func() bool { _, ok := x.s.feed.Elsewhere("ann/box", "seat-s1"); return ok })

	for name, headers := range map[string][]string{"no key": nil, "the token": {withKey(testToken)}, "another site": {withKey(session), "Sec-Fetch-Site: cross-site"}} {
		for _, path := range []string{"GET /offers", "POST /offers/" + m.asks[0].ID, "POST /reply", "POST /stop"} {
			method, rest, _ := strings.Cut(path, " ")
			body := `{}`
			if method == "GET" {
				body = ""
			}
			if r := x.Do(method, farPath+rest, body, headers...); r.Status != http.StatusForbidden {
				t.Errorf("%s: %s: %d", name, path, r.Status)
			}
		}
	}
	if got := m.calls(); got != nil {
		t.Errorf("it was told %q", got)
	}

	look := func() offered {
		t.Helper()
		var list offerList
		x.Get(farPath+"/offers", withKey(session)).Into(t, &list)
		if len(list.Offers) != 1 || list.From != offer.Remote {
			t.Fatalf("asked: %+v", list)
		}
		return list.Offers[0]
	}
	says := func(o offered, more string) response {
		t.Helper()
		return x.Do("POST", farPath+"/offers/"+o.ID, fmt.Sprintf(`{"digest":%q,"drawn":%q,%s}`, o.Digest, o.Drawn, more), withKey(session))
	}
	seen := look()
	if !slices.ContainsFunc(seen.Card.Lines, func(l cards.Line) bool { return l.Text == "make" }) {
		t.Errorf("drawn: %+v", seen.Card)
	}
	undrawn := seen
	undrawn.Drawn = "x"
	if r := says(undrawn, `"word":"allow"`); code(t, r) != "412 changed" {
		t.Errorf("what was not drawn: %s", code(t, r))
	}
	if r := says(seen, `"word":"allow","always":1`); code(t, r) != "403 always_elsewhere" {
		t.Errorf("always: %s", code(t, r))
	}
	m.asks[0] = farCall("make clean")
	if r := says(seen, `"word":"allow"`); code(t, r) != "412 changed" {
		t.Errorf("another call: %s", code(t, r))
	}
	if m.given != nil {
		t.Fatalf("it was given %+v", m.given)
	}
	seen = look()
	if r := says(seen, `"word":"allow"`); r.Status != http.StatusOK || r.Field(t, "taken") != "true" {
		t.Errorf("allowed: %d %s", r.Status, r.Body)
	}
	if len(m.given) != 1 || m.given[0].Digest != m.asks[0].Digest || m.given[0].Word != offer.Allow || m.given[0].Offer != m.asks[0].ID {
		t.Errorf("given: %+v", m.given)
	}
	long := farCall("make")
	long.Payload = nil
	m.asks[0] = long
	if r := says(look(), `"word":"allow"`); code(t, r) != "403 not_whole" {
		t.Errorf("what cannot be shown: %s", code(t, r))
	}
	if r := says(look(), `"word":"deny"`); r.Status != http.StatusOK {
		t.Errorf("it can be refused: %s", r.Body)
	}
	m.asks = nil
	if r := says(seen, `"word":"deny"`); code(t, r) != "410 over" {
		t.Errorf("an offer that is over: %s", code(t, r))
	}
}

// Replies and stops go to the link that the session's machine has now, and its refusals are
// reported.
func TestSpeaksElsewhere(t *testing.T) {
	seesProcesses(t)
	m := &there{}
	x := serve(t, m.options())
	session := x.SignIn(x.loginCode())
	for _, link := range []string{"l1", "l2"} { // it restarted, and nothing else has changed
		m.rows <- []render.Row{farRow("s1", link), farRow("ssh", "")}
		x.Until("its row is there", func() bool {
			row, ok := x.s.feed.Elsewhere("ann/box", "seat-s1")
			return ok && row.Remote.Link == link
		})
		if r := x.Do("POST", farPath+"/reply", `{"reply":"go on"}`, withKey(session)); r.Field(t, "taken") != "true" {
			t.Errorf("a reply: %s", r.Body)
		}
		if r := x.Do("POST", farPath+"/stop", "", withKey(session)); r.Field(t, "taken") != "true" {
			t.Errorf("a stop: %s", r.Body)
		}
		if got, want := m.calls(), []string{link + " say go on", link + " stop"}; !slices.Equal(got, want) {
			t.Errorf("told %q, want %q", got, want)
		}
	}
	m.err = errors.New("this machine takes no\x1b answers")
	if r := x.Do("POST", farPath+"/stop", "", withKey(session)); code(t, r) != "502 not_answered" || r.Field(t, "error") != "map[code:not_answered message:ann/box: this machine takes no answers]" {
		t.Errorf("refused: %s", r.Body)
	}
	for path, want := range map[string]string{
		"/api/hosts/box/sessions/seat-s1/stop":        "404 no_such_session",
		"/api/hosts/ann%2Fbox/sessions/other/stop":    "404 no_such_session",
		"/api/hosts/ann%2Fbox/sessions/seat-ssh/stop": "409 no_answers",
	} {
		if r := x.Do("POST", path, "", withKey(session)); code(t, r) != want {
			t.Errorf("%s: %s", path, code(t, r))
		}
	}
	stale := farRow("s1", "l2")
	stale.Remote.Stale = true
	m.rows <- []render.Row{stale}
	x.Until("it is not heard", func() bool {
		return code(t, x.Do("POST", farPath+"/stop", "", withKey(session))) == "409 not_heard"
	})
}

// A fleet returns this machine's own rows, too, some of them late: the session is shown once,
// as this machine knows it, and its events never end it. A session that several machines
// report is shown once, as in `list --fleet`.
func TestOwnRowsFromElsewhere(t *testing.T) {
	m := &there{}
	x := serve(t, m.options())
	x.fold(prompt("own", "one"))
	x.Until("it is shown", func() bool { return len(x.s.feed.List(feed.Filter{}).Sessions) == 1 })
	own := x.s.feed.List(feed.Filter{}).Sessions[0]
	of := func(host, id, seat string, stale bool) render.Row {
		return render.Row{SessionID: id, SeatID: seat, State: state.Permission, NeedsYou: true, Host: host, Remote: &render.Remote{Name: host, Stale: stale}}
	}
	s := x.stream("/events")
	s.await("snapshot", nil)
	m.rows <- []render.Row{of("a", "before-clear", own.SeatID, false), of("a", "own", "another-seat", false),
		of("c", "twice", "seat-c", true), of("d", "twice", "seat-d", false), of("b", "twice", "seat-b", false), of("z", "other", "seat-z", false)}
	shown := func() (list []string) {
		for _, r := range x.s.feed.List(feed.Filter{}).Sessions {
			at := ""
			if r.Remote != nil {
				at = "@" + r.Remote.Name
			}
			list = append(list, r.SessionID+at)
		}
		slices.Sort(list)
		return list
	}
	x.Until("the others are there", func() bool { _, ok := x.s.feed.Elsewhere("z", "seat-z"); return ok })
	if got, want := shown(), []string{"other@z", "own", "twice@b"}; !slices.Equal(got, want) {
		t.Errorf("shown %q, want %q", got, want)
	}
	m.rows <- nil
	s.await("session_ended", sessionIs("other"))
	if e, ok := s.find("session_ended", func(m map[string]any) bool { return m["agent_id"] == own.SeatID }); ok {
		t.Errorf("this machine's session ended: %s", e.data)
	}
}

// A session of another machine may claim any id, and so may the seat that it sits in: requests
// about this machine's sessions never mean another machine's.
func TestIdsOfElsewhere(t *testing.T) {
	m := &there{}
	x := serve(t, m.options())
	x.fold(prompt("mine", "one"))
	x.fold(prompt("victim", "two"))
	x.Until("both are shown", func() bool { return len(x.s.feed.List(feed.Filter{}).Sessions) == 2 })
	claims := farRow("claims", "l1")
	claims.SeatID = "mine"
	m.rows <- []render.Row{claims}
	x.Until("its row is there", func() bool { _, ok := x.s.feed.Elsewhere("ann/box", "mine"); return ok })
	if row, ok := x.s.feed.Find("mine"); !ok || row.Remote != nil {
		t.Errorf("mine is %+v", row)
	}
	if r := x.Get("/api/sessions/mine"); r.Field(t, "title") != "one" {
		t.Errorf("mine is %s", r.Body)
	}
	if r := x.Get("/api/sessions/claims"); r.Status != http.StatusNotFound {
		t.Errorf("a session of another machine is here: %s", r.Body)
	}
}
