//go:build unix

package hook

import (
	"os"
	"syscall"
)

// Become replaces this process with another program, with the same pid, stdin and stdout. It
// returns only if that fails.
func Become(path string, args []string) (code int, ok bool) {
	_ = syscall.Exec(path, append([]string{path}, args...), os.Environ())
	return 0, false
}

// detached starts a process in a session of its own, out of reach of what the client does to
// its hooks' process group.
func detached() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setsid: true} }
