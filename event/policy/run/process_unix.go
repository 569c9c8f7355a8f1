//go:build unix

package run

import (
	"os"
	"os/exec"
	"syscall"
)

// maxEnv is what one environment variable may hold, name and closing NUL
// included: Linux refuses a longer one (MAX_ARG_STRLEN), and with it the whole
// program.
const maxEnv = 128 << 10

// group is the process group of a command. It is a session too: a program
// that asks the terminal for a password fails at once and is not stopped.
type group struct{ cmd *exec.Cmd }

func newGroup(cmd *exec.Cmd) *group {
	cmd.SysProcAttr = attributes()
	return &group{cmd}
}

func (g *group) started() {}

// end asks every process of the group to end.
func (g *group) end() error { return g.signal(syscall.SIGTERM) }

// kill ends what is left of the group. Its leader may be reaped by now: the
// system gives its number to no other group while a member lives, and when
// none lives there is nothing to hit.
func (g *group) kill() { _ = g.signal(syscall.SIGKILL) }

func (g *group) close() {}

func (g *group) signal(s syscall.Signal) error {
	err := syscall.Kill(-g.cmd.Process.Pid, s)
	if err == syscall.ESRCH {
		return os.ErrProcessDone
	}
	return err
}

// shell returns the program and arguments that run a command line.
func shell(kind, line string) (name string, args []string) {
	switch kind {
	case "powershell":
		return powershell(), []string{"-NoProfile", "-NonInteractive", "-Command", line}
	case "bash":
		return "bash", []string{"-c", line}
	}
	return "/bin/sh", []string{"-c", line}
}
