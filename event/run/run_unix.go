//go:build unix

package run

import (
	"os"
	"os/exec"
	"syscall"
)

// withParent has the kernel send a signal to a program when this one ends, even by SIGKILL, where it can.
var withParent = func(*syscall.SysProcAttr, syscall.Signal) {}

// Alone starts a command in a process group of its own, so that all of it can be ended. With detach it
// has a session of its own, in which a program that asks the terminal for a password fails at once.
// orphan is the signal that it gets when this program ends.
func Alone(cmd *exec.Cmd, detach bool, orphan syscall.Signal) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: !detach, Setsid: detach}
	withParent(cmd.SysProcAttr, orphan)
}

// Signal sends a signal to every process of the group. Its leader may have been reaped: the system does
// not reuse its number while a member lives, and if none lives the signal hits nothing.
func Signal(p *os.Process, s syscall.Signal) error {
	err := syscall.Kill(-p.Pid, s)
	if err == syscall.ESRCH {
		return os.ErrProcessDone
	}
	return err
}

// Shell returns what runs a command line: in sh, or in kind, which is bash or powershell.
func Shell(kind, line string) (argv []string) {
	switch kind {
	case "powershell":
		return powershell(line)
	case "bash":
		return []string{"bash", "-c", line}
	}
	return []string{"/bin/sh", "-c", line}
}
