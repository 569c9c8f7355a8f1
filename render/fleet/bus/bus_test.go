package bus

import (
	"context"
	"fmt"
	"net"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"beckon/render"
	"beckon/state"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"
)

// hub is a real server on loopback.
type hub struct {
	t    testing.TB
	opts server.Options
	s    *server.Server
}

func newHub(t testing.TB) *hub {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	port := l.Addr().(*net.TCPAddr).Port
	_ = l.Close()
	h := &hub{t: t, opts: server.Options{Host: "127.0.0.1", Port: port, JetStream: true, StoreDir: t.TempDir(), NoLog: true, NoSigs: true}}
	h.start()
	t.Cleanup(h.stop)
	return h
}

func (h *hub) url() string { return fmt.Sprintf("nats://127.0.0.1:%d", h.opts.Port) }

func (h *hub) start() {
	h.t.Helper()
	opts := h.opts
	s, err := server.NewServer(&opts)
	if err != nil {
		h.t.Fatal(err)
	}
	s.Start()
	if !s.ReadyForConnections(20 * time.Second) {
		h.t.Fatal("the server does not start")
	}
	h.s = s
	nc, err := nats.Connect(h.url())
	if err != nil {
		h.t.Fatal(err)
	}
	defer nc.Close()
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
	defer cancel()
	if err := Make(ctx, nc, 1, false); err != nil {
		h.t.Fatal(err)
	}
}

func (h *hub) stop() {
	if h.s != nil {
		h.s.Shutdown()
		h.s.WaitForShutdown()
		h.s = nil
	}
}

// wipe removes the server's disk.
func (h *hub) wipe() {
	h.stop()
	if err := os.RemoveAll(h.opts.StoreDir); err != nil {
		h.t.Fatal(err)
	}
}

// proxy is a network that can be cut, or can swallow everything.
type proxy struct {
	l    net.Listener
	to   string
	mu   sync.Mutex
	cut  bool
	held chan struct{} // not nil: bytes wait until it is closed
	far  time.Duration // how long bytes travel
	rate int           // not 0: how many bytes get through per second
	open []net.Conn

	stalled []net.Conn // their bytes go nowhere
}

func newProxy(t testing.TB, to string) *proxy {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	p := &proxy{l: l, to: strings.TrimPrefix(to, "nats://")}
	t.Cleanup(func() { _ = l.Close(); p.open = append(p.open, p.stalled...); p.set(true) })
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			go p.serve(c)
		}
	}()
	return p
}

func (p *proxy) url() string { return "nats://" + p.l.Addr().String() }

func (p *proxy) serve(c net.Conn) {
	p.mu.Lock()
	cut := p.cut
	p.mu.Unlock()
	up, err := net.Dial("tcp", p.to)
	if cut || err != nil {
		_ = c.Close()
		return
	}
	p.mu.Lock()
	p.open = append(p.open, c, up)
	p.mu.Unlock()
	if p.rate > 0 {
		go p.crawl(c, up)
		p.crawl(up, c)
		return
	}
	pipe := func(dst, src net.Conn) {
		b := make([]byte, 4096)
		for {
			n, err := src.Read(b)
			p.mu.Lock()
			held := p.held
			stalled := slices.Contains(p.stalled, dst)
			p.mu.Unlock()
			if held != nil {
				<-held
			}
			if stalled && err == nil {
				continue
			}
			if _, e := dst.Write(b[:n]); e != nil || err != nil {
				_, _ = dst.Close(), src.Close()
				return
			}
		}
	}
	go pipe(c, up)
	pipe(up, c)
}

// crawl forwards bytes with the delay and rate of the proxy.
func (p *proxy) crawl(dst, src net.Conn) {
	type parcel struct {
		data []byte
		at   time.Time
	}
	way := make(chan parcel, 1<<10)
	go func() {
		defer close(way)
		for {
			b := make([]byte, 2048)
			n, err := src.Read(b)
			if n > 0 {
				time.Sleep(time.Duration(n) * time.Second / time.Duration(p.rate))
				way <- parcel{b[:n], time.Now().Add(p.far)}
			}
			if err != nil {
				return
			}
		}
	}()
	for b := range way {
		time.Sleep(time.Until(b.at))
		if _, err := dst.Write(b.data); err != nil {
			break
		}
	}
	_, _ = dst.Close(), src.Close()
	for range way {
	}
}

// set cuts the network or restores it.
func (p *proxy) set(cut bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.cut = cut
	if cut {
		for _, c := range p.open {
			_ = c.Close()
		}
		p.open = nil
	}
}

// hold makes every byte wait until the returned function is called.
func (p *proxy) hold() func() {
	p.mu.Lock()
	defer p.mu.Unlock()
	held := make(chan struct{})
	p.held = held
	return func() {
		p.mu.Lock()
		p.held = nil
		p.mu.Unlock()
		close(held)
	}
}

// machine is a host with a link.
type machine struct {
	t    testing.TB
	rows chan []render.Row
	end  func()
	mu   sync.Mutex
	node string
	at   uint64
	logs []string
}

func start(t testing.TB, h Host) *machine {
	t.Helper()
	m := &machine{t: t, rows: make(chan []render.Row, 16), node: h.Node, at: h.Epoch}
	h.Access.User = "ann"
	if h.Node == "" {
		h.Node = "n1"
	}
	h.Save = func(node string, epoch uint64) { m.mu.Lock(); m.node, m.at = node, epoch; m.mu.Unlock() }
	h.Log = func(s string) { m.mu.Lock(); m.logs = append(m.logs, s); m.mu.Unlock() }
	if h.Beat == 0 {
		h.Beat = 300 * time.Millisecond
	}
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan struct{})
	go func() {
		defer close(done)
		if err := h.Run(ctx, m.rows); err != nil {
			t.Error(err)
		}
	}()
	m.end = sync.OnceFunc(func() { cancel(); <-done })
	t.Cleanup(m.end)
	return m
}

func (m *machine) log() []string { m.mu.Lock(); defer m.mu.Unlock(); return slices.Clone(m.logs) }

func (m *machine) epoch() uint64 { m.mu.Lock(); defer m.mu.Unlock(); return m.at }

func session(id string, st state.State, since time.Time) render.Row {
	return render.Row{SessionID: id, SeatID: "seat-" + id, State: st, NeedsYou: st.NeedsYou(), Since: since, Project: "shop", Agent: "claude-code"}
}

func watch(t testing.TB, url string) *Follower {
	t.Helper()
	f, err := Follow(context.Background(), Access{URL: url, User: "ann"}, "test")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(f.Close)
	return f
}

// shown returns a view in short: "host session state", with a ~ for stale rows.
func shown(f *Follower) string {
	rows, hosts, _ := f.Snapshot()
	var out []string
	for _, r := range rows {
		s := fmt.Sprint(r.Remote.Name, " ", r.SessionID, " ", r.State)
		if r.Remote.Stale {
			s = "~" + s
		}
		out = append(out, s)
	}
	for _, h := range hosts {
		if !slices.ContainsFunc(rows, func(r render.Row) bool { return r.Remote.Name == h.Name }) {
			out = append(out, h.Name+" empty")
		}
	}
	slices.Sort(out)
	return strings.Join(out, ", ")
}

// expect waits until a view shows want.
func expect(t testing.TB, f *Follower, want string) {
	t.Helper()
	until := time.Now().Add(60 * time.Second)
	for got := ""; ; {
		changed := f.Changed()
		if got = shown(f); got == want {
			return
		}
		select {
		case <-changed:
		case <-time.After(50 * time.Millisecond):
		}
		if time.Now().After(until) {
			_, hosts, err := f.Snapshot()
			t.Fatalf("the view shows %q, not %q (%v, %+v)", got, want, err, hosts)
		}
	}
}

func TestRowsTravel(t *testing.T) {
	h := newHub(t)
	f := watch(t, h.url())
	year := 366 * 24 * time.Hour
	a := start(t, Host{Access: Access{URL: h.url(), Host: "a"}, Clock: func() time.Time { return time.Now().Add(year) }})
	b := start(t, Host{Access: Access{URL: h.url(), Host: "b"}, Forget: true})
	a.rows <- []render.Row{session("one", state.Permission, time.Now().Add(year-time.Hour))}
	b.rows <- []render.Row{session("two", state.Working, time.Now()), session("three", state.Idle, time.Now())}
	expect(t, f, "a one permission, b three idle, b two working")
	rows, _, _ := f.Snapshot()
	for _, r := range rows {
		if age := time.Since(r.Since); r.SessionID == "one" && (age < 59*time.Minute || age > 61*time.Minute) {
			t.Errorf("its clock is a year ahead, and its permission is open for %s", age)
		}
	}
	late := watch(t, h.url())
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
	defer cancel()
	if err := late.Whole(ctx); err != nil || shown(late) != shown(f) {
		t.Errorf("who comes later sees %q, %v", shown(late), err)
	}
	b.rows <- []render.Row{session("two", state.Permission, time.Now())}
	expect(t, f, "a one permission, b two permission")
	b.end()
	expect(t, f, "a one permission")
	a.end()
	expect(t, f, "~a one permission")
	if err := Forget(ctx, f.nc, "ann", "a"); err != nil {
		t.Fatal(err)
	}
	expect(t, f, "")
}

// A viewer reads everything once: the report that its connection is up comes late, and is no
// reason to read everything again.
func TestReadsOnce(t *testing.T) {
	h := newHub(t)
	nc, err := nats.Connect(h.url())
	if err != nil {
		t.Fatal(err)
	}
	defer nc.Close()
	asked, err := nc.SubscribeSync("$JS.API.CONSUMER.CREATE." + Stream + ".>")
	if err != nil {
		t.Fatal(err)
	}
	if err := nc.Flush(); err != nil {
		t.Fatal(err)
	}
	f := watch(t, h.url())
	if err := f.Whole(t.Context()); err != nil {
		t.Fatal(err)
	}
	for range 4 { // there is room for one, so at least two were taken
		f.wake <- struct{}{}
	}
	if err := nc.Flush(); err != nil {
		t.Fatal(err)
	}
	if n, _, _ := asked.Pending(); n != 1 {
		t.Errorf("it reads everything %d times", n)
	}
}

// A hub that loses its disk is filled again by its hosts.
func TestHubLosesItsDisk(t *testing.T) {
	h := newHub(t)
	f := watch(t, h.url())
	a := start(t, Host{Access: Access{URL: h.url(), Host: "a"}})
	a.rows <- []render.Row{session("one", state.Permission, time.Now()), session("two", state.Idle, time.Now())}
	expect(t, f, "a one permission, a two idle")
	h.wipe()
	a.rows <- []render.Row{session("one", state.Working, time.Now())}
	for i := 0; ; i++ {
		if _, _, err := f.Snapshot(); err != nil {
			break
		} else if i > 500 {
			t.Fatal("the view does not say that the hub is away")
		}
		time.Sleep(20 * time.Millisecond)
	}
	if got := shown(f); got != "a one permission, a two idle" {
		t.Errorf("while the hub is away the view shows %q", got)
	}
	h.start()
	expect(t, f, "a one working")
	expect(t, watch(t, h.url()), "a one working")
}

// A network that is cut for a while makes rows stale and loses nothing.
func TestNetworkIsCut(t *testing.T) {
	h := newHub(t)
	p := newProxy(t, h.url())
	f := watch(t, h.url())
	f.mu.Lock()
	f.view.Lost = 2 * time.Second
	f.mu.Unlock()
	a := start(t, Host{Access: Access{URL: p.url(), Host: "a"}})
	a.rows <- []render.Row{session("one", state.Working, time.Now())}
	expect(t, f, "a one working")
	p.set(true)
	expect(t, f, "~a one working")
	a.rows <- []render.Row{session("two", state.Question, time.Now())}
	p.set(false)
	expect(t, f, "a two question")
}

// A viewer that reads nothing for a while sees the current state when it does, and delays
// nobody.
func TestSlowViewer(t *testing.T) {
	h := newHub(t)
	p := newProxy(t, h.url())
	slow, quick := watch(t, p.url()), watch(t, h.url())
	a := start(t, Host{Access: Access{URL: h.url(), Host: "a"}})
	a.rows <- []render.Row{session("one", state.Working, time.Now())}
	expect(t, slow, "a one working")
	release := p.hold()
	for i := range 200 {
		st := state.Permission
		if i%2 == 0 {
			st = state.Idle
		}
		a.rows <- []render.Row{session("one", st, time.Now())}
	}
	expect(t, quick, "a one permission")
	if got := shown(slow); got != "a one working" {
		t.Errorf("it sees %q", got)
	}
	release()
	expect(t, slow, "a one permission")
}

// Two machines with one id, because one is a copy of the other, separate: each gets its own
// rows.
func TestCopiedMachine(t *testing.T) {
	h := newHub(t)
	f := watch(t, h.url())
	a := start(t, Host{Access: Access{URL: h.url(), Host: "a"}, Epoch: 4})
	a.rows <- []render.Row{session("one", state.Working, time.Now())}
	expect(t, f, "a one working")
	b := start(t, Host{Access: Access{URL: h.url(), Host: "a"}, Epoch: 4})
	b.rows <- []render.Row{session("two", state.Idle, time.Now())}
	until := time.Now().Add(60 * time.Second)
	for {
		rows, hosts, _ := f.Snapshot()
		copied := slices.ContainsFunc(hosts, func(h render.Host) bool { return h.Error != "" })
		if len(hosts) == 2 && len(rows) == 2 && copied && rows[0].Remote.Name != rows[1].Remote.Name {
			break
		}
		if time.Now().After(until) {
			t.Fatalf("%+v %v", hosts, shown(f))
		}
		time.Sleep(50 * time.Millisecond)
	}
	a.mu.Lock()
	b.mu.Lock()
	if a.node == b.node {
		t.Error("both are", a.node)
	}
	b.mu.Unlock()
	a.mu.Unlock()
}

// A host whose files were restored from a backup is heard, too.
func TestOldEpoch(t *testing.T) {
	h := newHub(t)
	f := watch(t, h.url())
	a := start(t, Host{Access: Access{URL: h.url(), Host: "a"}, Epoch: 40})
	a.rows <- []render.Row{session("one", state.Working, time.Now()), session("old", state.Idle, time.Now())}
	expect(t, f, "a old idle, a one working")
	a.end()
	b := start(t, Host{Access: Access{URL: h.url(), Host: "a"}, Epoch: 3})
	b.rows <- []render.Row{session("one", state.Idle, time.Now())}
	expect(t, f, "a one idle")
	if b.epoch() <= 40 {
		t.Errorf("it goes on with epoch %d", b.epoch())
	}
}

// A token has all that a host needs, and nothing else is accepted as one.
func TestToken(t *testing.T) {
	a := Access{URL: "tls://hub:4222", User: "ann", Host: "box", CA: "00"}
	if got, err := ReadToken("  " + a.Token() + "\n"); err != nil || got != a {
		t.Errorf("%+v, %v", got, err)
	}
	for _, bad := range []string{"", "x", tokenPrefix, tokenPrefix + "e30", a.Token()[:40], Access{URL: "http://x", User: "ann"}.Token()} {
		if got, err := ReadToken(bad); err == nil {
			t.Errorf("%q is taken as %+v", bad, got)
		}
	}
}
