package web

import (
	"context"
	"net/http"
	"slices"
	"testing"

	"beckon/render"
	"beckon/state"
)

// there is another machine.
type there struct{ rows chan []render.Row }

func (m *there) options() Options {
	m.rows = make(chan []render.Row, 1)
	others := func(ctx context.Context, show func([]render.Row, error)) {
		for {
			select {
			case rows := <-m.rows:
				show(rows, nil)
			case <-ctx.Done():
				return
			}
		}
	}
	return Options{Token: testToken, Others: others}
}

// farRow returns a session of another machine, whose user has two machines.
func farRow(id string) render.Row {
	return render.Row{SessionID: id, SeatID: "seat-" + id, State: state.Permission, NeedsYou: true, Host: "ann/box", Remote: &render.Remote{Name: "ann/box", User: "ann"}}
}

// A fleet returns this machine's own rows, too, some of them late: the session is shown once,
// as this machine knows it, and its events never end it. A session that several machines
// report is shown once, as in `list --fleet`.
func TestOwnRowsFromElsewhere(t *testing.T) {
	m := &there{}
	x := serve(t, m.options())
	x.fold(prompt("own", "one"))
	x.Until("it is shown", func() bool { return len(x.s.feed.list().Sessions) == 1 })
	own := x.s.feed.list().Sessions[0]
	of := func(host, id, seat string, stale bool) render.Row {
		return render.Row{SessionID: id, SeatID: seat, State: state.Permission, NeedsYou: true, Host: host, Remote: &render.Remote{Name: host, Stale: stale}}
	}
	s := x.stream("/events")
	s.await("snapshot", nil)
	m.rows <- []render.Row{of("a", "before-clear", own.SeatID, false), of("a", "own", "another-seat", false),
		of("c", "twice", "seat-c", true), of("d", "twice", "seat-d", false), of("b", "twice", "seat-b", false), of("z", "other", "seat-z", false)}
	shown := func() (list []string) {
		for _, r := range x.s.feed.list().Sessions {
			at := ""
			if r.Remote != nil {
				at = "@" + r.Remote.Name
			}
			list = append(list, r.SessionID+at)
		}
		slices.Sort(list)
		return list
	}
	x.Until("the others are there", func() bool { return len(shown()) == 3 })
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
	x.Until("both are shown", func() bool { return len(x.s.feed.list().Sessions) == 2 })
	claims := farRow("claims")
	claims.SeatID = "mine"
	m.rows <- []render.Row{claims}
	x.Until("its row is there", func() bool { return len(x.s.feed.list().Sessions) == 3 })
	if r := x.Get("/api/sessions/mine"); r.Field(t, "title") != "one" {
		t.Errorf("mine is %s", r.Body)
	}
	if r := x.Get("/api/sessions/claims"); r.Status != http.StatusNotFound {
		t.Errorf("a session of another machine is here: %s", r.Body)
	}
}
