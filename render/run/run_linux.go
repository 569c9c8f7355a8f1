package run

import (
	"runtime"
	"syscall"
)

// withParent has the kernel send a signal to a program when the thread that started it ends.
// The caller keeps that thread until it calls release.
func withParent(attr *syscall.SysProcAttr, signal syscall.Signal) (release func()) {
	attr.Pdeathsig = signal
	runtime.LockOSThread()
	return runtime.UnlockOSThread
}
