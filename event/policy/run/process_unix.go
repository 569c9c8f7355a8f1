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

// alone starts a command in a session of its own, so that a program that asks the terminal for a
// password fails at once, and so that all of it can be ended.
func alone(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	endWithParent(cmd.SysProcAttr)
}

// end asks every process of the group to end.
func end(p *os.Process) error { return signal(p, syscall.SIGTERM) }

// kill kills what is left of the group. Its leader may have been reaped: the system does not
// reuse its number while a member lives, and if none lives the signal hits nothing.
func kill(p *os.Process) { _ = signal(p, syscall.SIGKILL) }

func signal(p *os.Process, s syscall.Signal) error {
	err := syscall.Kill(-p.Pid, s)
	if err == syscall.ESRCH {
		return os.ErrProcessDone
	}
	return err
}

// shell returns the program and arguments that run a command line.
func shell(kind, line string) (name string, args []string) {
	switch kind {
	case "powershell":
		return powershell(line)
	case "bash":
		return "bash", []string{"-c", line}
	}
	return "/bin/sh", []string{"-c", line}
}
