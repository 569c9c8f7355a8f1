package main

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"beckon/state/alert"
)

// otherClient is a process by the name of an agent's program that runs hooks, one after the
// other, and commands as its children.
type otherClient struct {
	*office
	t     *testing.T
	agent string
	in    io.WriteCloser
	out   *bytes.Buffer
	cmd   *exec.Cmd
}

func (p *office) startClient(t *testing.T, agent string, with ...func(*exec.Cmd)) *otherClient {
	t.Helper()
	shell, err := os.ReadFile("/bin/bash")
	if err != nil {
		t.Fatal(err)
	}
	program := filepath.Join(t.TempDir(), agent)
	if err := os.WriteFile(program, shell, 0o700); err != nil {
		t.Fatal(err)
	}
	c := &otherClient{office: p, t: t, agent: agent, out: &bytes.Buffer{}}
	c.cmd = exec.Command(program, "-c", `while IFS= read -r line; do eval "$line"; done`)
	c.cmd.Env, c.cmd.Stdout, c.cmd.Stderr = p.env, c.out, c.out
	for _, change := range with {
		change(c.cmd)
	}
	if c.in, err = c.cmd.StdinPipe(); err != nil {
		t.Fatal(err)
	}
	start(t, c.cmd)
	return c
}

// event runs the agent's hook for an event.
func (c *otherClient) event(name, more string) {
	c.t.Helper()
	payload := fmt.Sprintf(`{"session_id":"s-%s","cwd":"/tmp","hook_event_name":%q%s}`, c.agent, name, more)
	fmt.Fprintf(c.in, "printf %%s '%s' | %s/beckon-hook %s --agent %s\n", payload, c.bin, name, c.agent)
}

func (c *otherClient) asks() {
	c.t.Helper()
	const call = `,"tool_name":"Bash","tool_input":{"command":"make"}`
	c.event("SessionStart", `,"source":"startup"`)
	c.event("UserPromptSubmit", `,"prompt":"go"`)
	c.event("PreToolUse", call+`,"tool_use_id":"t1"`)
	c.event("PermissionRequest", call)
}

// waiters returns the processes of an office that sleep to notify.
func (p *office) waiters() (pids []int) {
	list, _ := filepath.Glob("/proc/[0-9]*/cmdline")
	for _, path := range list {
		line, _ := os.ReadFile(path)
		if bytes.HasPrefix(line, []byte(filepath.Join(p.bin, "beckon")+"\x00notify\x00wait")) {
			pid, _ := strconv.Atoi(filepath.Base(filepath.Dir(path)))
			pids = append(pids, pid)
		}
	}
	return pids
}

// A dialog of any agent is notified of once it has been open for six seconds, by one process,
// which then ends; so is a turn that ends in a question soon after the prompt.
func TestNotifyOtherAgents(t *testing.T) {
	t.Parallel()
	p := newOffice(t, `{"notify": ["command"], "notify_command": ["true"], "notify_again": "0s"}`)
	for _, agent := range []string{"codex", "opencode"} {
		c := p.startClient(t, agent)
		c.asks()
		defer func() {
			if c.out.Len() > 0 {
				t.Errorf("%s: a hook printed %q", agent, c.out)
			}
		}()
	}
	q := p.startClient(t, "gemini")
	q.event("UserPromptSubmit", `,"prompt":"go"`)
	q.event("Stop", `,"last_assistant_message":"Which database should I use, Postgres or SQLite?"`)
	most := 0
	within(t, "every session is notified", func() bool {
		most = max(most, len(p.waiters()))
		return len(p.told(t, "s-codex")) == 1 && len(p.told(t, "s-opencode")) == 1 && len(p.told(t, "s-gemini")) == 1
	})
	if got := p.told(t, "s-codex")[0] + p.told(t, "s-gemini")[0]; got != "permissionquestion" {
		t.Errorf("notified of %s", got)
	}
	if most == 0 || most > 3 { // those that find another one end at once
		t.Errorf("%d processes waited", most)
	}
	within(t, "nobody waits any more", func() bool { return len(p.waiters()) == 0 })
	if alert.AnyDue(p.state) {
		t.Error("something is still due")
	}
}

// If the process that waits is killed, the next event of any session does its work.
func TestNotifyAfterKill(t *testing.T) {
	t.Parallel()
	p := newOffice(t, `{"notify": ["command"], "notify_command": ["true"]}`)
	c := p.startClient(t, "codex")
	c.asks()
	within(t, "a process waits", func() bool { return len(p.waiters()) > 0 })
	for _, pid := range p.waiters() {
		_ = syscall.Kill(pid, syscall.SIGKILL)
	}
	time.Sleep(7 * time.Second)
	if got := p.told(t, "s-codex"); len(got) != 0 {
		t.Fatalf("notified of %v by nobody", got)
	}
	p.send(t, "another", `"SessionStart","source":"startup"`)
	within(t, "the dialog is notified of", func() bool { return len(p.told(t, "s-codex")) == 1 })
}

// A call that runs by then is not notified of: a child of its agent shows it.
func TestNotifyNotOfRunningCall(t *testing.T) {
	t.Parallel()
	p := newOffice(t, `{"notify": ["command"], "notify_command": ["true"]}`)
	c := p.startClient(t, "codex")
	c.asks()
	time.Sleep(1500 * time.Millisecond)
	fmt.Fprintln(c.in, "sleep 60 & :")
	p.explained(t, "s-codex", "not sent  it has passed")
	if out := p.run(t, "beckon", "list", "--json"); !strings.Contains(out, `"state": "working"`) {
		t.Errorf("it is not at work:\n%s", out)
	}
	_ = c.in.Close()
}
