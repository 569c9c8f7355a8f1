package peer

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io/fs"
	"net/netip"
	"os"
	"slices"
	"strconv"

	"golang.org/x/sys/unix"
)

// socket is what the kernel knows about one: its owner and its inode number.
type socket struct {
	uid   uint32
	inode uint64
}

// ask asks the kernel for the socket from there to here. The table of all sockets contains the
// same but takes longer; some sandboxes offer only that.
func ask(there, here netip.AddrPort) (socket, error) {
	s, err := diagnose(unmapped(there), unmapped(here))
	if err != nil && !errors.Is(err, errNone) {
		s, err = find(there, here)
	}
	return s, err
}

// holders looks for the socket among the open files of all processes.
func holders(there, here netip.AddrPort) (all []int, sure bool) {
	s, err := ask(there, here)
	if err != nil {
		return nil, false
	}
	all, closed := having("socket:[" + strconv.FormatUint(s.inode, 10) + "]")
	if again, err := ask(there, here); err != nil || again != s {
		return nil, false // it was closed meanwhile
	}
	if len(all) == 0 {
		return closed, false // one of those has it: sshd, for one, hides its files
	}
	return all, true
}

// having returns the processes that have file open, and those whose files this user may not
// see.
func having(file string) (all, closed []int) {
	proc, err := os.Open("/proc")
	if err != nil {
		return nil, nil
	}
	defer proc.Close()
	names, _ := proc.Readdirnames(-1) // those that it gave
	for _, name := range names {
		pid, err := strconv.Atoi(name)
		if err != nil {
			continue
		}
		switch has, err := opened("/proc/"+name+"/fd", file); {
		case has:
			all = append(all, pid)
		case errors.Is(err, fs.ErrPermission):
			closed = append(closed, pid)
		}
	}
	return all, closed
}

func opened(dir, file string) (bool, error) {
	d, err := os.Open(dir)
	if err != nil {
		return false, err
	}
	defer d.Close()
	names, err := d.Readdirnames(-1)
	for _, name := range names {
		to, e := os.Readlink(dir + "/" + name)
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

// diagnose returns the socket that is bound to there and connected to here.
func diagnose(there, here netip.AddrPort) (s socket, err error) {
	fd, err := unix.Socket(unix.AF_NETLINK, unix.SOCK_RAW|unix.SOCK_CLOEXEC, unix.NETLINK_SOCK_DIAG)
	if err != nil {
		return s, err
	}
	defer unix.Close(fd)
	_ = unix.SetsockoptTimeval(fd, unix.SOL_SOCKET, unix.SO_RCVTIMEO, &unix.Timeval{Sec: 1})
	if err := unix.Sendto(fd, request(there, here), 0, &unix.SockaddrNetlink{Family: unix.AF_NETLINK}); err != nil {
		return s, err
	}
	answer := make([]byte, 4096)
	n, _, err := unix.Recvfrom(fd, answer, 0)
	switch {
	case err != nil:
		return s, err
	case n < netlinkHeader+4:
		return s, errNone
	case binary.NativeEndian.Uint16(answer[4:]) == unix.NLMSG_ERROR:
		if e := unix.Errno(-int32(binary.NativeEndian.Uint32(answer[netlinkHeader:]))); e != unix.ENOENT {
			return s, e
		}
		return s, errNone
	case n < answerSize || binary.NativeEndian.Uint32(answer[inodeAt:]) == 0:
		return s, errNone // closed: the kernel then reports root
	}
	return socket{binary.NativeEndian.Uint32(answer[userAt:]), uint64(binary.NativeEndian.Uint32(answer[inodeAt:]))}, nil
}

func request(there, here netip.AddrPort) []byte {
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

// find looks up the socket in the tables of /proc. An IPv6 client may talk to an IPv4 address.
func find(there, here netip.AddrPort) (s socket, err error) {
	for _, table := range []struct {
		path string
		wide bool
	}{{"/proc/net/tcp", false}, {"/proc/net/tcp6", true}} {
		if !table.wide && !there.Addr().Unmap().Is4() {
			continue
		}
		if s, err = findIn(table.path, tableAddr(there, table.wide)+" "+tableAddr(here, table.wide)); err == nil {
			return s, nil
		}
	}
	return s, err
}

func findIn(path, sockets string) (s socket, err error) {
	f, err := os.Open(path)
	if err != nil {
		return s, err
	}
	defer f.Close()
	for lines := bufio.NewScanner(f); lines.Scan(); {
		if !bytes.Contains(lines.Bytes(), []byte(sockets)) {
			continue
		}
		// sl local remote st queues timer retransmits uid timeout inode
		fields := bytes.Fields(lines.Bytes())
		if len(fields) < 10 || string(fields[9]) == "0" {
			continue
		}
		uid, err := strconv.ParseUint(string(fields[7]), 10, 32)
		if err != nil {
			return s, err
		}
		inode, err := strconv.ParseUint(string(fields[9]), 10, 64)
		return socket{uint32(uid), inode}, err
	}
	return s, errNone
}

// tableAddr returns an address in the tables' format: words of four bytes, each in the
// machine's own order, and the port.
func tableAddr(a netip.AddrPort, wide bool) string {
	addr := a.Addr().Unmap().AsSlice()
	if wide {
		b := a.Addr().As16()
		addr = b[:]
	}
	var words []byte
	for word := range slices.Chunk(addr, 4) {
		words = binary.BigEndian.AppendUint32(words, binary.NativeEndian.Uint32(word))
	}
	return fmt.Sprintf("%X:%04X", words, a.Port())
}
