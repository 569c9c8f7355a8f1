//go:build unix

package address

import (
	"net"
	"os"
	"sync"
	"syscall"
)

// umask protects the process's umask.
var umask sync.Mutex

// listenPrivate creates a socket that only this user can connect to, from its first moment on.
func listenPrivate(path string) (net.Listener, error) {
	umask.Lock()
	old := syscall.Umask(0o177)
	l, err := net.Listen("unix", path)
	syscall.Umask(old)
	umask.Unlock()
	if err != nil {
		return nil, err
	}
	return l, os.Chmod(path, 0o600)
}
