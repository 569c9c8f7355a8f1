//go:build unix

package hook

import (
	"os"
	"strconv"
	"syscall"

	"golang.org/x/sys/unix"
)

// become replaces this process by another program, with the same pid, stdin and stdout;
// it returns only when that cannot be done.
func become(path string, args []string) (code int, ok bool) {
	if path == "" {
		return 0, false
	}
	_ = syscall.Exec(path, append([]string{path}, args...), os.Environ())
	return 0, false
}

// detached puts a process into a session of its own: what the client does to
// its hooks' group does not reach it.
func detached() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setsid: true} }

const (
	// maxGiven is how much of stdin is read to look at: as much as any pipe holds.
	maxGiven = 16 << 10
	// givenWait is how long it may take to come, in milliseconds: it is there
	// when the client starts a hook.
	givenWait = 200
)

// first is what one read of stdin gives, without waiting; nil when nothing is there.
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

// hand gives what was read to the program that this one becomes.
func hand(given []byte, args []string) []string {
	var ends [2]int
	if len(given) == 0 || syscall.Pipe(ends[:]) != nil {
		return args
	}
	_, _ = syscall.Write(ends[1], given) // it fits; what reads less finds no JSON, and refuses
	_ = syscall.Close(ends[1])
	return append(args[:len(args):len(args)], "--given", strconv.Itoa(ends[0]))
}
