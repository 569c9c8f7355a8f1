//go:build unix && !linux

package handler

import "syscall"

// attributes make a session of its own.
func attributes() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setsid: true} }
