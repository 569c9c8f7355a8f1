//go:build unix && !linux

package run

import "syscall"

func endWithParent(*syscall.SysProcAttr) {}
