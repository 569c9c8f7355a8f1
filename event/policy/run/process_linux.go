package run

import "syscall"

// endWithParent has the kernel end the command if this program is killed, which it cannot prevent.
func endWithParent(attr *syscall.SysProcAttr) { attr.Pdeathsig = syscall.SIGKILL }
