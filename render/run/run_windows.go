package run

import (
	"context"
	"os/exec"
	"path/filepath"
	"syscall"
)

// command takes bash for a command line, in which the client runs such ones if it finds it,
// else cmd. No program opens a window.
func (p Program) command(ctx context.Context) *exec.Cmd {
	argv, line := p.Argv, ""
	if bash, err := exec.LookPath("bash"); p.Line != "" && err == nil && filepath.IsAbs(bash) {
		argv = []string{bash, "-c", p.Line}
	} else if p.Line != "" {
		argv, line = []string{"cmd"}, `cmd /d /s /c "`+p.Line+`"`
	}
	cmd := exec.CommandContext(ctx, argv[0], argv[1:]...)
	cmd.SysProcAttr = &syscall.SysProcAttr{HideWindow: true, CmdLine: line}
	return cmd
}

func (p Program) alone(cmd *exec.Cmd) error { return cmd.Run() }
