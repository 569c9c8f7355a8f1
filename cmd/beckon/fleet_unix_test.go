//go:build unix

package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"beckon/event"
	"beckon/render"
	fleetlib "beckon/render/fleet"
	"beckon/state/request"
	"beckon/state/store"
	"beckon/testdata/natstest"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
)

// fleet is a nats-server with the configuration of `beckon fleet init`, and the machines that have
// joined.
type fleet struct {
	t       *testing.T
	dir     string
	program string // beckon
	server  *natstest.Server
}

// newFleet serves one on loopback, with TLS.
func newFleet(t *testing.T) *fleet {
	t.Helper()
	natstest.Program(t)
	f := &fleet{t: t, dir: t.TempDir(), program: program(t)}
	address := natstest.Address(t)
	f.machine("hub", "ann").beckon("fleet", "init", "--dir", f.hubDir(), "--listen", address, "--name", "127.0.0.1")
	f.server = natstest.Serve(t, filepath.Join(f.hubDir(), "nats-server.conf"), address)
	return f
}

func (f *fleet) hubDir() string { return filepath.Join(f.dir, "hub") }

func (f *fleet) reload() { f.server.Reload(filepath.Join(f.hubDir(), "nats-server.pid")) }

// member is a machine with its own home.
type member struct {
	*fleet
	home string
	st   *store.Store
	user string
}

// machine returns a machine with a home of its own.
func (f *fleet) machine(name, user string) *member {
	f.t.Helper()
	m := &member{fleet: f, home: filepath.Join(f.dir, name), user: user}
	m.st = store.Open(filepath.Join(m.home, "state"))
	if err := os.MkdirAll(filepath.Join(m.home, ".config", "beckon"), 0o700); err != nil {
		f.t.Fatal(err)
	}
	return m
}

// join adds a machine to the fleet.
func (f *fleet) join(name, user string, invite ...string) *member {
	f.t.Helper()
	m := f.machine(name, user)
	token := m.beckon(append([]string{"fleet", "invite", "--dir", f.hubDir(), "--user", user}, invite...)...)
	f.reload()
	m.beckon("fleet", "link", "--join", strings.TrimSpace(token))
	return m
}

func (m *member) env() []string {
	return []string{"GORACE=" + noNap, "HOME=" + m.home, "XDG_CONFIG_HOME=", "XDG_RUNTIME_DIR=", "BECKON_STATE_DIR=" + m.st.Dir, "USER=" + m.user, "CLAUDECODE=", "CLAUDE_CONFIG_DIR=", "TZ=UTC", "BECKON_FLEET="}
}

func (m *member) command(args ...string) *exec.Cmd {
	cmd := exec.Command(m.program, args...)
	cmd.Env = append(os.Environ(), m.env()...)
	cmd.Dir = m.home
	return cmd
}

// beckon runs beckon there and returns its output.
func (m *member) beckon(args ...string) string {
	m.t.Helper()
	var out, errs bytes.Buffer
	cmd := m.command(args...)
	cmd.Stdout, cmd.Stderr = &out, &errs
	if err := cmd.Run(); err != nil {
		m.t.Fatalf("beckon %q: %v\n%s%s", args, err, out.Bytes(), errs.Bytes())
	}
	return out.String()
}

// link publishes its sessions until the test ends.
func (m *member) link() {
	m.t.Helper()
	cmd := m.command("fleet", "link", "--quiet")
	if err := cmd.Start(); err != nil {
		m.t.Fatal(err)
	}
	m.t.Cleanup(func() { _ = cmd.Process.Signal(os.Interrupt); _ = cmd.Wait() })
}

// configure writes its configuration.
func (m *member) configure(text string) {
	m.t.Helper()
	if err := os.WriteFile(filepath.Join(m.home, ".config", "beckon", "config.json"), []byte(text), 0o600); err != nil {
		m.t.Fatal(err)
	}
}

// until runs beckon until its output has want.
func (m *member) until(want string, args ...string) string {
	m.t.Helper()
	re := regexp.MustCompile(want)
	for end := time.Now().Add(time.Minute); ; time.Sleep(100 * time.Millisecond) {
		cmd := m.command(args...)
		out, _ := cmd.Output() // a refused answer is an error, and printed
		if re.Match(out) {
			return string(out)
		}
		if time.Now().After(end) {
			m.t.Fatalf("beckon %q prints\n%s, no %q", args, out, want)
		}
	}
}

// Every view shows the sessions of other machines with --fleet.
func TestFleetViews(t *testing.T) {
	t.Parallel()
	f := newFleet(t)
	build, gpu, laptop := f.join("build", "ann", "--host", "build"), f.join("gpu", "ann", "--host", "gpu"), f.join("laptop", "ann", "--host", "laptop", "--view")
	fold(t, build.st, "aaaaaaaa-first", event.SessionStart, event.UserPromptSubmit, event.PreToolUse, event.PermissionRequest)
	fold(t, gpu.st, "bbbbbbbb-second", event.SessionStart, event.UserPromptSubmit)
	for _, m := range []*member{build, gpu} {
		m.link()
	}
	laptop.until(`(?s)build.*gpu`, "list", "--fleet", "--color", "never")

	// Ages grow, and columns with them, while the machine is busy.
	ages := regexp.MustCompile(` +([0-9]+[smh]\b)? +`)
	golden := func(name, got string) {
		t.Helper()
		checkGolden(t, filepath.Join("..", "..", "testdata", "golden", "fleet_"+name+".txt"), ages.ReplaceAllStringFunc(strings.TrimRight(got, "\n"), func(s string) string {
			if s == " " {
				return s
			}
			return "  "
		}))
	}
	golden("list", laptop.beckon("list", "--fleet", "--color", "never"))
	fold(t, laptop.st, "cccccccc-third", event.SessionStart, event.UserPromptSubmit, event.Stop)
	var list struct {
		Sessions []render.Row `json:"sessions"`
		Hosts    []struct {
			Name, User string
			Stale      bool
		}
	}
	if err := json.Unmarshal([]byte(laptop.beckon("list", "--fleet", "--json")), &list); err != nil {
		t.Fatal(err)
	}
	if len(list.Sessions) != 3 || len(list.Hosts) != 2 || list.Sessions[0].Remote.Name != "build" || list.Sessions[0].Remote.User != "ann" || list.Hosts[0].Stale {
		t.Errorf("%+v", list)
	}
	if s := laptop.beckon("list", "--fleet", "--json", "--state", "working"); !strings.Contains(s, "bbbbbbbb") || strings.Contains(s, "aaaaaaaa") {
		t.Errorf("--state: %s", s)
	}
	// Views that must not wait show what a list or a link saw last.
	if s := laptop.beckon("prompt", "--fleet"); !strings.Contains(s, "!1") {
		t.Errorf("prompt: %q", s)
	}
	if s := laptop.beckon("prompt"); strings.Contains(s, "!1") {
		t.Errorf("prompt without the fleet: %q", s)
	}
	line := laptop.command("statusline", "--fleet")
	line.Stdin = strings.NewReader(`{"session_id":"cccccccc-third","cwd":"/home/u/shop","model":{"display_name":"Opus"}}`)
	if out, err := line.Output(); err != nil || !strings.Contains(string(out), "build: shop ") {
		t.Errorf("statusline: %q, %v", out, err)
	}
	addr := natstest.Address(t) // a free port
	serve := laptop.command("serve", "--fleet", "--addr", addr)
	if err := serve.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() { _ = serve.Process.Signal(os.Interrupt); _ = serve.Wait() }()
	for end := time.Now().Add(time.Minute); ; time.Sleep(100 * time.Millisecond) {
		token, _ := laptop.command("serve", "token", "read").Output()
		auth := "Authorization: Bearer " + strings.TrimSpace(string(token))
		out, _ := exec.Command("curl", "-s", "-H", auth, "http://"+addr+"/api/sessions").Output()
		if strings.Contains(string(out), "aaaaaaaa-first") && strings.Contains(string(out), "bbbbbbbb-second") {
			break
		}
		if time.Now().After(end) {
			t.Fatalf("serve: %s", out)
		}
	}
}

// A session's question is answered on its own machine, by the way that jump goes there, and only
// on a machine of the user's own list: the names that a fleet brings count for nothing.
func TestFleetAnswers(t *testing.T) {
	t.Parallel()
	f := newFleet(t)
	build, laptop := f.join("build", "ann", "--host", "build"), f.join("laptop", "ann", "--host", "laptop", "--view")
	fold(t, build.st, "aaaaaaaa-first", event.SessionStart, event.UserPromptSubmit, event.PreToolUse, event.PermissionRequest)
	build.link()
	laptop.until(`build`, "list", "--fleet", "--color", "never")
	o := asking(t, build.st, "aaaaaaaa-first", `make\nmake test`)

	// ssh, as far as this test needs it: it runs the words after the name in that machine's home.
	bin := filepath.Join(f.dir, "bin")
	if err := os.MkdirAll(bin, 0o700); err != nil {
		t.Fatal(err)
	}
	script := "#!/bin/sh\n[ \"$1 $2\" = '-t build' ] || exit 255\nshift 2\nexport HOME='" + build.home + "' BECKON_STATE_DIR='" + build.st.Dir + "' PATH='" + filepath.Dir(f.program) + "':\"$PATH\"\neval \"exec $*\"\n"
	if err := os.WriteFile(filepath.Join(bin, "ssh"), []byte(script), 0o700); err != nil {
		t.Fatal(err)
	}
	env := laptop.env()
	p := openTerminal(t, 100, 30, env, "watch", "--fleet")
	p.wait(`NEEDS YOU 1`)
	p.press("y")
	p.wait(`"build" is not one of your machines`)
	p.press("Enter")
	p.wait(`"build" is not one of your machines`)
	p.press("q")
	for _, words := range [][]string{{"jump", "--fleet", "build:aaaa"}, {"jump", "--fleet", "--dry-run", "build:aaaa"}} {
		out, err := laptop.command(words...).CombinedOutput()
		if err == nil || !strings.Contains(string(out), `"build" is not one of your machines`) || !strings.Contains(string(out), `"hosts": ["ssh:NAME"]`) {
			t.Errorf("%q with a name that only the fleet brings: %s, %v", words, out, err)
		}
	}
	f.server.Kill() // what is shown then was stored, and counts for no more
	out, err := laptop.command("jump", "--fleet", "build:aaaa").CombinedOutput()
	if err == nil || !strings.Contains(string(out), `"build" is not one of your machines`) {
		t.Errorf("with a stored name: %s, %v", out, err)
	}
	f.server.Start()
	laptop.configure(`{"jump_by": ["build=` + filepath.Join(bin, "ssh") + ` -t {host} beckon jump {session}"]}`)
	p = openTerminal(t, 100, 30, env, "watch", "--fleet")
	p.wait(`NEEDS YOU 1`)
	p.press("y")
	p.wait(`it runs on build: .*/ssh -t build beckon answer aaaaaaaa`)
	p.press("q")
	openTerminal(t, 100, 30, env, "answer", "--fleet", "build:aaaa", "no", "--message", "not 'now'; $(touch /tmp/x)")
	if a := took(t, build.st, o); a.Word != request.Deny || a.Message != "not 'now'; $(touch /tmp/x)" || a.From != request.Terminal {
		t.Errorf("it answered %+v", a)
	}
	o = asking(t, build.st, "aaaaaaaa-first", "make deploy")
	p = openTerminal(t, 100, 30, env, "answer", "--fleet", "build:aaaa", "yes")
	p.wait(`(?s)│ make deploy.*Allow this\? \[y/N\]`)
	p.press("y", "Enter")
	if a := took(t, build.st, o); a.Word != request.Allow {
		t.Errorf("it answered %+v", a)
	}
	out, err = laptop.command("answer", "--fleet", "build:aaaa", "yes").CombinedOutput()
	if err == nil || !strings.Contains(string(out), "foreground of a terminal") {
		t.Errorf("with no terminal: %s, %v", out, err)
	}
}

// A link and a server that are killed, and a server whose disk is lost, cost the list nothing but
// news: rows keep their last state meanwhile, and show the present one once it is back.
func TestFleetSurvivesKills(t *testing.T) {
	t.Parallel()
	f := newFleet(t)
	build, laptop := f.join("build", "ann", "--host", "build"), f.join("laptop", "ann", "--view")
	list := []string{"list", "--fleet", "--color", "never"}
	fold(t, build.st, "aaaaaaaa-first", event.SessionStart, event.UserPromptSubmit)
	link := build.command("fleet", "link", "--quiet")
	if err := link.Start(); err != nil {
		t.Fatal(err)
	}
	laptop.until(`working .* build: `, list...)
	_ = link.Process.Kill()
	_ = link.Wait()
	fold(t, build.st, "aaaaaaaa-first", event.PreToolUse, event.PermissionRequest)
	if s := laptop.beckon(list...); !regexp.MustCompile(`working .* build: `).MatchString(s) {
		t.Errorf("after the link was killed:\n%s", s)
	}
	build.link()
	laptop.until(`permission .* build: `, list...)

	f.server.Kill()
	out, err := laptop.command(list...).CombinedOutput()
	if err != nil || !strings.Contains(string(out), "no connection") || !regexp.MustCompile(`permission .* build: `).Match(out) {
		t.Errorf("without the server: %v\n%s", err, out)
	}
	if err := os.RemoveAll(filepath.Join(f.hubDir(), "data")); err != nil {
		t.Fatal(err)
	}
	fold(t, build.st, "aaaaaaaa-first", event.Stop)
	f.server.Start()
	laptop.until(`done .* build: `, list...)
}

// An access may do what it was given for and nothing else, and is over once it is revoked and the
// server has been told. What a user's machines do costs no other user anything.
func TestFleetAccess(t *testing.T) {
	t.Parallel()
	f := newFleet(t)
	build, laptop := f.join("build", "ann", "--host", "build"), f.join("laptop", "ann", "--host", "laptop", "--view")
	bob, viewer := f.join("bob", "bob", "--host", "bob"), f.join("viewer", "bob", "--view")
	for m, id := range map[*member]string{build: "aaaaaaaa-first", bob: "bbbbbbbb-second"} {
		fold(t, m.st, id, event.SessionStart, event.UserPromptSubmit)
		m.link()
	}
	laptop.until(`build`, "list", "--fleet", "--color", "never")
	viewer.until(`bob`, "list", "--fleet", "--color", "never")
	if s := laptop.beckon("list", "--fleet", "--json"); strings.Contains(s, "bbbbbbbb") {
		t.Errorf("ann sees bob's session: %s", s)
	}
	dial := func(m *member) (*nats.Conn, jetstream.JetStream) {
		t.Helper()
		var acc fleetlib.Credential
		data, err := os.ReadFile(filepath.Join(m.home, ".config", "beckon", "fleet.json"))
		if err == nil {
			err = json.Unmarshal(data, &acc)
		}
		if err != nil {
			t.Fatal(err)
		}
		nc, err := fleetlib.DialOnce(acc, nats.ErrorHandler(func(*nats.Conn, *nats.Subscription, error) {}))
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(nc.Close)
		js, err := jetstream.New(nc)
		if err != nil {
			t.Fatal(err)
		}
		return nc, js
	}
	ctx, cancel := context.WithTimeout(context.Background(), 60*time.Second)
	defer cancel()
	_, js := dial(build)
	short, end := context.WithTimeout(ctx, 2*time.Second)
	defer end()
	if _, err := js.Publish(short, "$KV.beckon.ann.laptop.r.x", []byte("{}")); err == nil {
		t.Error("a host publishes another's row")
	}
	if err := js.DeleteStream(short, "KV_beckon"); err == nil {
		t.Error("a host deletes the bucket")
	}
	// A viewer that makes all the consumers that there may be locks out its own user, and no other.
	_, js = dial(laptop)
	made := 0
	for ; made < 600; made++ {
		_, err := js.CreateConsumer(ctx, "KV_beckon", jetstream.ConsumerConfig{Durable: fmt.Sprint("d", made), FilterSubject: "$KV.beckon.>"})
		if err != nil {
			break
		}
	}
	if made < 10 || made > 500 {
		t.Errorf("%d consumers were made", made)
	}
	viewer.until(`bob`, "list", "--fleet", "--color", "never")

	report, _ := bob.command("doctor", "--json").Output() // it has faults of its own: no hooks are installed
	if !strings.Contains(string(report), "is reached") {
		t.Errorf("doctor: %s", report)
	}
	if s := build.beckon("fleet", "revoke", "--dir", f.hubDir(), "bob"); !strings.Contains(s, "nats-server --signal reload=") {
		t.Errorf("revoke says %q", s)
	}
	f.reload()
	if report, _ = bob.command("doctor", "--json").Output(); !strings.Contains(string(report), "the hub does not let this machine in") {
		t.Errorf("doctor, with an access that was revoked: %s", report)
	}
	if report, _ = viewer.command("doctor", "--json").Output(); strings.Contains(string(report), "is reached") {
		t.Errorf("the name is also the user's, whose access is revoked with it: %s", report)
	}
}
