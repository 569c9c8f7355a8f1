package run

import "syscall"

// attributes start the process in its own session. If this program is killed, which it cannot
// prevent, the command ends with it.
func attributes() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setsid: true, Pdeathsig: syscall.SIGKILL}
}
