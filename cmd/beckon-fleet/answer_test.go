package main

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"beckon/cmd/internal/hub"
	"beckon/render"
	"beckon/render/fleet/bus"
	"beckon/render/fleet/ctl"
	"beckon/state"
	"beckon/state/offer"

	"github.com/nats-io/nats.go"
)

// natsServer starts the real server as a process, with a hub's configuration.
func natsServer(t *testing.T) *hub.Hub {
	t.Helper()
	program := filepath.Join(t.TempDir(), "nats-server")
	if out, err := exec.Command("go", "build", "-o", program, "github.com/nats-io/nats-server/v2").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	port := l.Addr().(*net.TCPAddr).Port
	_ = l.Close()
	h, err := hub.Init(filepath.Join(t.TempDir(), "hub"), fmt.Sprintf("127.0.0.1:%d", port), nil)
	if err != nil {
		t.Fatal(err)
	}
	server := exec.Command(program, "-c", h.Config())
	if err := server.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = server.Process.Signal(os.Interrupt); _ = server.Wait() })
	for until := time.Now().Add(20 * time.Second); ; time.Sleep(50 * time.Millisecond) {
		ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
		err := h.Prepare(ctx, 1)
		cancel()
		if err == nil {
			return h
		}
		if time.Now().After(until) {
			t.Fatal(err)
		}
	}
}

// desk is a machine that takes answers from the users in from.
type desk struct {
	mu   sync.Mutex
	from []string
	did  []string
	seen []ctl.Entry
}

func (d *desk) Allowed(w ctl.Who) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	if slices.Contains(d.from, w.User) || slices.Contains(d.from, w.Key) {
		return nil
	}
	return errors.New("no answers from " + w.User)
}

func (d *desk) Listens() bool { d.mu.Lock(); defer d.mu.Unlock(); return len(d.from) > 0 }

func (d *desk) Look(session string) ([]offer.Offer, error) {
	payload := []byte(`{"tool_input":{"command":"make"}}`)
	return []offer.Offer{{ID: idOf(session), Kind: offer.Permission, Record: session, Tool: "Bash", Digest: offer.Digest(payload), Payload: payload}}, nil
}

// idOf returns the id of a session's offer.
func idOf(session string) string {
	return (strings.ToUpper(session) + strings.Repeat("A", 26))[:26]
}

func (d *desk) do(format string, args ...any) (string, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.did = append(d.did, fmt.Sprintf(format, args...))
	return "done", nil
}

func (d *desk) Answer(w ctl.Who, a offer.Answer) (string, error) {
	return d.do("%s %s %s", w, a.Word, a.Offer)
}
func (d *desk) Say(w ctl.Who, s, text string) (string, error) { return d.do("%s says %s", w, text) }
func (d *desk) Stop(w ctl.Who, s string) (string, error)      { return d.do("%s stops %s", w, s) }
func (d *desk) Note(e ctl.Entry) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.seen = append(d.seen, e)
}

func (d *desk) done() string { d.mu.Lock(); defer d.mu.Unlock(); return strings.Join(d.did, "; ") }

// notes waits until there are n, and returns why each was refused.
func (d *desk) notes(t *testing.T, n int) (why []string) {
	t.Helper()
	for until := time.Now().Add(20 * time.Second); ; time.Sleep(20 * time.Millisecond) {
		d.mu.Lock()
		if len(d.seen) >= n {
			for _, e := range d.seen {
				why = append(why, e.Refused)
			}
			d.mu.Unlock()
			return why
		}
		d.mu.Unlock()
		if time.Now().After(until) {
			t.Fatalf("%d notes are not kept", n)
		}
	}
}

// linkDesk publishes a session as a host that takes answers.
func linkDesk(t *testing.T, a bus.Access, id string, d *desk) {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	rows := make(chan []render.Row, 1)
	rows <- []render.Row{{SessionID: id, SeatID: id, State: state.Permission, NeedsYou: true, Since: time.Now()}}
	go func() {
		done <- bus.Host{Access: a, Node: "n1", Beat: 200 * time.Millisecond, Desk: d}.Run(ctx, rows)
	}()
	t.Cleanup(func() { cancel(); <-done })
}

// viewer is a user who looks, and may answer.
type viewer struct {
	*bus.Follower
	*ctl.Client
}

func view(t *testing.T, h *hub.Hub, a bus.Access) viewer {
	t.Helper()
	f := follow(t, invite(t, h, a))
	c, err := f.Client()
	if err != nil {
		t.Fatal(err)
	}
	return viewer{f, c}
}

// link returns where a host listens, once it has published that.
func (v viewer) link(t *testing.T, session string) (link string) {
	t.Helper()
	eventually(t, v.Follower, session, func(rows []render.Row, _ []render.Host) bool {
		i := slices.IndexFunc(rows, func(r render.Row) bool { return r.SessionID == session })
		if i >= 0 {
			link = rows[i].Remote.Link
		}
		return i >= 0
	})
	return link
}

// look asks until the host listens: a link that is visible may not listen yet.
func (v viewer) look(t *testing.T, link, session string) ([]offer.Offer, error) {
	t.Helper()
	for until := time.Now().Add(20 * time.Second); ; time.Sleep(50 * time.Millisecond) {
		list, err := v.Look(context.Background(), link, session)
		if !errors.Is(err, ctl.ErrDeaf) || time.Now().After(until) {
			return list, err
		}
	}
}

// An answer reaches the session of another machine if that machine allows the user; nobody
// else's does, whatever the hub passes on.
func TestAnswerElsewhere(t *testing.T) {
	for name, running := range map[string]func(*testing.T) *hub.Hub{"beckon-fleet": running, "nats-server": natsServer} {
		t.Run(name, func(t *testing.T) { answerElsewhere(t, running(t)) })
	}
}

func answerElsewhere(t *testing.T, h *hub.Hub) {
	ctx := context.Background()
	open, closed, bobs := &desk{from: []string{"ann"}}, &desk{}, &desk{from: []string{"lead"}}
	box := invite(t, h, bus.Access{User: "ann", Host: "box"})
	linkDesk(t, box, "one", open)
	linkDesk(t, invite(t, h, bus.Access{User: "ann", Host: "shut"}), "two", closed)
	linkDesk(t, invite(t, h, bus.Access{User: "bob", Host: "box"}), "three", bobs)
	ann := view(t, h, bus.Access{User: "ann", Host: "laptop", View: true, Answer: true})
	lead := view(t, h, bus.Access{User: "lead", All: true, Answer: true})
	one, two, three := ann.link(t, "one"), ann.link(t, "two"), lead.link(t, "three")

	list, err := ann.look(t, one, "one")
	if err != nil || len(list) != 1 || string(list[0].Payload) != `{"tool_input":{"command":"make"}}` {
		t.Fatalf("%+v, %v", list, err)
	}
	answer := offer.Answer{Offer: list[0].ID, Digest: list[0].Digest, Word: offer.Allow}
	if text, err := ann.Answer(ctx, one, "one", answer); text != "done" || err != nil {
		t.Fatalf("%q, %v", text, err)
	}
	if _, err := ann.Say(ctx, one, "one", "go on"); err != nil {
		t.Error(err)
	}
	if _, err := ann.Stop(ctx, one, "one"); err != nil {
		t.Error(err)
	}
	const all = "ann at laptop allow ONEAAAAAAAAAAAAAAAAAAAAAAA; ann at laptop says go on; ann at laptop stops one"
	if got := open.done(); got != all {
		t.Errorf("done: %q", got)
	}

	// A user who is not named gets a refusal with the reason, and a machine that names nobody
	// does not listen.
	var said *ctl.Refused
	if _, err := lead.look(t, one, "one"); !errors.As(err, &said) || said.Why != "no answers from lead" {
		t.Errorf("a user who is not named: %v", err)
	}
	if _, err := ann.Answer(ctx, two, "two", answer); !errors.Is(err, ctl.ErrDeaf) {
		t.Errorf("a machine that takes no answers: %v", err)
	}
	if list, err := lead.look(t, three, "three"); err != nil || len(list) != 1 {
		t.Errorf("%v, %v", list, err)
	}
	if _, err := ann.Answer(ctx, three, "three", answer); !errors.Is(err, ctl.ErrMayNot) {
		t.Errorf("another user's machine: %v", err)
	}
	// A named key allows only itself.
	open.mu.Lock()
	open.from = []string{ann.ID.Key}
	open.mu.Unlock()
	phone := view(t, h, bus.Access{User: "ann", View: true, Answer: true})
	if _, err := phone.Look(ctx, one, "one"); !errors.As(err, &said) {
		t.Errorf("another key of the same user: %v", err)
	}
	if _, err := ann.Look(ctx, one, "one"); err != nil {
		t.Errorf("the key that is named: %v", err)
	}
	// Withdrawn consent ends at once.
	open.mu.Lock()
	open.from = nil
	open.mu.Unlock()
	if _, err := ann.Stop(ctx, one, "one"); err == nil {
		t.Error("it answers on")
	}
	if got := open.done(); got != all {
		t.Errorf("done: %q", got)
	}
}

// spy reads what the operator of an account can read.
func spy(t *testing.T, h *hub.Hub) (*nats.Conn, *nats.Subscription) {
	t.Helper()
	nc, err := h.Dial()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(nc.Close)
	sub, err := nc.SubscribeSync("beckon.ctl.>")
	if err != nil {
		t.Fatal(err)
	}
	if err := nc.Flush(); err != nil {
		t.Fatal(err)
	}
	return nc, sub
}

// A message that is sent again, to another machine, or by somebody else, does nothing, even if
// the hub's operator sends it.
func TestReplayedAnswer(t *testing.T) {
	h := running(t)
	ctx := context.Background()
	d, other := &desk{from: []string{"ann"}}, &desk{from: []string{"ann"}}
	linkDesk(t, invite(t, h, bus.Access{User: "ann", Host: "box"}), "one", d)
	linkDesk(t, invite(t, h, bus.Access{User: "ann", Host: "other"}), "one-too", other)
	ann := view(t, h, bus.Access{User: "ann", View: true, Answer: true})
	link, elsewhere := ann.link(t, "one"), ann.link(t, "one-too")
	if _, err := ann.look(t, link, "one"); err != nil {
		t.Fatal(err)
	}
	if _, err := ann.look(t, elsewhere, "one"); err != nil {
		t.Fatal(err)
	}
	nc, sub := spy(t, h)
	if _, err := ann.Stop(ctx, link, "one"); err != nil {
		t.Fatal(err)
	}
	if _, err := sub.NextMsg(20 * time.Second); err != nil { // the question before it
		t.Fatal(err)
	}
	order, err := sub.NextMsg(20 * time.Second)
	if err != nil {
		t.Fatal(err)
	}
	for _, subject := range []string{order.Subject, strings.Replace(order.Subject, link, elsewhere, 1), ctl.Subject(link, "UX")} {
		if err := nc.PublishRequest(subject, order.Reply, order.Data); err != nil {
			t.Fatal(err)
		}
	}
	why := append(d.notes(t, 3), other.notes(t, 1)...)
	if !strings.Contains(why[1]+why[2], "carried out already") || !strings.Contains(why[3], "the signature is not") || d.done() != "ann stops one" || other.done() != "" {
		t.Errorf("%q; %q, %q", why, d.done(), other.done())
	}
}

// An access without the right to answer cannot answer: neither by publishing, nor by having
// another one publish what it has signed.
func TestAnswerWithoutRight(t *testing.T) {
	h := running(t)
	d := &desk{from: []string{"ann"}}
	linkDesk(t, invite(t, h, bus.Access{User: "ann", Host: "box"}), "one", d)
	ann := view(t, h, bus.Access{User: "ann", View: true, Answer: true})
	link := ann.link(t, "one")
	if _, err := ann.look(t, link, "one"); err != nil {
		t.Fatal(err)
	}
	looker := invite(t, h, bus.Access{User: "ann", Host: "ci", View: true})
	c, err := follow(t, looker).Client()
	if err != nil {
		t.Fatal(err)
	}
	if _, err := c.Stop(context.Background(), link, "one"); !errors.Is(err, ctl.ErrMayNot) {
		t.Errorf("%v", err)
	}
	refused := make(chan error, 9)
	nc, err := bus.DialOnce(looker, nats.ErrorHandler(func(_ *nats.Conn, _ *nats.Subscription, err error) { refused <- err }))
	if err != nil {
		t.Fatal(err)
	}
	defer nc.Close()
	for _, key := range []string{c.ID.Key, ann.ID.Key} {
		if err := nc.PublishRequest(ctl.Subject(link, key), ctl.Inbox(c.ID.Key)+".x", []byte("{}")); err != nil {
			t.Fatal(err)
		}
		select {
		case <-refused:
		case <-time.After(20 * time.Second):
			t.Errorf("it may publish as %s", key)
		}
	}
	for _, subject := range []string{"beckon.ctl.>", "beckon.ctl.ann.box.>", ctl.Inbox(ann.ID.Key) + ".>"} {
		if _, err := nc.SubscribeSync(subject); err != nil {
			t.Fatal(err)
		}
		_ = nc.Flush()
		select {
		case <-refused:
		case <-time.After(20 * time.Second):
			t.Errorf("it may listen to %s", subject)
		}
	}

	subject := ctl.Subject(link, c.ID.Key)
	signed, err := c.ID.Seal(subject, ctl.Inbox(c.ID.Key)+".x", map[string]string{"op": "look", "session": "one"})
	if err != nil {
		t.Fatal(err)
	}
	keeper, _ := spy(t, h)
	if err := keeper.PublishRequest(subject, ctl.Inbox(c.ID.Key)+".x", signed); err != nil {
		t.Fatal(err)
	}
	for _, why := range d.notes(t, 1) {
		if !strings.Contains(why, "does not allow this") {
			t.Errorf("refused as %q", why)
		}
	}
	if d.done() != "" {
		t.Errorf("done: %q", d.done())
	}
}

// Of two machines with the same files, an answer reaches the one that was asked.
func TestAnswerToCopy(t *testing.T) {
	h := running(t)
	box := invite(t, h, bus.Access{User: "ann", Host: "box"})
	first, second := &desk{from: []string{"ann"}}, &desk{from: []string{"ann"}}
	ann := view(t, h, bus.Access{User: "ann", View: true, Answer: true})
	linkDesk(t, box, "one", first)
	link := ann.link(t, "one")
	if _, err := ann.look(t, link, "one"); err != nil {
		t.Fatal(err)
	}
	linkDesk(t, box, "two", second)
	ann.link(t, "two")
	// The first may have taken another name by now; then nobody listens under the old one.
	if _, err := ann.Stop(context.Background(), link, "one"); err != nil && !errors.Is(err, ctl.ErrDeaf) {
		t.Errorf("%v", err)
	} else if err == nil && first.done() != "ann stops one" {
		t.Errorf("done: %q", first.done())
	}
	if second.done() != "" {
		t.Errorf("the copy did %q", second.done())
	}
}
