package bus

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"beckon/render"
	"beckon/render/fleet"
	"beckon/state"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
)

// quickly makes dead connections be noticed within a second.
func quickly(t *testing.T) {
	was := ping
	ping = 300 * time.Millisecond
	t.Cleanup(func() { ping = was })
}

// losesSoon makes a view count a host as unheard after two seconds.
func losesSoon(f *Follower) *Follower {
	f.mu.Lock()
	f.view.Lost = 2 * time.Second
	f.mu.Unlock()
	return f
}

// stall makes existing connections carry nothing any more, without an error. New ones work.
func (p *proxy) stall() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.stalled = append(p.stalled, p.open...)
	p.open = nil
}

// reset breaks existing connections in the middle of what they carry.
func (p *proxy) reset() {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, c := range p.open {
		_ = c.(*net.TCPConn).SetLinger(0)
		_ = c.Close()
	}
	p.open = nil
}

// A killed link reports nothing: its rows become stale, and current again when it next runs.
func TestLinkIsKilled(t *testing.T) {
	h := newHub(t)
	p := newProxy(t, h.url())
	f := losesSoon(watch(t, h.url()))
	a := start(t, Host{Access: Access{URL: p.url(), Host: "a"}})
	a.rows <- []render.Row{session("one", state.Working, time.Now())}
	expect(t, f, "a one working")
	p.set(true) // it can send nothing any more
	a.end()
	expect(t, f, "~a one working")
	b := start(t, Host{Access: Access{URL: h.url(), Host: "a"}, Epoch: a.epoch()})
	b.rows <- []render.Row{session("one", state.Permission, time.Now())}
	expect(t, f, "a one permission")
}

// Both ends notice a connection that carries nothing and that neither has closed.
func TestHalfOpen(t *testing.T) {
	quickly(t)
	h := newHub(t)
	there, here := newProxy(t, h.url()), newProxy(t, h.url())
	f := losesSoon(watch(t, here.url()))
	a := start(t, Host{Access: Access{URL: there.url(), Host: "a"}})
	a.rows <- []render.Row{session("one", state.Working, time.Now())}
	expect(t, f, "a one working")
	there.stall()
	a.rows <- []render.Row{session("one", state.Permission, time.Now())}
	expect(t, f, "a one permission")
	here.stall()
	a.rows <- []render.Row{session("one", state.Question, time.Now())}
	expect(t, f, "a one question")
}

// Through a slow network, with a round trip of 300 ms and 32 KB a second, all rows of a host
// arrive, and so do changes; the host never counts as silent.
func TestSlowNetwork(t *testing.T) {
	h := newHub(t)
	slow := func() *proxy {
		p := newProxy(t, h.url())
		p.mu.Lock()
		p.far, p.rate = 150*time.Millisecond, 32<<10
		p.mu.Unlock()
		return p
	}
	f := watch(t, slow().url())
	a := start(t, Host{Access: Access{URL: slow().url(), Host: "a"}, Beat: fleet.Beat / 5})
	const many = 400
	rows := make([]render.Row, many)
	for i := range rows {
		rows[i] = session(fmt.Sprintf("%03d", i), state.Idle, time.Now())
		rows[i].Model, rows[i].Title = strings.Repeat("m", 100), strings.Repeat("t", 100)
	}
	quick := watch(t, h.url())
	a.rows <- slices.Clone(rows)
	await := func(what string, is func([]render.Row) bool) {
		t.Helper()
		for end := time.Now().Add(40 * time.Second); ; time.Sleep(20 * time.Millisecond) {
			got, hosts, err := f.Snapshot()
			for _, h := range hosts {
				if h.Stale {
					t.Fatalf("%s is taken for silent at %v", h.Name, h.AsOf)
				}
			}
			if is(got) {
				return
			}
			if time.Now().After(end) {
				there, _, _ := quick.Snapshot()
				t.Fatalf("%s: %d rows are seen, the hub has %d, %v; the link says %q", what, len(got), len(there), err, a.log())
			}
		}
	}
	await("all rows", func(got []render.Row) bool { return len(got) == many })
	for i := range 10 {
		rows[i].State = state.Permission
		a.rows <- slices.Clone(rows)
		await("a change", func(got []render.Row) bool {
			return slices.ContainsFunc(got, func(r render.Row) bool { return r.SessionID == rows[i].SessionID && r.State == state.Permission })
		})
	}
}

// Connections that break repeatedly in the middle of messages do no lasting harm.
func TestResets(t *testing.T) {
	h := newHub(t)
	p := newProxy(t, h.url())
	f := watch(t, p.url())
	a := start(t, Host{Access: Access{URL: p.url(), Host: "a"}})
	states := []state.State{state.Working, state.Permission, state.Idle}
	for i := range 40 {
		a.rows <- []render.Row{session("one", states[i%3], time.Now()), session(fmt.Sprint("s", i), states[i%2], time.Now())}
		time.Sleep(time.Duration(rand.IntN(30)) * time.Millisecond)
		if i%4 == 0 {
			p.reset()
		}
	}
	a.rows <- []render.Row{session("one", state.Question, time.Now())}
	expect(t, f, "a one question")
}

// A hub restored from last week's backup shows the current rows of its hosts.
func TestHubIsRestored(t *testing.T) {
	h := newHub(t)
	a := start(t, Host{Access: Access{URL: h.url(), Host: "a"}})
	f := watch(t, h.url())
	a.rows <- []render.Row{session("one", state.Permission, time.Now()), session("old", state.Idle, time.Now())}
	expect(t, f, "a old idle, a one permission")
	h.stop()
	backup := filepath.Join(t.TempDir(), "backup")
	if err := os.CopyFS(backup, os.DirFS(h.opts.StoreDir)); err != nil {
		t.Fatal(err)
	}
	h.start()
	a.rows <- []render.Row{session("one", state.Working, time.Now()), session("new", state.Idle, time.Now())}
	expect(t, f, "a new idle, a one working")
	h.wipe()
	if err := os.CopyFS(h.opts.StoreDir, os.DirFS(backup)); err != nil {
		t.Fatal(err)
	}
	h.start()
	expect(t, f, "a new idle, a one working")
	expect(t, watch(t, h.url()), "a new idle, a one working")
}

// After their hub loses its disk, two hundred links have restored all rows within a minute,
// and none sends more than it must.
func TestHerd(t *testing.T) {
	const links, each = 200, 10
	h := newHub(t)
	f := watch(t, h.url())
	for i := range links {
		m := start(t, Host{Access: Access{URL: h.url(), Host: fmt.Sprint("h", i)}, Beat: fleet.Beat})
		var rows []render.Row
		for k := range each {
			rows = append(rows, session(fmt.Sprint("s", k), state.Working, time.Now()))
		}
		m.rows <- rows
	}
	all := func(f *Follower) {
		t.Helper()
		for until := time.Now().Add(time.Minute); ; time.Sleep(50 * time.Millisecond) {
			rows, hosts, err := f.Snapshot()
			if len(rows) == links*each && len(hosts) == links {
				return
			}
			if time.Now().After(until) {
				t.Fatalf("%d rows of %d hosts, %v", len(rows), len(hosts), err)
			}
		}
	}
	all(f)
	h.wipe()
	h.start()
	began := time.Now()
	all(watch(t, h.url()))
	t.Logf("all rows again after %s", time.Since(began).Round(100*time.Millisecond))
	_, _, kept := h.stream()
	if n := kept.CachedInfo().State.LastSeq; n > 3*links*(each+1) {
		t.Errorf("%d messages for %d rows", n, links*each)
	}
}

// stream returns what the hub keeps, through a connection of its own.
func (h *hub) stream() (context.Context, *nats.Conn, jetstream.Stream) {
	h.t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
	h.t.Cleanup(cancel)
	nc, err := nats.Connect(h.url())
	if err != nil {
		h.t.Fatal(err)
	}
	h.t.Cleanup(nc.Close)
	js, err := jetstream.New(nc)
	if err != nil {
		h.t.Fatal(err)
	}
	s, err := js.Stream(ctx, Stream)
	if err != nil {
		h.t.Fatal(err)
	}
	return ctx, nc, s
}

// node is a server of a cluster, as a process.
type node struct {
	config string
	url    string
	cmd    *exec.Cmd
}

func (n *node) start(t *testing.T, program string) {
	t.Helper()
	n.cmd = exec.Command(program, "-c", n.config)
	if err := n.cmd.Start(); err != nil {
		t.Fatal(err)
	}
}

// kill is kill -9.
func (n *node) kill() {
	if n.cmd != nil {
		_ = n.cmd.Process.Kill()
		_ = n.cmd.Wait()
		n.cmd = nil
	}
}

// cluster starts three real servers on loopback that know each other.
func cluster(t *testing.T) (program string, nodes []*node) {
	t.Helper()
	dir := t.TempDir()
	program = filepath.Join(dir, "nats-server")
	if out, err := exec.Command("go", "build", "-o", program, "github.com/nats-io/nats-server/v2").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	var ports []int
	var open []net.Listener
	for range 6 {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		open, ports = append(open, l), append(ports, l.Addr().(*net.TCPAddr).Port)
	}
	for _, l := range open {
		_ = l.Close()
	}
	var routes []string
	for _, p := range ports[3:] {
		routes = append(routes, fmt.Sprintf("nats-route://127.0.0.1:%d", p))
	}
	for i := range 3 {
		n := &node{config: filepath.Join(dir, fmt.Sprintf("%d.conf", i)), url: fmt.Sprintf("nats://127.0.0.1:%d", ports[i])}
		text := fmt.Sprintf("server_name: n%d\nlisten: 127.0.0.1:%d\njetstream { store_dir: %q }\ncluster { name: c, listen: 127.0.0.1:%d, routes: [%s] }\n",
			i, ports[i], filepath.Join(dir, fmt.Sprint(i)), ports[3+i], strings.Join(routes, ", "))
		if err := os.WriteFile(n.config, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		n.start(t, program)
		t.Cleanup(n.kill)
		nodes = append(nodes, n)
	}
	return program, nodes
}

// If one of three servers dies, no viewer notices. If two are dead, rows become stale; they
// are current again once one is back.
func TestCluster(t *testing.T) {
	if testing.Short() {
		t.Skip("a quorum takes its time")
	}
	quickly(t)
	program, nodes := cluster(t)
	var urls []string
	for _, n := range nodes {
		urls = append(urls, n.url)
	}
	all := strings.Join(urls, ",")
	for until := time.Now().Add(time.Minute); ; time.Sleep(200 * time.Millisecond) {
		err := func() error {
			nc, err := nats.Connect(all)
			if err != nil {
				return err
			}
			defer nc.Close()
			ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
			defer cancel()
			return Make(ctx, nc, 3, false)
		}()
		if err == nil {
			break
		}
		if time.Now().After(until) {
			t.Fatal(err)
		}
	}
	a := start(t, Host{Access: Access{URL: all, Host: "a"}})
	f := losesSoon(watch(t, all))
	a.rows <- []render.Row{session("one", state.Working, time.Now())}
	expect(t, f, "a one working")
	nodes[0].kill()
	a.rows <- []render.Row{session("one", state.Permission, time.Now())}
	expect(t, f, "a one permission")
	nodes[1].kill()
	expect(t, f, "~a one permission")
	a.rows <- []render.Row{session("one", state.Question, time.Now())}
	time.Sleep(time.Second)
	if got := shown(f); got != "~a one permission" {
		t.Errorf("with one server of three the view shows %q", got)
	}
	nodes[0].start(t, program)
	expect(t, f, "a one question")
}

// A view whose watch has died on the server without a report reads everything again.
func TestWatchDies(t *testing.T) {
	h := newHub(t)
	f := watch(t, h.url())
	a := start(t, Host{Access: Access{URL: h.url(), Host: "a"}})
	a.rows <- []render.Row{session("one", state.Working, time.Now())}
	expect(t, f, "a one working")
	ctx, _, s := h.stream()
	for name := range s.ConsumerNames(ctx).Name() {
		if err := s.DeleteConsumer(ctx, name); err != nil {
			t.Fatal(err)
		}
	}
	a.rows <- []render.Row{session("one", state.Permission, time.Now())}
	expect(t, f, "a one permission")
}

// A link that misbehaves is limited to the size of one message and the rows of one host.
func TestMadLink(t *testing.T) {
	h := newHub(t)
	ctx, nc, s := h.stream()
	reply, err := nc.RequestWithContext(ctx, subjects+"ann.a.n1.r.x", make([]byte, fleet.MaxMessage+1))
	if err != nil || !strings.Contains(string(reply.Data), "exceeds") {
		t.Errorf("a row of %d bytes: %s, %v", fleet.MaxMessage+1, reply.Data, err)
	}
	if err := nc.Publish(subjects+"ann.a.n1.r.x", make([]byte, 10<<20)); !errors.Is(err, nats.ErrMaxPayload) {
		t.Errorf("a row of 10 MB: %v", err)
	}
	if n := s.CachedInfo().State.Msgs; n != 0 {
		t.Errorf("%d are kept", n)
	}
}
