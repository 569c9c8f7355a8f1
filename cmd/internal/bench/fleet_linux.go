package main

import (
	"context"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"time"
	"unicode/utf8"

	"beckon/cmd/internal/hub"
	"beckon/render"
	"beckon/render/fleet"
	"beckon/render/fleet/bus"
	"beckon/state"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
)

// fleetLab is a hub over TLS on loopback, as a process, and the programs to measure.
type fleetLab struct {
	dir                 string
	beckon, hook, serve string
	hub                 *hub.Hub
	server              *exec.Cmd
}

// openFleet builds the programs and starts a hub.
func openFleet(dir string) (*fleetLab, error) {
	if err := buildOurs(dir, "beckon", "beckon-hook", "beckon-fleet"); err != nil {
		return nil, err
	}
	at := func(name string) string { return filepath.Join(dir, name) }
	l := &fleetLab{dir: dir, beckon: at("beckon"), hook: at("beckon-hook"), serve: at("beckon-fleet")}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	port := listener.Addr().(*net.TCPAddr).Port
	_ = listener.Close()
	if l.hub, err = hub.Init(filepath.Join(dir, "hub"), fmt.Sprintf("0.0.0.0:%d", port), []string{"127.0.0.1"}); err != nil {
		return nil, err
	}
	return l, l.start()
}

// start serves the hub.
func (l *fleetLab) start() error {
	l.server = exec.Command(l.serve, "serve", "--dir", l.hub.Dir)
	if err := l.server.Start(); err != nil {
		return err
	}
	return eventually(func() error {
		nc, err := l.hub.Dial()
		if err != nil {
			return err
		}
		defer nc.Close()
		ctx, cancel := context.WithTimeout(context.Background(), time.Second)
		defer cancel()
		js, err := jetstream.New(nc)
		if err == nil {
			_, err = js.KeyValue(ctx, bus.Bucket)
		}
		return err
	})
}

// eventually repeats try until it succeeds, for at most 15 s.
func eventually(try func() error) error {
	for end := time.Now().Add(15 * time.Second); ; time.Sleep(20 * time.Millisecond) {
		err := try()
		if err == nil || time.Now().After(end) {
			return err
		}
	}
}

// join gives a home an access.
func (l *fleetLab) join(home string, a bus.Access) error {
	a.User = "ann"
	a, err := l.hub.Invite(a, time.Time{})
	if err != nil {
		return err
	}
	if err := os.MkdirAll(home, 0o700); err != nil {
		return err
	}
	cmd := exec.Command(l.beckon, "link", "--join", a.Token())
	cmd.Env = homeEnv(home)
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("joining: %w: %s", err, out)
	}
	return nil
}

// link starts a home's link.
func (l *fleetLab) link(home string) (*exec.Cmd, error) {
	cmd := exec.Command(l.beckon, "link", "--quiet")
	cmd.Env = homeEnv(home)
	return cmd, cmd.Start()
}

// fleetReport measures a fleet of real programs and writes the tables, between the marks of
// page if that is set, and the chart.
func fleetReport(dir string, hooks int, page string, w io.Writer) error {
	var b strings.Builder
	out := io.MultiWriter(w, &b)
	fmt.Fprintf(out, "Measured by `go run ./cmd/internal/bench -fleet` on %s/%s with %d processors, hub and links over TLS on loopback:\n\n| | |\n|---|---|\n", runtime.GOOS, runtime.GOARCH, runtime.NumCPU())
	l, err := openFleet(dir)
	if err != nil {
		return err
	}
	defer func() { end(l.server) }() // which grow replaces
	for _, part := range []func(io.Writer) error{l.hookCost, func(w io.Writer) error { return l.toScreen(hooks, w) }, l.firstScreen} {
		if err := part(out); err != nil {
			return err
		}
	}
	fmt.Fprintf(out, "\n| hosts | the hub's memory | its processor | messages a second | one more host |\n|---|---|---|---|---|\n")
	costs, err := l.grow(out)
	if err != nil {
		return err
	}
	if page == "" {
		return nil
	}
	if err := os.WriteFile(filepath.Join("testdata", "bench", "fleet.svg"), []byte(fleetChart(costs)), 0o600); err != nil {
		return err
	}
	return replaceBetween(page, "<!-- fleet -->\n", "<!-- fleet ends -->", strings.TrimSpace(b.String()))
}

// hookCost compares hooks on a machine with a link and without one.
func (l *fleetLab) hookCost(w io.Writer) error {
	homes := []string{filepath.Join(l.dir, "linked"), filepath.Join(l.dir, "alone")}
	if err := l.join(homes[0], bus.Access{Host: "linked"}); err != nil {
		return err
	}
	link, err := l.link(homes[0])
	if err != nil {
		return err
	}
	defer end(link)
	payload := filepath.Join(l.dir, "tool.json")
	if err := os.WriteFile(payload, []byte(toolEvent("s", "npm test")), 0o600); err != nil {
		return err
	}
	var subjects []subject
	for _, home := range homes {
		subjects = append(subjects, subject{name: filepath.Base(home), path: l.hook, args: []string{"PreToolUse"}, env: homeEnv(home), payload: payload})
	}
	if err := warm(subjects); err != nil {
		return err
	}
	time.Sleep(2 * time.Second)
	if err := measure(300, subjects); err != nil {
		return err
	}
	fmt.Fprintf(w, "| a hook where a link follows, by one where none does | %.2f x the CPU time |\n", subjects[0].medians().cpu/subjects[1].medians().cpu)
	return nil
}

// toScreen measures how long after a hook's exit the screen of another machine shows its
// event, and what an idle link costs.
func (l *fleetLab) toScreen(hooks int, w io.Writer) error {
	there, here := filepath.Join(l.dir, "there"), filepath.Join(l.dir, "here")
	if err := l.join(there, bus.Access{Host: "there"}); err != nil {
		return err
	}
	if err := l.join(here, bus.Access{View: true}); err != nil {
		return err
	}
	const sessions = 20
	agents, err := crowded(there, sessions)
	for _, a := range agents {
		defer end(a)
	}
	if err != nil {
		return err
	}
	link, err := l.link(there)
	if err != nil {
		return err
	}
	defer end(link)
	s, err := openScreen(l.beckon, homeEnv(here), sessions+20, "watch", "--fleet", "--color", "never")
	if err != nil {
		return err
	}
	defer s.close()
	if _, ok := s.await([]byte("shop"), time.Now().Add(15*time.Second)); !ok {
		return fmt.Errorf("the screen shows no session of the other machine")
	}
	cpu, err := idleShare(link.Process.Pid, 20*time.Second)
	if err != nil {
		return err
	}
	fmt.Fprintf(w, "| an idle link, %d sessions | %.2f %% of a processor, %s |\n", sessions, cpu*100, mb(status(link.Process.Pid, "VmHWM")))
	late, err := s.fleetLatencies(there, l.hook, sessions, hooks)
	if err != nil {
		return err
	}
	at := func(percent int) time.Duration { return percentile(late, percent).Round(time.Millisecond) }
	fmt.Fprintf(w, "| a hook's exit until the screen of another machine shows it | p50 %s, p99 %s, of %d |\n", at(50), at(99), len(late))
	return nil
}

// fleetLatencies runs hooks that ask for a permission, each with its own text.
func (s *screen) fleetLatencies(home, hook string, sessions, hooks int) (late []time.Duration, err error) {
	r := rand.New(rand.NewPCG(3, 9))
	fire := func(name, session, letters string) *exec.Cmd {
		cmd := exec.Command(hook, name)
		cmd.Env = homeEnv(home)
		cmd.Stdin = strings.NewReader(fmt.Sprintf(`{"session_id":%q,"cwd":"/home/u/shop","hook_event_name":%q,"tool_name":"Bash","tool_input":{"command":%q},"tool_use_id":%q}`, session, name, letters, letters))
		return cmd
	}
	for i := range hooks {
		time.Sleep(time.Duration(20+r.IntN(300)) * time.Millisecond)
		session := fmt.Sprintf("session-%04d", i%sessions)
		// A screen gets only changes, so no letter may be there already.
		var letters []byte
		for k := range 8 {
			letters = utf8.AppendRune(letters, rune(0x100+i%24*8+k))
		}
		d, err := s.lateness(fire("PermissionRequest", session, string(letters)), letters)
		if err != nil {
			return late, fmt.Errorf("permission %d: %w", i, err)
		}
		late = append(late, d)
		if err := fire("PostToolUse", session, string(letters)).Run(); err != nil {
			return late, err
		}
	}
	return late, nil
}

// fleetRows returns the sessions of a host.
func fleetRows(host string, n int, now time.Time) []render.Row {
	states := []state.State{state.Working, state.Idle, state.Idle, state.Idle, state.Permission}
	var rows []render.Row
	for i := range n {
		id := fmt.Sprintf("%s-%04d", host, i)
		st := states[i%len(states)]
		rows = append(rows, render.Row{SessionID: id, SeatID: "p-1000000-2000000000-" + id, Agent: "claude-code", Project: "shop", State: st, NeedsYou: st.NeedsYou(), Reason: "tool_use",
			Since: now.Add(-time.Duration(i) * time.Minute), Git: &render.Git{Branch: "feature/checkout"}, Title: "make the checkout page keep what was typed when the network is away",
			Model: "claude-opus-5-5", Context: &render.Context{UsedPercentage: 42}, CostUSD: 1.25, Tool: &render.Tool{Name: "Bash", Summary: "Bash: go test ./checkout/..."},
			Source: "hook", Confidence: "high", Terminal: &render.Terminal{Kind: "tmux"}})
	}
	return rows
}

// firstScreen measures a screen's start among 10,000 sessions of 500 hosts.
func (l *fleetLab) firstScreen(w io.Writer) error {
	const many, each = 500, 20
	nc, err := l.hub.Dial()
	if err != nil {
		return err
	}
	defer nc.Close()
	js, err := jetstream.New(nc, jetstream.WithPublishAsyncMaxPending(256))
	if err != nil {
		return err
	}
	now, sent, size := time.Now(), 0, 0
	var gone []fleet.Message
	for i := range many {
		link, err := fleet.NewLink(fleet.ID{User: "many", Host: fmt.Sprintf("host%03d", i), Node: "n1"}, 1, fmt.Sprint("instance", i), "v1", fleet.Short)
		if err != nil {
			return err
		}
		for _, m := range append(link.Due(fleetRows(fmt.Sprintf("host%03d", i), each, now), now), link.Presence()) {
			if _, err := js.PublishAsync("$KV."+bus.Bucket+"."+m.Key, m.Data); err != nil {
				return err
			}
			sent, size = sent+1, size+len(m.Data)
		}
		gone = append(gone, link.Forget()...)
	}
	<-js.PublishAsyncComplete()
	home := filepath.Join(l.dir, "lead")
	a, err := l.hub.Invite(bus.Access{User: "many", View: true}, time.Time{})
	if err != nil {
		return err
	}
	if err := os.MkdirAll(home, 0o700); err != nil {
		return err
	}
	var took []time.Duration
	memory := int64(0)
	for range 5 {
		began := time.Now()
		s, err := openScreen(l.beckon, append(homeEnv(home), "BECKON_FLEET="+a.Token()), 60, "watch", "--fleet", "--color", "never")
		if err != nil {
			return err
		}
		at, ok := s.await([]byte(fmt.Sprintf("%d need you", many*each/5)), time.Now().Add(15*time.Second))
		time.Sleep(time.Second)
		memory = max(memory, status(s.cmd.Process.Pid, "VmHWM"))
		s.close()
		if !ok {
			return fmt.Errorf("the screen does not show %d sessions", many*each)
		}
		took = append(took, at.Sub(began))
		_ = os.RemoveAll(filepath.Join(home, "state")) // what it kept: the next one also starts with nothing
	}
	fmt.Fprintf(w, "| a row on the wire, with texts `short` | %d bytes |\n", size/sent)
	fmt.Fprintf(w, "| `watch --fleet` of %d sessions of %d hosts, its first screen | %s, %s |\n", many*each, many, percentile(took, 50).Round(time.Millisecond), mb(memory))
	for _, m := range gone { // the hub must be empty again
		msg := nats.NewMsg("$KV." + bus.Bucket + "." + m.Key)
		msg.Data = m.Data
		msg.Header.Set("KV-Operation", "PURGE")
		msg.Header.Set("Nats-Rollup", "sub")
		if _, err := js.PublishMsgAsync(msg); err != nil {
			return err
		}
	}
	<-js.PublishAsyncComplete()
	return nil
}
