//go:build unix

package segment

import (
	"context"
	"os/exec"
	"syscall"
)

// shell prepares a command line for the shell, in a process group that is killed as a whole
// when ctx ends: a shell's children would outlive it.
func shell(ctx context.Context, line string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, "/bin/sh", "-c", line)
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
	return cmd
}
