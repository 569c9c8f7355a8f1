//go:build unix

package hook

import (
	"io/fs"
	"os"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// Become replaces this process with another program. It returns only if that fails.
func Become(path string, args []string) (code int, ok bool) {
	_ = syscall.Exec(path, append([]string{path}, args...), os.Environ())
	return 0, false
}

// detached starts a process in a session of its own: a client ends its hooks' process group.
func detached() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setsid: true} }

// Shared reports whether anyone but the user and root may write to a file.
func Shared(path string) bool {
	info, err := os.Stat(path)
	if err != nil {
		return false
	}
	owner, ok := info.Sys().(*syscall.Stat_t)
	others := fs.FileMode(0o022)
	if ok && owner.Gid == owner.Uid { // the user's own group, which umask 002 lets write
		others = 0o002
	}
	return ok && (int(owner.Uid) != os.Getuid() && owner.Uid != 0 || info.Mode().Perm()&others != 0)
}

func sleep(d time.Duration) {
	end := time.Now().Add(d)
	for left := d; left > 0; left = time.Until(end) { // signals interrupt it
		_, _ = unix.Poll(nil, int(left.Milliseconds())+1)
	}
}

const (
	// maxGiven is how much of stdin is read in advance, in bytes.
	maxGiven = 16 << 10
	// givenWait is how long to wait for it, in milliseconds. Clients write it first.
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
