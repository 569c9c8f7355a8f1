//go:build unix

package hook

import "syscall"

// detached puts a process into a session of its own: what the client does to
// its hooks' group does not reach it.
func detached() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setsid: true} }
