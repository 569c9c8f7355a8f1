//go:build unix

package notify

import (
	"os/exec"
	"syscall"
)

// toTerminal opens a terminal for writing, without making it this process's own.
const toTerminal = syscall.O_NOCTTY | syscall.O_NONBLOCK

// alone starts a program in a process group of its own, so that all of it can be killed at its
// limit.
func alone(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
}
