package main

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"beckon/event"
	"beckon/state/evidence"
	"beckon/state/request"
	"beckon/state/request/pin"
	"beckon/testdata/dbustest"
	"beckon/testdata/ntfytest"
)

// holding is a hook of the office that holds its client's call.
type holding struct {
	*office
	t   *testing.T
	cmd *exec.Cmd
	out bytes.Buffer
}

func (p *office) hold(t *testing.T, tool, input string) *holding {
	t.Helper()
	h := &holding{office: p, t: t, cmd: p.command("beckon-hook", "PermissionRequest", "--answers")}
	h.cmd.Stdin = strings.NewReader(`{"session_id":"held","hook_event_name":"PermissionRequest","cwd":"/","tool_name":"` + tool + `","tool_input":` + input + `}`)
	h.cmd.Stdout = &h.out
	if err := h.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = h.cmd.Process.Kill()
		if t.Failed() {
			explained, _ := p.command("beckon", "notify", "log").CombinedOutput()
			t.Logf("%s%s", p.log(), explained)
		}
	})
	h.offer()
	p.hook(t, "Notification", []byte(`{"session_id":"held","hook_event_name":"Notification","notification_type":"permission_prompt"}`))
	return h
}

func (p *office) log() string {
	log, _ := os.ReadFile(filepath.Join(p.state, "log", "beckon.log")) // none: nothing went wrong
	return string(log)
}

// offer waits for the offer.
func (h *holding) offer() request.Request {
	h.t.Helper()
	for end := time.Now().Add(time.Minute); ; time.Sleep(20 * time.Millisecond) {
		list, err := request.In(h.state).List(time.Now())
		if err == nil && len(list) == 1 {
			return list[0]
		}
		if time.Now().After(end) {
			h.t.Fatalf("%d offers, %v", len(list), err)
		}
	}
}

// said waits until the hook ends and returns its output.
func (h *holding) said() string {
	h.t.Helper()
	if err := h.cmd.Wait(); err != nil {
		h.t.Errorf("the hook ended with %v", err)
	}
	return h.out.String()
}

// A phone answers the call that a hook holds while nothing listens on this machine; an answer
// through another process's question about the same offer does not count.
func TestAskedOnPhone(t *testing.T) {
	t.Parallel()
	server := ntfytest.Start(t)
	p := newOffice(t, fmt.Sprintf(`{"notify": ["ntfy"], "notify_texts": "full", "ntfy_topic": "%s/asks", "ntfy_answers": "answers"}`, server.URL))
	h := p.hold(t, "Bash", `{"command":"make test"}`)
	o := h.offer()
	own := exec.Command(filepath.Join(p.bin, "beckon"), "notify", "ask", o.ID) // as an agent would
	own.Env = p.env
	if out, err := own.CombinedOutput(); err != nil || !strings.Contains(p.log(), "only the process that holds the call has its notification answered") {
		t.Errorf("who does not hold the call asks the user: %v: %s", err, out)
	}
	m := server.Await(t, "asks", 1)[0]
	if got := strings.Join(m.Labels(), " "); got != "Allow Deny" || !strings.Contains(m.Message, "make test") {
		t.Errorf("asked %q with %s", m.Message, got)
	}
	pid, kb := asker(t, o)
	t.Logf("process %d, which asks, has %d kB", pid, kb)
	m.Press(t, "Allow")
	if got := h.said(); !strings.Contains(got, `"behavior":"allow"`) {
		t.Errorf("the client is told %q", got)
	}
	a, ok := request.In(p.state).Answered(o.ID)
	if !ok || a.From != request.Phone || a.Word != request.Allow || a.Always != 0 {
		t.Errorf("answered %+v", a)
	}
	if end := server.Await(t, "asks", 2)[1]; end.Sequence != m.Sequence || len(end.Actions) != 0 || end.Message != "allowed" {
		t.Errorf("then %+v", end)
	}
	gone(t, pid)
}

// A button cannot ask for a PIN: with one a notification says what is asked, and has none.
func TestAskedWithPIN(t *testing.T) {
	t.Parallel()
	server := ntfytest.Start(t)
	p := newOffice(t, fmt.Sprintf(`{"notify": ["ntfy"], "notify_texts": "full", "ntfy_topic": "%s/asks", "ntfy_answers": "answers"}`, server.URL))
	if err := os.MkdirAll(p.state, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := pin.Set(request.In(p.state), "47 11"); err != nil {
		t.Fatal(err)
	}
	h := p.hold(t, "Bash", `{"command":"make test"}`)
	o := h.offer()
	m := server.Await(t, "asks", 1)[0]
	if got := m.Labels(); len(got) != 0 || !strings.Contains(m.Message, "make test") {
		t.Errorf("asked %q with %s", m.Message, got)
	}
	if d := request.In(p.state); !d.StillOpen(&o) {
		t.Error("it is over")
	}
	_ = h.cmd.Process.Kill()
}

// asker finds the process that asks about o, and its size.
func asker(t *testing.T, o request.Request) (pid, kb int) {
	t.Helper()
	list, err := filepath.Glob("/proc/[0-9]*/cmdline")
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range list {
		line, _ := os.ReadFile(path)
		if !bytes.Contains(line, []byte("notify\x00ask\x00"+o.ID)) {
			continue
		}
		status, _ := os.ReadFile(filepath.Join(filepath.Dir(path), "status"))
		_, _ = fmt.Sscanf(string(status[bytes.Index(status, []byte("Pid:")):]), "Pid: %d", &pid)
		_, _ = fmt.Sscanf(string(status[bytes.Index(status, []byte("VmRSS:")):]), "VmRSS: %d", &kb)
		return pid, kb
	}
	t.Fatal("no process asks")
	return 0, 0
}

func gone(t *testing.T, pid int) {
	t.Helper()
	for end := time.Now().Add(time.Minute); ; time.Sleep(50 * time.Millisecond) {
		if _, runs := evidence.Process(pid, evidence.ThisMachine()); !runs {
			return
		}
		if time.Now().After(end) {
			t.Fatalf("process %d is still there", pid)
		}
	}
}

// The phone learns that a question was answered elsewhere, and its buttons do nothing any
// more.
func TestAskedOnPhoneTooLate(t *testing.T) {
	t.Parallel()
	server := ntfytest.Start(t)
	p := newOffice(t, fmt.Sprintf(`{"notify": ["ntfy"], "ntfy_topic": "%s/asks", "ntfy_answers": "answers"}`, server.URL))
	h := p.hold(t, "Bash", `{"command":"make test"}`)
	o := h.offer()
	m := server.Await(t, "asks", 1)[0]
	if got := strings.Join(m.Labels(), " "); got != "Deny" || m.Message != "Bash" {
		t.Errorf("asked %q with %s", m.Message, got)
	}
	pid, _ := asker(t, o)
	if err := request.In(p.state).Give(request.Answer{Request: o.ID, Digest: o.Digest, Word: request.Allow, From: request.Terminal, By: "kim"}, time.Now()); err != nil {
		t.Fatal(err)
	}
	if got := h.said(); !strings.Contains(got, `"behavior":"allow"`) {
		t.Errorf("the client is told %q", got)
	}
	if end := server.Await(t, "asks", 2)[1]; end.Message != "answered already" {
		t.Errorf("then %+v", end)
	}
	m.Press(t, "Deny")
	gone(t, pid)
	if a, _ := request.In(p.state).Answered(o.ID); a.Word != request.Allow {
		t.Errorf("a late answer counts: %+v", a)
	}
}

// A call that changes a file is allowed as it was shown, or shown again.
func TestAskedAgain(t *testing.T) {
	t.Parallel()
	server := ntfytest.Start(t)
	p := newOffice(t, fmt.Sprintf(`{"notify": ["ntfy"], "notify_texts": "full", "ntfy_topic": "%s/asks", "ntfy_answers": "answers"}`, server.URL))
	file := filepath.Join(t.TempDir(), "f")
	put := func(text string) {
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	put("a\n")
	h := p.hold(t, "Write", fmt.Sprintf(`{"file_path":%q,"content":"b\\n"}`, file))
	m := server.Await(t, "asks", 1)[0]
	put("the work of a day\n")
	m.Press(t, "Allow")
	again := server.Await(t, "asks", 3)[2]
	if !strings.Contains(again.Message, "-the work of a day") || strings.Join(again.Labels(), " ") != "Allow Deny" {
		t.Fatalf("shown again: %+v", again)
	}
	m.Press(t, "Allow") // the first one
	again.Press(t, "Deny")
	if got := h.said(); !strings.Contains(got, `"behavior":"deny"`) {
		t.Errorf("the client is told %q", got)
	}
}

// A button of a desktop notification answers the call that a hook holds.
func TestAskedOnDesktop(t *testing.T) {
	if evidence.InClient() {
		t.Skip("an agent runs this: a notification daemon of its is not trusted")
	}
	t.Parallel()
	daemon := dbustest.Start(t)
	p := newOffice(t, `{"notify": ["desktop"], "notify_actions": true}`)
	p.env = append(p.env, "DBUS_SESSION_BUS_ADDRESS="+daemon.Address)
	h := p.hold(t, "Bash", `{"command":"make test"}`)
	o := h.offer()
	for end := time.Now().Add(time.Minute); len(daemon.Received()) == 0 && time.Now().Before(end); {
		time.Sleep(50 * time.Millisecond)
	}
	if got := daemon.Received(); len(got) != 1 || got[0].Buttons != "default allow deny" {
		t.Fatalf("received %q", got)
	}
	daemon.Press(1, string(request.Deny))
	if got := h.said(); !strings.Contains(got, `"behavior":"deny"`) {
		t.Errorf("the client is told %q", got)
	}
	if a, _ := request.In(p.state).Answered(o.ID); a.From != request.Desktop {
		t.Errorf("answered %+v", a)
	}
	if told := p.told(t, "held"); len(told) != 1 || told[0] != string(event.PermissionRequest) && told[0] != "permission" {
		t.Errorf("told of %v", told)
	}
	if request.In(p.state).StillOpen(&o) {
		t.Error("the offer is still open")
	}
}
