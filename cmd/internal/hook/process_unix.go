//go:build unix

package hook

import (
	"os"
	"strconv"
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

// hand passes what was read on to the program that this one becomes. It is a socket, since a
// user with many pipes open gets pipes that hold less than maxGiven, and writing to one would
// wait for a reader that is yet to start.
func hand(given []byte, args []string) []string {
	if len(given) == 0 {
		return args
	}
	ends, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_STREAM, 0)
	if err != nil {
		return args
	}
	_ = unix.SetsockoptInt(ends[1], unix.SOL_SOCKET, unix.SO_SNDBUF, 8*maxGiven) // macOS: 8 KiB unless asked
	// Should less fit after all, it is no valid JSON and refused.
	_, _ = unix.SendmsgN(ends[1], given, nil, nil, unix.MSG_DONTWAIT)
	_ = unix.Close(ends[1])
	return append(args[:len(args):len(args)], "--given", strconv.Itoa(ends[0]))
}
