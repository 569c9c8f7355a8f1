//go:build unix

package notify

import "syscall"

// toTerminal opens a terminal for writing, without making it this process's own.
const toTerminal = syscall.O_NOCTTY | syscall.O_NONBLOCK
