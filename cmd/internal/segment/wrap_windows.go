package segment

import (
	"context"
	"os/exec"
	"path/filepath"
	"syscall"
)

// shell prepares a command line for bash, in which the client runs such commands if it finds
// one, else for cmd.
func shell(ctx context.Context, line string) *exec.Cmd {
	if bash, err := exec.LookPath("bash"); err == nil && filepath.IsAbs(bash) {
		return exec.CommandContext(ctx, bash, "-c", line)
	}
	cmd := exec.CommandContext(ctx, "cmd")
	cmd.SysProcAttr = &syscall.SysProcAttr{CmdLine: `cmd /d /s /c "` + line + `"`}
	return cmd
}
