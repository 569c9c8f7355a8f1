//go:build unix && !linux

package run

import "syscall"

// attributes start the process in its own session.
func attributes() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setsid: true} }
