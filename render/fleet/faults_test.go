package fleet

import (
	"bytes"
	"compress/gzip"
	"context"
	"crypto/rand"
	"encoding/json"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"beckon/render"
	"beckon/state"
	"beckon/testdata/natstest"
)

// rig is a real nats-server that asks for no credentials, and a proxy before it.
type rig struct {
	t      *testing.T
	server *natstest.Server
	data   string
	proxy  net.Listener

	mu     sync.Mutex
	cut    bool
	silent bool // what is sent is lost, and no connection ends
	open   []net.Conn
}

func newRig(t *testing.T) *rig {
	pinged, beaten, missed := ping, beat, lost
	ping, beat, lost = 300*time.Millisecond, 300*time.Millisecond, 2*time.Second
	t.Cleanup(func() { ping, beat, lost = pinged, beaten, missed })
	dir, address := t.TempDir(), natstest.Address(t)
	g := &rig{t: t, data: filepath.Join(dir, "data")}
	config := filepath.Join(dir, "c.conf")
	if err := os.WriteFile(config, fmt.Appendf(nil, "listen: %q\njetstream { store_dir: %q }\n", address, g.data), 0o600); err != nil {
		t.Fatal(err)
	}
	g.server = natstest.Serve(t, config, address)
	var err error
	if g.proxy, err = net.Listen("tcp", "127.0.0.1:0"); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = g.proxy.Close() })
	go func() {
		for {
			c, err := g.proxy.Accept()
			if err != nil {
				return
			}
			there, err := net.Dial("tcp", address)
			g.mu.Lock()
			if err != nil || g.cut {
				_ = c.Close()
			} else {
				g.open = append(g.open, c, there)
				go g.pass(c, there)
				go g.pass(there, c)
			}
			g.mu.Unlock()
		}
	}()
	return g
}

// pass passes on what one end of a connection sends.
func (g *rig) pass(to, from net.Conn) {
	defer to.Close()
	b := make([]byte, 32<<10)
	for {
		n, err := from.Read(b)
		g.mu.Lock()
		lost := g.silent
		g.mu.Unlock()
		if !lost && n > 0 {
			_, _ = to.Write(b[:n])
		}
		if err != nil {
			return
		}
	}
}

// lose loses everything that is sent, or no longer.
func (g *rig) lose(silent bool) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.silent = silent
}

// partition cuts all connections through the proxy, and lets none be made, or lets them again.
func (g *rig) partition(cut bool) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.cut = cut
	for _, c := range g.open {
		_ = c.Close()
	}
	g.open = nil
}

// access reaches the server through the proxy.
func (g *rig) access(host string) Credential {
	return Credential{URL: "nats://" + g.proxy.Addr().String(), User: "ann", Host: host, View: true}
}

// linked is a running link.
type linked struct {
	rows chan []render.Row
	end  func()
}

func (g *rig) link(l Link) *linked {
	l.Level = "short"
	l.Log = func(text string) { g.t.Log(text) }
	ctx, cancel := context.WithCancel(context.Background())
	k := &linked{rows: make(chan []render.Row, 1)}
	done := make(chan error, 1)
	go func() { done <- l.Run(ctx, k.rows) }()
	k.end = sync.OnceFunc(func() {
		cancel()
		if err := <-done; err != nil {
			g.t.Error(err)
		}
	})
	g.t.Cleanup(k.end)
	return k
}

// viewer is what somebody sees of the fleet.
type viewer struct {
	mu sync.Mutex
	Shown
}

func (v *viewer) now() Shown {
	v.mu.Lock()
	defer v.mu.Unlock()
	return v.Shown
}

// watch follows the fleet; a host is stale after two seconds.
func (g *rig) watch() *viewer { return g.watchBy(time.Now) }

func (g *rig) watchBy(clock func() time.Time) *viewer {
	v := &viewer{}
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() {
		done <- follow(ctx, g.access(""), clock, func(s Shown) {
			v.mu.Lock()
			defer v.mu.Unlock()
			v.Shown = s
		})
	}()
	g.t.Cleanup(func() {
		cancel()
		if err := <-done; err != nil {
			g.t.Error(err)
		}
	})
	return v
}

// shown returns the rows as "host id state", stale ones with a "~".
func shown(v *viewer) string {
	var list []string
	for _, r := range v.now().Rows {
		mark := ""
		if r.Remote.Stale {
			mark = "~"
		}
		list = append(list, fmt.Sprintf("%s%s %s %s", mark, r.Host, r.SessionID, r.State))
	}
	slices.Sort(list)
	return strings.Join(list, ", ")
}

func (g *rig) expect(v *viewer, want string) {
	g.t.Helper()
	for end := time.Now().Add(60 * time.Second); ; time.Sleep(20 * time.Millisecond) {
		if shown(v) == want {
			return
		}
		if time.Now().After(end) {
			g.t.Fatalf("the view shows %q (%v), want %q", shown(v), v.now().Err, want)
		}
	}
}

func row(id string, s state.State, since time.Time) render.Row {
	return render.Row{SessionID: id, SeatID: id, State: s, NeedsYou: s.NeedsYou(), Since: since, Agent: "claude-code"}
}

// A killed link reports nothing: its rows become stale and keep their state. The next run shows
// what there is then, and nothing of what ended meanwhile.
func TestLinkIsKilled(t *testing.T) {
	g := newRig(t)
	f := g.watch()
	a := g.link(Link{Credential: g.access("a")})
	a.rows <- []render.Row{row("one", state.Working, time.Now()), row("two", state.Permission, time.Now())}
	g.expect(f, "a one working, a two permission")
	g.partition(true) // it can send nothing any more
	a.end()
	g.expect(f, "~a one working, ~a two permission")
	g.partition(false)
	b := g.link(Link{Credential: g.access("a")})
	b.rows <- []render.Row{row("one", state.Idle, time.Now())}
	g.expect(f, "a one idle")
	b.end() // it signs off
	g.expect(f, "~a one idle")
}

// A link that is to be forgotten takes its rows away when it ends.
func TestForget(t *testing.T) {
	g := newRig(t)
	f := g.watch()
	a := g.link(Link{Credential: g.access("a"), Forget: true})
	a.rows <- []render.Row{row("one", state.Working, time.Now())}
	g.expect(f, "a one working")
	a.end()
	g.expect(f, "")
}

// While the network is away, a host is stale; afterwards what happened meanwhile is shown.
func TestPartition(t *testing.T) {
	g := newRig(t)
	f := g.watch()
	a := g.link(Link{Credential: g.access("a")})
	a.rows <- []render.Row{row("one", state.Working, time.Now())}
	g.expect(f, "a one working")
	g.partition(true)
	a.rows <- []render.Row{row("one", state.Question, time.Now())}
	g.expect(f, "~a one working")
	if err := f.now().Err; err == nil || !strings.Contains(err.Error(), "connection") {
		t.Errorf("the view says %v", err)
	}
	g.partition(false)
	g.expect(f, "a one question")
}

// A network that loses everything and ends no connection, as a cable that is pulled: both sides
// find out by themselves.
func TestHalfOpenConnections(t *testing.T) {
	g := newRig(t)
	f := g.watch()
	a := g.link(Link{Credential: g.access("a")})
	a.rows <- []render.Row{row("one", state.Working, time.Now())}
	g.expect(f, "a one working")
	g.lose(true)
	a.rows <- []render.Row{row("one", state.Question, time.Now())}
	g.expect(f, "~a one working")
	g.lose(false)
	g.expect(f, "a one question")
}

// A server that is killed costs freshness, and one that has lost its disk nothing else.
func TestServerIsKilledAndLosesItsDisk(t *testing.T) {
	for _, wiped := range []bool{false, true} {
		t.Run(fmt.Sprint("wiped ", wiped), func(t *testing.T) {
			g := newRig(t)
			f := g.watch()
			a := g.link(Link{Credential: g.access("a")})
			a.rows <- []render.Row{row("one", state.Working, time.Now()), row("two", state.Idle, time.Now())}
			g.expect(f, "a one working, a two idle")
			g.server.Kill()
			g.expect(f, "~a one working, ~a two idle")
			if wiped {
				if err := os.RemoveAll(g.data); err != nil {
					t.Fatal(err)
				}
			}
			g.server.Start()
			g.expect(f, "a one working, a two idle")
			a.rows <- []render.Row{row("two", state.Permission, time.Now())}
			g.expect(f, "a two permission")
			g.expect(g.watch(), "a two permission")
		})
	}
}

// Clocks of hosts, and that of the viewer, may be a year off: ages are right, and nothing is
// stale that is not.
func TestClocks(t *testing.T) {
	const year = 365 * 24 * time.Hour
	g := newRig(t)
	late := func() time.Time { return time.Now().Add(-year) }
	f := g.watchBy(late)
	for host, off := range map[string]time.Duration{"ahead": year, "behind": -year} {
		clock := func() time.Time { return time.Now().Add(off) }
		g.link(Link{Credential: g.access(host), clock: clock}).rows <- []render.Row{row(host, state.Permission, clock().Add(-90*time.Second))}
	}
	g.expect(f, "ahead ahead permission, behind behind permission")
	time.Sleep(time.Second)
	for _, r := range f.now().Rows {
		if age := late().Sub(r.Since); age < 85*time.Second || age > 100*time.Second || r.Remote.Stale {
			t.Errorf("%s: its state is %s old, stale %v", r.Host, age, r.Remote.Stale)
		}
	}
}

// One host cannot fill a server, nor send anything but cleaned text in the members that may travel.
func TestHostileRows(t *testing.T) {
	v := newView()
	now := time.Now()
	zip := func(text string) []byte {
		var b bytes.Buffer
		z := gzip.NewWriter(&b)
		_, _ = z.Write([]byte(text))
		_ = z.Close()
		return b.Bytes()
	}
	var list []string
	for i := range 1100 {
		list = append(list, fmt.Sprintf(`{"session_id":"s%d","state":"working","project":"\u001b[31mx\u202e","since":"9000-01-01T00:00:00Z",`+
			`"cwd":"/x","needs_you":true,"process":{"pid":1},"remote":{"name":"y"},"cost_usd":-1,"context":{"used_percentage":1e300},`+
			`"subagents":[{"agent_id":"a","type":"b","state":"odd"}],"title":%q}`, i, strings.Repeat("ä\n", 1000)))
	}
	value := `{"schema":1,"user":"ann","host":"elsewhere","future":1,"sessions":[` + strings.Join(list, ",") + `]}`
	a, other := keyOf("ann", "a"), keyOf("ann", "b")
	if !v.apply(a, zip(value), now, now) {
		t.Fatal("a value does not count")
	}
	for _, bad := range []struct {
		key  string
		data []byte
	}{
		{"YQ", zip(value)},
		{a + ".r", zip(value)},
		{"ann.a", zip(value)},
		{"anna.host", zip(value)}, // of an earlier version
		{"." + other, zip(value)},
		{"YQ.", zip(value)},
		{other, nil},
		{other, []byte(value)},
		{other, zip("null")},
		{other, make([]byte, MaxMessage+1)},
		{other, zip(`{"schema":1,"sessions":[` + strings.Repeat(" ", maxPlain) + `]}`)},
	} {
		if v.apply(bad.key, bad.data, now, now) {
			t.Errorf("%s counts", bad.key)
		}
	}
	rows, all := v.snapshot(now)
	if len(rows) != 1000 || len(all) != 1 || all[0].Name != "a" {
		t.Fatalf("%d rows of %+v", len(rows), all)
	}
	r := rows[0]
	if strings.ContainsAny(r.Project+r.Title, "\x1b\u202e\n") || len(r.Title) > fullText {
		t.Errorf("texts are not cleaned: %q, %q", r.Project, r.Title)
	}
	if r.Cwd != "" || r.Process != nil || r.NeedsYou || r.Remote.Name != "a" || r.CostUSD != 0 || r.Context.UsedPercentage != 100 || !r.Since.Equal(now) {
		t.Errorf("a hostile row is shown as %+v", r)
	}
	if len(r.Subagents) != 1 || r.Subagents[0] != (render.Subagent{State: state.Unknown}) {
		t.Errorf("subagents %+v", r.Subagents)
	}
}

func marshal(t *testing.T, v any) []byte {
	t.Helper()
	b, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// A host with more than a value can have shows the rows that need somebody most.
func TestManyRows(t *testing.T) {
	g := newRig(t)
	f := g.watch()
	var rows []render.Row
	for range 1200 {
		r := row(rand.Text(), state.Working, time.Now())
		r.Title = rand.Text() + rand.Text() + rand.Text()
		rows = append(rows, r)
	}
	g.link(Link{Credential: g.access("a")}).rows <- rows
	for end := time.Now().Add(time.Minute); len(f.now().Rows) == 0; time.Sleep(20 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatal(f.now().Err)
		}
	}
	if got := f.now().Rows; len(got) < 200 || got[0].SessionID != rows[0].SessionID {
		t.Errorf("%d rows, the first %s", len(got), got[0].SessionID)
	}
}

// What leaves a host is what the manual lists: no directory, no tool input beyond the level's text,
// and no secret.
func TestWhatLeaves(t *testing.T) {
	secret := "ghp_" + "x9Kd2mQ7vR4tLw8ZpN3b" + "Yc6HsJ1fGa5TeUiO"
	r := row("one", state.Permission, time.Now())
	r.Cwd, r.Title, r.Process, r.Job = "/home/ann/shop", "use "+secret, &render.Process{Pid: 1_234_567_890}, &render.Job{ID: "job"}
	r.Tool = &render.Tool{Name: "Bash", Summary: "curl -H " + secret}
	r.Question = &render.Question{Text: "May I?", Plan: "the whole plan", Form: []string{"field"}}
	r.Turn = &render.Turn{Number: 987_654_321}
	for level, texts := range map[Level]bool{"off": false, "": false, "short": true, "full": true} {
		sent := string(marshal(t, permitted(&r, level.text)))
		for _, never := range []string{secret, "/home/ann", "1234567890", "job", "whole plan", "field", "987654321"} {
			if strings.Contains(sent, never) {
				t.Errorf("level %q: %q leaves: %s", level, never, sent)
			}
		}
		if strings.Contains(sent, "May I?") != texts || !strings.Contains(sent, "Bash") {
			t.Errorf("level %q sends %s", level, sent)
		}
	}
}
