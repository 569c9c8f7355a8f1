//go:build unix

package main

import (
	"os"
	"syscall"

	"beckon/render/jump"
)

// become replaces this process with another program in the same terminal. It returns only if
// that fails.
func become(c jump.Command) error { return syscall.Exec(c.Argv[0], c.Argv, os.Environ()) }
