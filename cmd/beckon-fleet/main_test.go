package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"beckon/cmd/internal/hub"
	"beckon/render"
	"beckon/render/fleet/bus"
	"beckon/state"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
)

// running starts a hub that serves all machines, and therefore uses TLS.
func running(t *testing.T) *hub.Hub {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	port := l.Addr().(*net.TCPAddr).Port
	_ = l.Close()
	dir := filepath.Join(t.TempDir(), "hub")
	h, err := hub.Init(dir, fmt.Sprintf("0.0.0.0:%d", port), []string{"127.0.0.1", "hub.example.org"})
	if err != nil {
		t.Fatal(err)
	}
	served, err := hub.Open(dir) // by another process than the one that issues invitations
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	out, in := io.Pipe()
	go func() { done <- serve(ctx, served, in); _ = in.Close() }()
	t.Cleanup(func() { cancel(); <-done })
	line := make([]byte, 200)
	n, err := out.Read(line)
	if err != nil || !strings.Contains(string(line[:n]), "the hub listens at") {
		t.Fatalf("%q, %v, %v", line[:n], err, errors.Join(drained(done)...))
	}
	go func() { _, _ = io.Copy(io.Discard, out) }()
	return h
}

func drained(c chan error) (all []error) {
	select {
	case err := <-c:
		c <- err
		return []error{err}
	default:
		return nil
	}
}

func invite(t *testing.T, h *hub.Hub, a bus.Access) bus.Access {
	t.Helper()
	a, err := h.Invite(a, time.Time{})
	if err != nil {
		t.Fatal(err)
	}
	if a, err = bus.ReadToken(a.Token()); err != nil {
		t.Fatal(err)
	}
	return a
}

// link publishes one session as a host.
func link(t *testing.T, a bus.Access, id string) (end func()) {
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	rows := make(chan []render.Row, 1)
	rows <- []render.Row{{SessionID: id, SeatID: id, State: state.Permission, NeedsYou: true, Since: time.Now()}}
	go func() {
		done <- bus.Host{Access: a, Node: "n1", Beat: 200 * time.Millisecond}.Run(ctx, rows)
	}()
	end = func() { cancel(); <-done; done <- nil }
	t.Cleanup(end)
	return end
}

func follow(t *testing.T, a bus.Access) *bus.Follower {
	t.Helper()
	f, err := bus.Follow(context.Background(), a, "test")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(f.Close)
	return f
}

// eventually waits until the view satisfies the condition.
func eventually(t *testing.T, f *bus.Follower, what string, fits func(rows []render.Row, hosts []render.Host) bool) {
	t.Helper()
	for until := time.Now().Add(60 * time.Second); ; time.Sleep(30 * time.Millisecond) {
		rows, hosts, err := f.Snapshot()
		if fits(rows, hosts) {
			return
		}
		if time.Now().After(until) {
			t.Fatalf("%s: %v %+v %v", what, len(rows), hosts, err)
		}
	}
}

// One command serves a hub. Each host joins with a token, can publish its own rows and nothing
// else, reads nothing, and can be revoked.
func TestHub(t *testing.T) {
	h := running(t)
	viewer := invite(t, h, bus.Access{User: "ann", View: true})
	a := invite(t, h, bus.Access{User: "ann", Host: "a"})
	b := invite(t, h, bus.Access{User: "bob", Host: "b"})
	f := follow(t, viewer)
	everybody := follow(t, invite(t, h, bus.Access{User: "lead", All: true}))
	link(t, a, "one")
	link(t, b, "two")
	eventually(t, f, "ann sees her own", func(rows []render.Row, hosts []render.Host) bool {
		return len(rows) == 1 && rows[0].SessionID == "one" && hosts[0].Name == "a"
	})
	eventually(t, everybody, "the lead sees all", func(rows []render.Row, _ []render.Host) bool { return len(rows) == 2 })

	if _, _, err := h.Revoke("nobody"); err == nil {
		t.Error("nobody is revoked")
	}
	if n, _, err := h.Revoke("a"); n != 1 || err != nil {
		t.Fatal(n, err)
	}
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
	defer cancel()
	if err := h.Push(ctx); err != nil {
		t.Fatal(err)
	}
	for until := time.Now().Add(20 * time.Second); ; time.Sleep(50 * time.Millisecond) {
		nc, err := bus.DialOnce(a)
		if err != nil {
			break
		}
		nc.Close()
		if time.Now().After(until) {
			t.Fatal("a revoked access is let in")
		}
	}
	again, err := hub.Open(h.Dir)
	if err != nil || len(again.Names()) != 3 {
		t.Errorf("given: %v, %v", again.Names(), err)
	}
}

// A stolen access of a host reads nothing.
func TestHostMayDoNothingElse(t *testing.T) {
	h := running(t)
	a := invite(t, h, bus.Access{User: "ann", Host: "a"})
	link(t, invite(t, h, bus.Access{User: "ann", Host: "b"}), "secret")
	f := follow(t, invite(t, h, bus.Access{User: "ann", View: true}))
	eventually(t, f, "b is there", func(rows []render.Row, _ []render.Host) bool { return len(rows) == 1 })

	refused := make(chan error, 100)
	nc, err := bus.DialOnce(a, nats.ErrorHandler(func(_ *nats.Conn, _ *nats.Subscription, err error) { refused <- err }))
	if err != nil {
		t.Fatal(err)
	}
	defer nc.Close()
	for _, subject := range []string{
		"$KV.beckon.ann.b.n1.r.secret", "$KV.beckon.ann.b.n1.p", "$KV.beckon.bob.a.n1.p", "$KV.beckon.ann.a.n1.r.x.y", "$JS.API.STREAM.INFO.KV_beckon", "$JS.API.STREAM.DELETE.KV_beckon",
		"$JS.API.STREAM.MSG.GET.KV_beckon", "$JS.API.STREAM.CREATE.KV_evil", "$JS.API.DIRECT.GET.KV_beckon", "$JS.API.DIRECT.GET.KV_beckon.$KV.beckon.ann.b.n1.p",
		"$JS.API.CONSUMER.CREATE.KV_beckon.x.$KV.beckon.ann.>", "$JS.API.CONSUMER.CREATE.KV_beckon", "$JS.API.CONSUMER.MSG.NEXT.KV_beckon.x", "$SYS.REQ.CLAIMS.UPDATE", "_INBOX_beckon_UB.x", "beckon.ctl.ann.b.n1.x.y",
	} {
		if err := nc.Publish(subject, []byte("{}")); err != nil {
			t.Fatal(err)
		}
		_ = nc.Flush()
		select {
		case <-refused:
		case <-time.After(20 * time.Second):
			t.Errorf("%s is let through", subject)
		}
	}
	for _, subject := range []string{">", "$KV.>", "$KV.beckon.ann.b.>", "_INBOX.>", "_INBOX_beckon_UB.>", "beckon.ctl.>", "beckon.ctl.ann.b.>", "$JS.>"} {
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
	js, err := jetstream.New(nc)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Second)
	defer cancel()
	if kv, err := js.KeyValue(ctx, bus.Bucket); err == nil {
		t.Errorf("it opens the bucket %v", kv)
	}
	rows, hosts, _ := f.Snapshot()
	if len(rows) != 1 || len(hosts) != 1 {
		t.Errorf("the view has %v %v", rows, hosts)
	}
}

// A server that only claims to be the hub gets nothing.
func TestAnotherServer(t *testing.T) {
	h := running(t)
	a := invite(t, h, bus.Access{User: "ann", Host: "a"})
	a.CA = strings.Repeat("0", 64)
	if nc, err := bus.DialOnce(a); err == nil {
		nc.Close()
		t.Error("a token of another hub connects")
	}
	a = invite(t, h, bus.Access{User: "ann", Host: "a"})
	a.URL = strings.Replace(a.URL, "127.0.0.1", "localhost", 1)
	if nc, err := bus.DialOnce(a); err == nil {
		nc.Close()
		t.Error("a name that is not in the certificate connects")
	}
	expired, err := h.Invite(bus.Access{User: "ann", Host: "ci"}, time.Now().Add(-time.Minute))
	if err != nil {
		t.Fatal(err)
	}
	if nc, err := bus.DialOnce(expired); err == nil {
		nc.Close()
		t.Error("an access that has ended connects")
	}
}

func TestUsage(t *testing.T) {
	var out strings.Builder
	if err := run(context.Background(), nil, &out); err == nil || !strings.Contains(out.String(), "usage:") {
		t.Errorf("%q, %v", out.String(), err)
	}
	for _, args := range [][]string{{"--help"}, {"serve", "--help"}} {
		if err := run(context.Background(), args, &out); err != nil {
			t.Error(args, err)
		}
	}
	for _, args := range [][]string{{"nosuch"}, {"serve", "--nosuch"}, {"serve", "more"}} {
		if err := run(context.Background(), args, &out); !errors.Is(err, errUsage) {
			t.Error(args, err)
		}
	}
	if err := run(context.Background(), []string{"serve", "--dir", t.TempDir(), "--listen", "0.0.0.0:1"}, &out); err == nil || !strings.Contains(err.Error(), "name") {
		t.Errorf("a hub that nobody can name: %v", err)
	}
}
