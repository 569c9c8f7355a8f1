package notify

import (
	"os/exec"
	"syscall"
)

// toTerminal is of no use here: no other process's terminal can be opened.
const toTerminal = 0

// alone keeps a program from opening a window.
func alone(cmd *exec.Cmd) { cmd.SysProcAttr = &syscall.SysProcAttr{HideWindow: true} }
