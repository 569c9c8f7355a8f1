package peer

import (
	"net"
	"syscall"

	"golang.org/x/sys/unix"
)

// The states of a TCP socket whose other end has not given up its port (linux/tcp_states.h).
const (
	tcpEstablished = 1
	tcpCloseWait   = 8
)

// open reports whether the other end of c still has its port. After a reset another process,
// of another user, may have connected from the same one.
func open(c net.Conn) bool {
	sc, ok := c.(syscall.Conn)
	if !ok {
		return false
	}
	raw, err := sc.SyscallConn()
	if err != nil {
		return false
	}
	var info *unix.TCPInfo
	failed := raw.Control(func(fd uintptr) {
		info, err = unix.GetsockoptTCPInfo(int(fd), unix.IPPROTO_TCP, unix.TCP_INFO)
	})
	if failed != nil || err != nil {
		return false
	}
	return info.State == tcpEstablished || info.State == tcpCloseWait
}
