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
	s, err := find(there, here)
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
	if again, err := find(there, here); err != nil || again != s {
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

// diagRequest asks for one socket, and diagAnswer describes it (linux/inet_diag.h). Blank members of a
// request are 0: there is only one, on any interface.
type (
	netlinkHeader struct {
		Length      uint32
		Kind, Flags uint16
		_           [8]byte
	}
	diagRequest struct {
		netlinkHeader
		Family, Protocol uint8
		_                [2]byte
		States           uint32
		Ports            [4]byte
		There, Here      [16]byte
		_                [4]byte
		Cookie           uint64
	}
	diagAnswer struct {
		netlinkHeader
		_          [64]byte
		UID, Inode uint32
	}
)

// find asks the kernel for the socket that is bound to there and connected to here.
func find(there, here netip.AddrPort) (s socket, err error) {
	fd, err := unix.Socket(unix.AF_NETLINK, unix.SOCK_RAW|unix.SOCK_CLOEXEC, unix.NETLINK_SOCK_DIAG)
	if err != nil {
		return s, err
	}
	defer unix.Close(fd)
	_ = unix.SetsockoptTimeval(fd, unix.SOL_SOCKET, unix.SO_RCVTIMEO, &unix.Timeval{Sec: 1})
	r := diagRequest{Family: unix.AF_INET, Protocol: unix.IPPROTO_TCP, States: 0xffffffff, Cookie: 1<<64 - 1}
	r.netlinkHeader = netlinkHeader{uint32(binary.Size(r)), unix.SOCK_DIAG_BY_FAMILY, unix.NLM_F_REQUEST, [8]byte{}}
	if there.Addr().Is6() {
		r.Family = unix.AF_INET6
	}
	binary.BigEndian.PutUint16(r.Ports[:], there.Port())
	binary.BigEndian.PutUint16(r.Ports[2:], here.Port())
	copy(r.There[:], there.Addr().AsSlice())
	copy(r.Here[:], here.Addr().AsSlice())
	b, _ := binary.Append(nil, binary.NativeEndian, r) // it has a fixed size
	if err := unix.Sendto(fd, b, 0, &unix.SockaddrNetlink{Family: unix.AF_NETLINK}); err != nil {
		return s, err
	}
	b = make([]byte, 4096)
	n, _, err := unix.Recvfrom(fd, b, 0)
	if err != nil {
		return s, err
	}
	var a diagAnswer
	if _, err := binary.Decode(b[:n], binary.NativeEndian, &a); err != nil || a.Kind == unix.NLMSG_ERROR || a.Inode == 0 {
		return s, errNone // closed: the kernel then reports root
	}
	return socket{a.UID, a.Inode}, nil
}
