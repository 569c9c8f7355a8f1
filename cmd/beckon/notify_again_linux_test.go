package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// waited reports whether the process that notifies has nothing left to wait for.
func (p *office) waited() bool {
	_, err := os.Stat(filepath.Join(p.state, "notify", "due"))
	return os.IsNotExist(err)
}

// TestNotifyAgain: a dialog that stays open is notified of once more, and not one that was answered.
func TestNotifyAgain(t *testing.T) {
	t.Parallel()
	told := filepath.Join(t.TempDir(), "told")
	const config = `{"notify": ["command"], "notify_command": ["/bin/sh", "-c", "echo $BECKON_KIND $BECKON_TITLE >>TOLD"], "notify_again": "AGAIN"}`
	open := func(again string) *office {
		return newOffice(t, strings.NewReplacer("TOLD", told, "AGAIN", again).Replace(config))
	}
	p := open("8s")
	p.ask(t, "s1")
	p.explained(t, "s1", "nothing stands in the way (command)")
	p.explained(t, "s1", "it still waits (command)")
	within(t, "nothing more is waited for", p.waited)
	if text, _ := os.ReadFile(told); strings.Count(string(text), "permission tmp") != 2 {
		t.Errorf("told %q, want the permission twice", text)
	}
	p = open("1h")
	p.ask(t, "s2")
	p.explained(t, "s2", "nothing stands in the way (command)")
	p.send(t, "s2", `"PostToolUse","tool_name":"Bash","tool_input":{"command":"make"},"tool_use_id":"t1"`)
	within(t, "an answered dialog is not waited for", p.waited)
}

// TestNotifyReturn: the end of a time aside is notified of, unless the user took the session back.
func TestNotifyReturn(t *testing.T) {
	t.Parallel()
	p := newOffice(t, `{"notify": ["command"], "notify_command": ["/bin/true"]}`)
	for _, s := range []string{"s1", "s2", "s3"} {
		p.send(t, s, `"UserPromptSubmit","prompt":"go"`)
	}
	mark := func(args ...string) {
		if out, err := p.command("beckon", append([]string{"mark"}, args...)...).CombinedOutput(); err != nil {
			t.Fatalf("mark %q: %v: %s", args, err, out)
		}
	}
	mark("s2", "--until", "1h")
	mark("s2", "--off")
	mark("s3", "--until", "needed")
	mark("s1", "--until", "3s")
	began := time.Now()
	p.explained(t, "s1", "back")
	p.explained(t, "s1", "nothing stands in the way (command)")
	if took := time.Since(began); took < 2*time.Second {
		t.Errorf("back after %s of 3", took)
	}
	within(t, "nothing more is waited for", p.waited)
	for _, s := range []string{"s2", "s3"} {
		if out, _ := p.command("beckon", "notify", "log", s).CombinedOutput(); strings.Contains(string(out), "back") {
			t.Errorf("%s: %s", s, out)
		}
	}
}
