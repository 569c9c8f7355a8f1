//go:build unix

package main

import (
	"os"
	"syscall"
)

// minorFaults returns the minor page faults of a process that has ended.
func minorFaults(st *os.ProcessState) int64 {
	if ru, ok := st.SysUsage().(*syscall.Rusage); ok {
		return ru.Minflt
	}
	return 0
}
