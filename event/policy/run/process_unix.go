//go:build unix

package run

import (
	"os"
	"os/exec"
	"syscall"
)

// maxEnv is the size limit of one environment variable, including name and closing NUL: Linux
// refuses to start a program with a longer one (MAX_ARG_STRLEN).
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

// kill kills what is left of the group. Its leader may have been reaped: the system does not
// reuse its number while a member lives, and if none lives the signal hits nothing.
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
