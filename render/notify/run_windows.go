package notify

import (
	"os/exec"
	"syscall"
)

// alone keeps a program from opening a window.
func alone(cmd *exec.Cmd) { cmd.SysProcAttr = &syscall.SysProcAttr{HideWindow: true} }
