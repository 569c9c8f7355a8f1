//go:build linux

package run

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"beckon/event/policy/config"
	"beckon/event/policy/wire"
)

// deadline applies to every fault; slack is what a busy machine may add.
const (
	deadline = 700 * time.Millisecond
	slack    = 15 * time.Second
)

// fault runs h under the deadline and checks what every handler must do: return in time and
// leave nothing behind.
func fault(t *testing.T, h handler, c wire.Call) wire.Outcome {
	t.Helper()
	mark := fmt.Sprintf("%s-%d", strings.ReplaceAll(t.Name(), "/", "-"), os.Getpid())
	t.Setenv("HANDLER_FAULT", mark)
	descriptors, goroutines := openFiles(t), runtime.NumGoroutine()
	ctx, cancel := context.WithTimeout(t.Context(), deadline)
	defer cancel()
	start := time.Now()
	o := h.Run(ctx, c)
	if took := time.Since(start); took > deadline+slack {
		t.Errorf("took %s of %s", took, deadline)
	}
	settled(t, "processes", func() (int, int) { return len(marked(mark)), 0 })
	settled(t, "descriptors", func() (int, int) { return openFiles(t), descriptors })
	settled(t, "goroutines", func() (int, int) { return runtime.NumGoroutine(), goroutines })
	return o
}

// settled waits until count returns no more than the wanted number.
func settled(t *testing.T, what string, count func() (got, want int)) {
	t.Helper()
	for end := time.Now().Add(slack); ; time.Sleep(10 * time.Millisecond) {
		got, want := count()
		if got <= want {
			return
		}
		if time.Now().After(end) {
			t.Errorf("%d %s, %d expected", got, what, want)
			return
		}
	}
}

// marked returns the other processes that have the mark in their environment; a process that
// has ended but not been waited for has none.
func marked(mark string) []string {
	var list []string
	environs, _ := filepath.Glob("/proc/[0-9]*/environ")
	for _, f := range environs {
		env, _ := os.ReadFile(f)
		if pid := filepath.Base(filepath.Dir(f)); bytes.Contains(env, []byte("HANDLER_FAULT="+mark+"\x00")) && pid != fmt.Sprint(os.Getpid()) {
			list = append(list, pid)
		}
	}
	return list
}

func openFiles(t *testing.T) int {
	t.Helper()
	list, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		t.Fatal(err)
	}
	return len(list)
}

func sh(script string) handler { return commandOf(config.Spec{Command: script}, os.Environ()...) }

func timedOut(t *testing.T, o wire.Outcome) {
	t.Helper()
	if !o.TimedOut || o.Err == nil || o.Decision != wire.Silence || o.Reason != "" || o.Raw != nil {
		t.Errorf("got %+v", o)
	}
}

// The counting functions of these tests find what is left behind.
func TestFaultsAreSeen(t *testing.T) {
	t.Setenv("HANDLER_FAULT", "seen")
	h := commandOf(config.Spec{Command: "sleep 5 >/dev/null 2>&1 & echo $!"}, os.Environ()...)
	o := h.Run(t.Context(), bashCall("ls"))
	if got := marked("seen"); len(got) != 1 || got[0] != strings.TrimSpace(o.Output) {
		t.Errorf("a process that detached: %q, want %q", got, o.Output)
	}
	if p, err := os.FindProcess(atoi(o.Output)); err == nil {
		_ = p.Kill()
	}
}

func atoi(s string) (n int) { _, _ = fmt.Sscan(s, &n); return n }

// A command that does not end in time is ended, whatever it does about that.
func TestFaultCommandDoesNotEnd(t *testing.T) {
	for name, script := range map[string]string{
		"hangs": "sleep 60", "hangs after it decided": "echo '{}'; echo no >&2; sleep 60; exit 2",
		"ignores the signal":          "trap '' TERM; (trap '' TERM; sleep 60) & sleep 60; sleep 60",
		"exits cleanly on the signal": "trap 'exit 0' TERM; sleep 60 & wait",
		"prints for ever":             "yes; exit 2", "complains for ever": "yes >&2; exit 2",
	} {
		t.Run(name, func(t *testing.T) { timedOut(t, fault(t, sh(script), bashCall("ls"))) })
	}
}

func TestFaultCommandOwnTimeout(t *testing.T) {
	h := commandOf(config.Spec{Command: "sleep 60"}, os.Environ()...)
	h.Timeout = 50 * time.Millisecond
	o := fault(t, h, bashCall("ls"))
	timedOut(t, o)
	if o.Took > deadline+slack/2 {
		t.Errorf("took %s", o.Took)
	}
}

func TestFaultCommandInterrupted(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	time.AfterFunc(50*time.Millisecond, cancel)
	o := sh("sleep 60").Run(ctx, bashCall("ls"))
	if o.TimedOut || o.Err == nil || !strings.Contains(o.Err.Error(), "interrupted") {
		t.Errorf("got %+v", o)
	}
}

func TestFaultGrandchildHoldsStdout(t *testing.T) {
	o := fault(t, sh("sleep 60 & echo no >&2; exit 2"), bashCall("ls"))
	if o.Err != nil || o.Decision != wire.Deny || o.Reason != "no" || o.TimedOut {
		t.Errorf("got %+v", o)
	}
	o = fault(t, sh(`sleep 60 & echo '{"systemMessage":"hi"}'`), bashCall("ls"))
	if o.Err != nil || o.System != "hi" || o.TimedOut {
		t.Errorf("got %+v", o)
	}
}

func TestFaultGrandchildHoldsStdinOnly(t *testing.T) {
	c := bashCall(strings.Repeat("x", 1<<20)) // more than a pipe holds
	o := fault(t, sh("exec 3<&0; sleep 2 >/dev/null 2>&1 <&3 & exit 0"), c)
	if o.Err != nil || o.Decision != wire.Silence || o.Took > 2*time.Second {
		t.Errorf("got %+v", o)
	}
}

func TestFaultCommandDoesNotReadStdin(t *testing.T) {
	o := fault(t, sh("exec <&-; echo no >&2; exit 2"), bashCall(strings.Repeat("x", 1<<20)))
	if o.Err != nil || o.Decision != wire.Deny {
		t.Errorf("got %+v", o)
	}
}

func TestFaultCommandPrintsOneGigabyte(t *testing.T) {
	h := sh("head -c 1073741824 /dev/zero | tr '\\0' x; echo no >&2; exit 2")
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	o := h.Run(ctx, bashCall("ls"))
	runtime.ReadMemStats(&after)
	if o.Err != nil || o.Decision != wire.Deny || o.Reason != "no" || len(o.Output) > maxOutput {
		t.Errorf("error %v, decision %q, reason %q, output %d", o.Err, o.Decision, o.Reason, len(o.Output))
	}
	if grown := after.TotalAlloc - before.TotalAlloc; grown > 64<<20 {
		t.Errorf("allocated %d MiB", grown>>20)
	}
}

func TestFaultCommandAnswerTooLarge(t *testing.T) {
	o := fault(t, sh(`printf '{"reason":"'; head -c 2000000 /dev/zero | tr '\0' x; printf '"}'`), bashCall("ls"))
	if o.Err == nil || !strings.Contains(o.Err.Error(), "larger than") {
		t.Errorf("got error %v", o.Err)
	}
}

func TestFaultCommandPrintsGarbage(t *testing.T) {
	o := fault(t, sh("head -c 100000 /dev/urandom; head -c 1000 /dev/urandom >&2; exit 2"), bashCall("ls"))
	if o.Err != nil || o.Decision != wire.Deny || len(o.Output) > maxOutput || strings.ToValidUTF8(o.Reason+o.Output, "") != o.Reason+o.Output {
		t.Errorf("got %v %q", o.Err, o.Decision)
	}
}

func TestFaultCommandExits127(t *testing.T) {
	o := fault(t, sh("/does/not/exist"), bashCall("ls"))
	if o.Err == nil || o.ExitCode != 127 || o.Decision != wire.Silence {
		t.Errorf("shell form: %+v", o)
	}
	h := commandOf(config.Spec{Command: "/does/not/exist", Args: []string{"x"}}, os.Environ()...)
	o = fault(t, h, bashCall("ls"))
	if o.Err == nil || o.ExitCode != -1 || !strings.Contains(o.Err.Error(), `running "/does/not/exist"`) {
		t.Errorf("exec form: %+v", o)
	}
}

func TestFaultCommandIsKilled(t *testing.T) {
	o := fault(t, sh("kill -9 $$"), bashCall("ls"))
	if o.Err == nil || o.ExitCode != -1 || o.TimedOut || !strings.Contains(o.Err.Error(), "killed") {
		t.Errorf("got %+v", o)
	}
	h := commandOf(config.Spec{Command: "kill -TERM $$", Convention: config.Simple}, os.Environ()...)
	if o := fault(t, h, bashCall("ls")); o.Err == nil || o.Decision != wire.Silence {
		t.Errorf("by the simple convention a signal is not an exit code: %+v", o)
	}
}

func TestFaultCommandNeverWritesToOurOutputs(t *testing.T) {
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	out, errs := os.Stdout, os.Stderr
	os.Stdout, os.Stderr = w, w
	o := sh("echo out; echo err >&2; echo three >&3").Run(t.Context(), bashCall("ls"))
	os.Stdout, os.Stderr = out, errs
	w.Close()
	if got, _ := io.ReadAll(r); len(got) > 0 || !strings.Contains(o.Output, "out\nerr") {
		t.Errorf("ours got %q, the outcome %q", got, o.Output)
	}
	if tty := sh("exec 2>/dev/null; : </dev/tty && echo terminal").Run(t.Context(), bashCall("ls")); tty.Output != "" {
		t.Errorf("it has a terminal: %+v", tty)
	}
}
