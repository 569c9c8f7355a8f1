//go:build unix

package hook

import (
	"os"
	"syscall"

	"golang.org/x/sys/unix"
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

const (
	// maxGiven is how much of stdin is read in advance, in bytes.
	maxGiven = 16 << 10
	// givenWait is how long to wait for it, in milliseconds: it is there when the client
	// starts a hook.
	givenWait = 200
)

// first returns what one read of stdin yields without waiting; nil if nothing is there.
func first(stdin *os.File) []byte {
	fd := int(stdin.Fd())
	ready := []unix.PollFd{{Fd: int32(fd), Events: unix.POLLIN}}
	if n, err := unix.Poll(ready, givenWait); err != nil || n == 0 {
		return nil
	}
	given := make([]byte, maxGiven)
	n, err := unix.Read(fd, given)
	if err != nil {
		return nil
	}
	return given[:n]
}
