//go:build unix

package talk

import (
	"os"
	"os/exec"
	"strconv"
	"syscall"
	"testing"
)

// childEnv makes the test binary report whether the named process started it.
const childEnv = "BECKON_TEST_STARTED_BY"

func TestMain(m *testing.M) {
	if pid := os.Getenv(childEnv); pid != "" {
		n, _ := strconv.Atoi(pid)
		if startedBy(n) {
			os.Exit(0)
		}
		os.Exit(1)
	}
	os.Exit(m.Run())
}

// A process in its own session does not count as started by a client for its mod, although the
// client is its parent; nor does a process with another parent.
func TestStartedBy(t *testing.T) {
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name string
		argv []string
		own  bool // in a session of its own
		want bool
	}{
		{"as a mod's", []string{self}, false, true},
		{"as a shell's, in the shell's place", []string{"/bin/sh", "-c", `exec "$0"`, self}, true, false},
		{"as a hook's", []string{self}, true, false},
		{"below another process", []string{"/bin/sh", "-c", `"$0"; exit $?`, self}, false, false},
	} {
		cmd := exec.Command(c.argv[0], c.argv[1:]...)
		cmd.Env = append(os.Environ(), childEnv+"="+strconv.Itoa(os.Getpid()))
		cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: c.own}
		if got := cmd.Run() == nil; got != c.want {
			t.Errorf("%s: %v, want %v", c.name, got, c.want)
		}
	}
}
