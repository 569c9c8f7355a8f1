package main

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"beckon/event"
	"beckon/state"
	"beckon/state/store"
)

const (
	faultFull     = "file system full (ENOSPC)"
	faultInodes   = "no file can be made on it (ENOSPC, inodes)"
	faultReadOnly = "file system read-only (EROFS)"
)

// plain is one unmodified hook.
var plain = []func([]string) []string{nil}

func allFaults() []fault {
	return []fault{
		{name: faultFull, some: true, wrap: many(25), begin: func(t *testing.T, x *trial) func() { return x.fill(t) }},
		{name: faultInodes, wrap: plain, begin: func(t *testing.T, x *trial) func() { return x.useUp(t) }},
		{name: faultReadOnly, wrap: plain, begin: func(t *testing.T, x *trial) func() {
			x.remount(t, syscall.MS_RDONLY)
			return func() { x.remount(t, 0) }
		}},
		{name: "no descriptors left (EMFILE), 3 to 12 allowed", some: true, wrap: limited(3, 12), begin: nothing},
		{name: "no file may grow (RLIMIT_FSIZE)", wrap: []func([]string) []string{shell("ulimit -f 0")}, begin: nothing},
		{name: "no rights to the state directory (EACCES)", wrap: plain, begin: func(t *testing.T, x *trial) func() { return x.forbid(t) }},
		{name: "session file damaged", wrap: plain, begin: spoil("sessions/s1.json", garble)},
		{name: "session file cut in half", wrap: plain, begin: spoil("sessions/s1.json", halve)},
		{name: "one bit of the session file flipped", wrap: plain, begin: spoil("sessions/s1.json", flip)},
		{name: "session file emptied, as after a power cut", wrap: plain, begin: spoil("sessions/s1.json", func([]byte) []byte { return nil })},
		{name: "session file gone", wrap: plain, begin: spoil("sessions/s1.json", nil)},
		{name: "half a line at the end of the history", wrap: plain, begin: spoil("history", func(b []byte) []byte { return append(b, b[:len(b)/2]...) })},
		{name: "zeros at the end of the history, as after a power cut", wrap: plain, begin: spoil("history", func(b []byte) []byte { return append(b, make([]byte, 700)...) })},
		{name: "clock set back by an hour", wrap: plain, begin: fromTheFuture},
		{name: "state directory removed", wrap: plain, wiped: true, begin: func(t *testing.T, x *trial) func() {
			check(t, os.RemoveAll(x.state))
			return func() {}
		}},
		{name: "a FIFO in place of the session file", wrap: plain, begin: fifo("sessions/s1.json")},
		{name: "a FIFO in place of the lock", wrap: plain, begin: fifo("locks/s1.lock")},
		{name: "a FIFO in place of the temporary file", wrap: plain, begin: fifo("tmp/s1.json")},
		{name: "a directory in place of the lock", wrap: plain, begin: func(t *testing.T, x *trial) func() {
			path := filepath.Join(x.state, "locks", "s1.lock")
			check(t, os.Remove(path), os.Mkdir(path, 0o700))
			return func() {}
		}},
		{name: "the lock held by a stopped process", wrap: plain, begin: stoppedHolder},
		{name: "the same, with no descriptors left", some: true, wrap: limited(5, 7), begin: stoppedHolder},
		{name: "fifty hooks killed at any moment", wrap: plain, begin: killSome},
	}
}

func nothing(*testing.T, *trial) func() { return func() {} }

func check(t *testing.T, errs ...error) {
	t.Helper()
	if err := errors.Join(errs...); err != nil {
		t.Fatal(err)
	}
}

// shell sets something for a process before it starts.
func shell(set string) func([]string) []string {
	return func(args []string) []string {
		return append([]string{"/bin/sh", "-c", set + `; exec "$@"`, "sh"}, args...)
	}
}

// many is n hooks, one after another: the last blocks of the files may still have room for some.
func many(n int) []func([]string) []string { return make([]func([]string) []string, n) }

func limited(from, to int) (all []func([]string) []string) {
	for n := from; n <= to; n++ {
		all = append(all, shell(fmt.Sprintf("ulimit -n %d", n)))
	}
	return all
}

// mount mounts a small file system over the state directory.
func (x *trial) mount(t *testing.T, kind string) {
	t.Helper()
	options := "size=256k,mode=0700"
	if kind == faultInodes {
		options = "nr_inodes=40,mode=0700"
	}
	if err := syscall.Mount("tmpfs", x.state, "tmpfs", 0, options); err != nil {
		t.Skipf("no file system can be mounted here: %v", err)
	}
	t.Cleanup(func() { check(t, syscall.Unmount(x.state, syscall.MNT_DETACH)) })
}

func (x *trial) remount(t *testing.T, flags uintptr) {
	t.Helper()
	check(t, syscall.Mount("", x.state, "", syscall.MS_REMOUNT|flags, ""))
}

// fill writes until the disk is full.
func (x *trial) fill(t *testing.T) func() {
	path := filepath.Join(x.state, "ballast")
	f, err := os.Create(path)
	check(t, err)
	for _, size := range []int{4096, 1} {
		for err == nil {
			_, err = f.Write(make([]byte, size))
		}
		if !errors.Is(err, syscall.ENOSPC) {
			t.Fatal(err)
		}
		err = nil
	}
	check(t, f.Close())
	return func() { check(t, os.Remove(path)) }
}

// useUp creates files until none more can be created.
func (x *trial) useUp(t *testing.T) func() {
	dir := filepath.Join(x.state, "ballast")
	err := os.Mkdir(dir, 0o700)
	for i := 0; err == nil; i++ {
		err = os.WriteFile(filepath.Join(dir, fmt.Sprint(i)), nil, 0o600)
	}
	if !errors.Is(err, syscall.ENOSPC) {
		t.Fatal(err)
	}
	return func() { check(t, os.RemoveAll(dir)) }
}

// forbid removes all permissions on the state directory from the hooks that run meanwhile.
func (x *trial) forbid(t *testing.T) func() {
	if os.Geteuid() == 0 {
		x.nobody = true // modes do not hold root up
		check(t, os.Chmod(filepath.Dir(x.dir), 0o755), os.Chmod(x.dir, 0o755))
		return func() {}
	}
	check(t, os.Chmod(x.state, 0))
	return func() { check(t, os.Chmod(x.state, 0o700)) }
}

// drop makes cmd run as nobody, if it is to. It must be able to reach its program.
func (x *trial) drop(t *testing.T, cmd *exec.Cmd) {
	if !x.nobody {
		return
	}
	for dir := filepath.Dir(program(t, "beckon")); dir != os.TempDir() && dir != "/"; dir = filepath.Dir(dir) {
		check(t, os.Chmod(dir, 0o755))
	}
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: 65534, Gid: 65534}}
}

// spoil changes a file of the session; nil removes it.
func spoil(name string, how func([]byte) []byte) func(*testing.T, *trial) func() {
	return func(t *testing.T, x *trial) func() {
		path := filepath.Join(x.state, name)
		if name == "history" {
			days, err := filepath.Glob(filepath.Join(path, "*.jsonl"))
			check(t, err)
			path = days[len(days)-1]
		}
		if how == nil {
			check(t, os.Remove(path))
			return func() {}
		}
		b, err := os.ReadFile(path)
		check(t, err, os.WriteFile(path, how(b), 0o600))
		return func() {}
	}
}

func garble(b []byte) []byte { return bytes.Repeat([]byte{0xff, 0, '{'}, len(b)/3) }
func flip(b []byte) []byte {
	b[bytes.Index(b, []byte("Bash"))] ^= 1
	return b
}
func halve(b []byte) []byte { return b[:len(b)/2] }

func fifo(name string) func(*testing.T, *trial) func() {
	return func(t *testing.T, x *trial) func() {
		path := filepath.Join(x.state, name)
		_ = os.Remove(path)
		check(t, syscall.Mkfifo(path, 0o600))
		return func() {}
	}
}

// fromTheFuture folds an event dated an hour ahead: compared with it, the clock of the next
// hook has been set back.
func fromTheFuture(t *testing.T, x *trial) func() {
	at := event.MillisOf(time.Now().Add(time.Hour))
	e := event.Event{Agent: "claude-code", Kind: event.PreToolUse, Name: "PreToolUse", At: at, SessionID: "s1", Cwd: "/",
		Tool: event.Tool{Name: "Bash", UseID: "future", Summary: "Bash: make"}}
	_, err := store.Open(x.state).Fold("s1", store.Update{Change: state.Change{At: at, Event: &e}})
	check(t, err)
	return func() {}
}

// stoppedHolder stops a process that has taken the session's lock.
func stoppedHolder(t *testing.T, x *trial) func() {
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), holdEnv+"="+filepath.Join(x.state, "locks", "s1.lock"))
	out, err := cmd.StdoutPipe()
	check(t, err, cmd.Start())
	_, err = out.Read(make([]byte, 1)) // it has the lock
	check(t, err, cmd.Process.Signal(syscall.SIGSTOP))
	return func() {
		check(t, cmd.Process.Kill())
		_ = cmd.Wait()
	}
}

// killSome starts hooks and kills each at another moment. Their events may be there or not,
// but at most once, and whole.
func killSome(t *testing.T, x *trial) func() {
	for i := range 50 {
		cmd := exec.Command(program(t, "beckon-hook"), "PreToolUse")
		cmd.Env = x.env
		in, err := cmd.StdinPipe()
		check(t, err, cmd.Start())
		_, _ = fmt.Fprintf(in, `{"session_id":"s1","hook_event_name":"PreToolUse","tool_name":"Bash","tool_use_id":"killed%d","cwd":"/","tool_input":{"command":"make"}}`, i)
		_ = in.Close()
		time.Sleep(time.Duration(i) * 100 * time.Microsecond)
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	}
	return func() {}
}
