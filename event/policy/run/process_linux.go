package run

import "syscall"

// attributes make a session of its own. Should this program be killed, which
// it cannot prevent, the command ends with it.
func attributes() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setsid: true, Pdeathsig: syscall.SIGKILL}
}
