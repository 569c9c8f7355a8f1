//go:build unix

package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"beckon/event"
	"beckon/render"
	"beckon/state/offer"
	"beckon/state/store"
)

// fleet is a hub, as a process, with the machines that have joined.
type fleet struct {
	t       *testing.T
	dir     string
	program string // beckon
	hub     *exec.Cmd
	listen  string
}

// newFleet serves a hub on loopback, with TLS.
func newFleet(t *testing.T) *fleet {
	t.Helper()
	f := &fleet{t: t, dir: t.TempDir(), program: program(t)}
	if out, err := exec.Command("go", "build", "-o", filepath.Join(f.dir, "beckon-fleet"), "beckon/cmd/beckon-fleet").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	f.listen = fmt.Sprintf("0.0.0.0:%d", l.Addr().(*net.TCPAddr).Port)
	_ = l.Close()
	t.Cleanup(f.stop)
	f.serve()
	return f
}

func (f *fleet) hubDir() string { return filepath.Join(f.dir, "hub") }

// serve starts the hub, and waits until it listens.
func (f *fleet) serve() {
	f.t.Helper()
	f.hub = exec.Command(filepath.Join(f.dir, "beckon-fleet"), "serve", "--dir", f.hubDir(), "--listen", f.listen, "--name", "127.0.0.1")
	out, err := f.hub.StdoutPipe()
	if err != nil {
		f.t.Fatal(err)
	}
	if err := f.hub.Start(); err != nil {
		f.t.Fatal(err)
	}
	line := make([]byte, 4096)
	n, err := out.Read(line)
	if !strings.Contains(string(line[:n]), "the hub listens") {
		f.t.Fatalf("%q, %v", line[:n], err)
	}
	go func() { // the pipe is not to fill
		for err == nil {
			_, err = out.Read(line)
		}
	}()
}

// stop kills the hub.
func (f *fleet) stop() {
	if f.hub != nil {
		_ = f.hub.Process.Kill()
		_ = f.hub.Wait()
		f.hub = nil
	}
}

// member is a machine with its own home.
type member struct {
	*fleet
	home string
	st   *store.Store
	user string
}

// join adds a machine to the fleet.
func (f *fleet) join(name, user string, invite ...string) *member {
	f.t.Helper()
	m := &member{fleet: f, home: filepath.Join(f.dir, name), user: user}
	m.st = store.Open(filepath.Join(m.home, "state"))
	if err := os.MkdirAll(filepath.Join(m.home, ".config", "beckon"), 0o700); err != nil {
		f.t.Fatal(err)
	}
	token := m.beckon(append([]string{"fleet", "invite", "--dir", f.hubDir(), "--user", user}, invite...)...)
	m.beckon("link", "--join", strings.TrimSpace(token))
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
	cmd := m.command("link", "--quiet")
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
	// A full disk does no harm to a link: it publishes what it can read.
	if err := os.MkdirAll(filepath.Join(gpu.st.Dir, "fleet", "link.json"), 0o700); err != nil {
		t.Fatal(err)
	}
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
	golden("watch", laptop.beckon("watch", "--fleet", "--once", "--width", "100"))
	golden("filtered", laptop.beckon("list", "--fleet", "--on", "build", "--color", "never"))
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
	socket := filepath.Join(t.TempDir(), "s")
	serve := laptop.command("serve", "--fleet", "--socket", socket)
	if err := serve.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() { _ = serve.Process.Signal(os.Interrupt); _ = serve.Wait() }()
	for end := time.Now().Add(time.Minute); ; time.Sleep(100 * time.Millisecond) {
		out, _ := exec.Command("curl", "-s", "--unix-socket", socket, "http://localhost/api/sessions").Output()
		if strings.Contains(string(out), "aaaaaaaa-first") && strings.Contains(string(out), "bbbbbbbb-second") {
			break
		}
		if time.Now().After(end) {
			t.Fatalf("serve: %s", out)
		}
	}
}

// A session's question is answered from another machine, by a command and by the keys of a
// screen, if the configuration of the session's own machine allows the user; otherwise both
// give the reason.
func TestFleetAnswers(t *testing.T) {
	t.Parallel()
	f := newFleet(t)
	build, laptop := f.join("build", "ann", "--host", "build"), f.join("laptop", "ann", "--host", "laptop", "--view", "--answer")
	fold(t, build.st, "aaaaaaaa-first", event.SessionStart, event.UserPromptSubmit, event.PreToolUse, event.PermissionRequest)
	build.link()
	laptop.until(`build`, "list", "--fleet", "--color", "never")
	o := asking(t, build.st, "aaaaaaaa-first", `make\nmake test`)

	p := openTerminal(t, 100, 30, laptop.env(), "watch", "--fleet")
	p.wait(`NEEDS YOU 1`)
	p.press("Space")
	p.wait(`(?s)it cannot be answered from here.*answers_from_fleet`)
	build.configure(`{"answers_from_fleet": ["bob"]}`)
	p.wait(`(?s)takes no answers from ann at laptop`)
	build.configure(`{"answers_from_fleet": ["ann"]}`)
	p.wait(`(?s)Bash\n /home/u/shop  main.*│ make\n │ make test\n.*y allow`)
	time.Sleep(time.Second) // as long as reading it takes
	p.press("y")
	if a := took(t, build.st, o); a.Word != offer.Allow || a.Digest != o.Digest || a.By != "ann at laptop" || a.From != offer.Fleet {
		t.Errorf("it answered %+v", a)
	}
	p.wait(`build: allowed`)
	p.press("q")

	o = asking(t, build.st, "aaaaaaaa-first", "rm -rf build")
	shell := openTerminal(t, 100, 30, laptop.env(), "answer", "--fleet", "build:aaaa", o.ID[:5], "no", "--message", "not now")
	if a := took(t, build.st, o); a.Word != offer.Deny || a.Message != "not now" || a.By != "ann at laptop" {
		t.Errorf("it answered %+v", a)
	}
	_ = shell
	asking(t, build.st, "aaaaaaaa-first", "make deploy")
	shell = openTerminal(t, 100, 30, laptop.env(), "answer", "--fleet", "build:aaaa", "yes")
	shell.wait(`(?s)│ make deploy.*Allow this on build\? \[y/N\]`)
	shell.run("new-window", program(t)+" answer --fleet build:aaaa yes </dev/null; sleep 99")
	shell.wait(`what runs on another machine is shown before`)
	shell.run("kill-window")
	shell.press("n", "Enter")
	out, err := laptop.command("answer", "--fleet", "build:aaaa", "yes").CombinedOutput()
	if err == nil || !strings.Contains(string(out), "foreground of a terminal") {
		t.Errorf("with no terminal: %s, %v", out, err)
	}
	if out := laptop.beckon("answer", "--fleet"); !strings.Contains(string(out), "make deploy") {
		t.Errorf("listed with no terminal: %s", out)
	}
	if out := laptop.beckon("answer", "--fleet", "build:aaaa"); !strings.Contains(string(out), "make deploy") {
		t.Errorf("shown with no terminal: %s", out)
	}

	report, _ := build.command("doctor", "--json").Output() // it has faults of its own: no hooks are installed
	if !strings.Contains(string(report), "is reached") {
		t.Errorf("doctor: %s", report)
	}
	build.beckon("fleet", "revoke", "--dir", f.hubDir(), "build")
	if out := laptop.beckon("list", "--fleet", "--json", "--on", "build"); strings.Contains(string(out), "aaaaaaaa-first") {
		t.Errorf("what was published with an access that was taken back: %s", out)
	}
	if report, _ = build.command("doctor", "--json").Output(); !strings.Contains(string(report), "the hub does not let this machine in") {
		t.Errorf("doctor, with an access that was taken back: %s", report)
	}

	notes, err := os.ReadFile(filepath.Join(build.st.Dir, "fleet", "answers.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{`"user":"ann","host":"laptop"`, `"op":"answer"`, `"word":"allow","done":"allowed"`, `"word":"deny","done":"refused"`, `takes no answers from ann`} {
		if !strings.Contains(string(notes), want) {
			t.Errorf("the notes lack %s:\n%s", want, notes)
		}
	}
	if info, err := os.Stat(filepath.Join(build.st.Dir, "fleet", "answers.jsonl")); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("%v, %v", info, err)
	}
}
