//go:build unix && !linux

package run

import "syscall"

func withParent(*syscall.SysProcAttr, syscall.Signal) {}
