package access

import (
	"encoding/binary"
	"errors"
	"io/fs"
	"net"
	"net/netip"
	"os"
	"path/filepath"
	"strconv"
	"syscall"

	"golang.org/x/sys/unix"
)

// socket is what the kernel knows about one: its owner and its inode number.
type socket struct{ uid, inode uint32 }

// The states of a TCP socket whose other end has not given up its port (linux/tcp_states.h).
const (
	tcpEstablished = 1
	tcpCloseWait   = 8
)

// open reports whether the other end of c still has its port. After a reset another process,
// of another user, may have connected from the same one.
func open(c net.Conn) (is bool) {
	sc, ok := c.(syscall.Conn)
	if !ok {
		return false
	}
	raw, err := sc.SyscallConn()
	if err != nil {
		return false
	}
	_ = raw.Control(func(fd uintptr) { // closed: it is not called
		info, err := unix.GetsockoptTCPInfo(int(fd), unix.IPPROTO_TCP, unix.TCP_INFO)
		is = err == nil && (info.State == tcpEstablished || info.State == tcpCloseWait)
	})
	return is
}

// holders looks for the socket among the open files of all processes.
func holders(there, here netip.AddrPort) (all []int, sure bool) {
	s, err := owner(there, here)
	if err != nil {
		return nil, false
	}
	file := "socket:[" + strconv.FormatUint(uint64(s.inode), 10) + "]"
	dirs, _ := filepath.Glob("/proc/[0-9]*")
	var closed []int
	for _, dir := range dirs {
		pid, _ := strconv.Atoi(filepath.Base(dir))
		switch has, err := opened(filepath.Join(dir, "fd"), file); {
		case has:
			all = append(all, pid)
		case errors.Is(err, fs.ErrPermission):
			closed = append(closed, pid)
		}
	}
	if again, err := owner(there, here); err != nil || again != s {
		return nil, false // it was closed meanwhile
	}
	if len(all) == 0 {
		return closed, false // one of those has it: sshd, for one, hides its files
	}
	return all, true
}

func opened(dir, file string) (bool, error) {
	files, err := os.ReadDir(dir)
	for _, f := range files {
		to, e := os.Readlink(filepath.Join(dir, f.Name()))
		if to == file {
			return true, nil
		}
		if errors.Is(e, fs.ErrPermission) {
			err = e
		}
	}
	return false, err
}

// From the kernel's linux/inet_diag.h: a request is a netlink header, the family and protocol,
// and the socket's id; an answer has the id and the owner.
const (
	netlinkHeader = 16
	requestSize   = netlinkHeader + 56
	answerSize    = netlinkHeader + 72
	userAt        = netlinkHeader + 64
	inodeAt       = netlinkHeader + 68
)

// owner asks the kernel for the socket that is bound to there and connected to here.
func owner(there, here netip.AddrPort) (s socket, err error) {
	fd, err := unix.Socket(unix.AF_NETLINK, unix.SOCK_RAW|unix.SOCK_CLOEXEC, unix.NETLINK_SOCK_DIAG)
	if err != nil {
		return s, err
	}
	defer unix.Close(fd)
	_ = unix.SetsockoptTimeval(fd, unix.SOL_SOCKET, unix.SO_RCVTIMEO, &unix.Timeval{Sec: 1})
	if err := unix.Sendto(fd, diagRequest(there, here), 0, &unix.SockaddrNetlink{Family: unix.AF_NETLINK}); err != nil {
		return s, err
	}
	answer := make([]byte, 4096)
	n, _, err := unix.Recvfrom(fd, answer, 0)
	if err != nil {
		return s, err
	}
	s.uid, s.inode = binary.NativeEndian.Uint32(answer[userAt:]), binary.NativeEndian.Uint32(answer[inodeAt:])
	if binary.NativeEndian.Uint16(answer[4:]) == unix.NLMSG_ERROR || n < answerSize || s.inode == 0 {
		return socket{}, errNone // closed: the kernel then reports root
	}
	return s, nil
}

func diagRequest(there, here netip.AddrPort) []byte {
	b := make([]byte, 0, requestSize)
	b = binary.NativeEndian.AppendUint32(b, requestSize)
	b = binary.NativeEndian.AppendUint16(b, unix.SOCK_DIAG_BY_FAMILY)
	b = binary.NativeEndian.AppendUint16(b, unix.NLM_F_REQUEST)
	b = append(b, make([]byte, 8)...) // our sequence number and port: there is only one request
	family := byte(unix.AF_INET)
	if there.Addr().Is6() {
		family = unix.AF_INET6
	}
	b = append(b, family, unix.IPPROTO_TCP, 0, 0)
	b = binary.NativeEndian.AppendUint32(b, 0xffffffff) // in any state
	b = binary.BigEndian.AppendUint16(b, there.Port())
	b = binary.BigEndian.AppendUint16(b, here.Port())
	for _, a := range []netip.AddrPort{there, here} {
		var field [16]byte
		copy(field[:], a.Addr().AsSlice())
		b = append(b, field[:]...)
	}
	b = append(b, 0, 0, 0, 0)                                        // on any interface
	return append(b, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff) // whatever its cookie
}
