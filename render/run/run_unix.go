//go:build unix

package run

import (
	"context"
	"os/exec"
	"syscall"
)

func (p Program) command(ctx context.Context) *exec.Cmd {
	if p.Line != "" {
		return exec.CommandContext(ctx, "/bin/sh", "-c", p.Line)
	}
	return exec.CommandContext(ctx, p.Argv[0], p.Argv[1:]...)
}

// alone runs a program in a process group of its own, so that all of it can be ended at its
// limit.
func (p Program) alone(cmd *exec.Cmd) error {
	end := syscall.SIGKILL
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	if p.Interrupt {
		end = syscall.SIGINT
	}
	defer withParent(cmd.SysProcAttr, end)()
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, end) }
	return cmd.Run()
}
