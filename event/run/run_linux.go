package run

import "syscall"

func init() {
	withParent = func(attr *syscall.SysProcAttr, s syscall.Signal) { attr.Pdeathsig = s }
}
