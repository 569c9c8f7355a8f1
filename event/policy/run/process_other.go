//go:build unix && !linux

package run

import "syscall"

// attributes make a session of its own.
func attributes() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setsid: true} }
