//go:build unix

package address

import (
	"net"
	"os"
	"syscall"
)

// listenPrivate creates a socket that only this user can connect to, from its first moment on. It is
// called before anything else of the program creates files.
func listenPrivate(path string) (net.Listener, error) {
	old := syscall.Umask(0o177)
	l, err := net.Listen("unix", path)
	syscall.Umask(old)
	if err != nil {
		return nil, err
	}
	return l, os.Chmod(path, 0o600)
}
