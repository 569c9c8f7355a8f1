//go:build unix

package notify

import (
	"os/exec"
	"syscall"
)

// alone puts a program into a group of its own, so that all of it ends at its limit.
func alone(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
}
