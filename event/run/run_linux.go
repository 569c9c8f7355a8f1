package run

import "syscall"

// withParent has the kernel send a signal to a program when this one ends, even by SIGKILL.
func withParent(attr *syscall.SysProcAttr, s syscall.Signal) { attr.Pdeathsig = s }
