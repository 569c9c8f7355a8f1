package peer

import (
	"encoding/binary"
	"net/netip"
	"unsafe"

	"golang.org/x/sys/windows"
)

var getExtendedTCPTable = windows.NewLazySystemDLL("iphlpapi.dll").NewProc("GetExtendedTcpTable")

// holder looks up the process at the other end, and its owner. A process id can be reused when
// its process ends, but not while a handle to it is open, so the table is read a second time
// then.
func holder(there, here netip.AddrPort) Peer {
	there, here = unmapped(there), unmapped(here)
	pid, err := processOf(there, here)
	if err != nil {
		return Peer{}
	}
	process, err := windows.OpenProcess(windows.PROCESS_QUERY_LIMITED_INFORMATION, false, pid)
	if err != nil {
		return Peer{} // a service's, or one that has ended
	}
	defer windows.CloseHandle(process)
	user, err := userOf(process)
	if err != nil {
		return Peer{}
	}
	mine, err := userOf(windows.CurrentProcess())
	if err != nil {
		return Peer{}
	}
	if again, err := processOf(there, here); err != nil || again != pid {
		return Peer{}
	}
	who := Another
	switch system, err := windows.CreateWellKnownSid(windows.WinLocalSystemSid); {
	case user.Equals(mine):
		who = Owner
	case err == nil && user.Equals(system):
		who = Unknown
	}
	return Peer{who, user.String()}
}

func holders(there, here netip.AddrPort) ([]int, bool) {
	pid, err := processOf(unmapped(there), unmapped(here))
	if err != nil {
		return nil, false
	}
	return []int{int(pid)}, true
}

func userOf(process windows.Handle) (*windows.SID, error) {
	var token windows.Token
	if err := windows.OpenProcessToken(process, windows.TOKEN_QUERY, &token); err != nil {
		return nil, err
	}
	defer token.Close()
	user, err := token.GetTokenUser()
	if err != nil {
		return nil, err
	}
	return user.User.Sid.Copy()
}

// The rows of the system's table (MIB_TCPROW_OWNER_PID, MIB_TCP6ROW_OWNER_PID): the offsets of
// the two addresses, the ports and the process. Ports are in network byte order.
type layout struct {
	family                                              uintptr
	local, localPort, remote, remotePort, process, size int
}

var (
	layout4 = layout{windows.AF_INET, 4, 8, 12, 16, 20, 24}
	layout6 = layout{windows.AF_INET6, 0, 20, 24, 44, 52, 56}
)

const ownerPIDConnections = 4 // TCP_TABLE_OWNER_PID_CONNECTIONS

// processOf returns the process of the socket from local to remote.
func processOf(local, remote netip.AddrPort) (uint32, error) {
	l := layout4
	if local.Addr().Is6() {
		l = layout6
	}
	table, err := l.read()
	if err != nil {
		return 0, err
	}
	rows := int(binary.LittleEndian.Uint32(table))
	for row := table[4:]; rows > 0 && len(row) >= l.size; rows, row = rows-1, row[l.size:] {
		if l.addr(row, l.local, l.localPort) != local || l.addr(row, l.remote, l.remotePort) != remote {
			continue
		}
		if pid := binary.LittleEndian.Uint32(row[l.process:]); pid != 0 {
			return pid, nil
		}
	}
	return 0, errNone
}

func (l layout) addr(row []byte, addr, port int) netip.AddrPort {
	n := binary.BigEndian.Uint16(row[port:])
	if l.family == windows.AF_INET {
		return netip.AddrPortFrom(netip.AddrFrom4([4]byte(row[addr:addr+4])), n)
	}
	return netip.AddrPortFrom(netip.AddrFrom16([16]byte(row[addr:addr+16])), n)
}

// read returns the table, which may grow between two calls.
func (l layout) read() ([]byte, error) {
	if err := getExtendedTCPTable.Find(); err != nil {
		return nil, err
	}
	for size := uint32(16 << 10); ; {
		table := make([]byte, size)
		code, _, _ := getExtendedTCPTable.Call(uintptr(unsafe.Pointer(&table[0])), uintptr(unsafe.Pointer(&size)),
			0, l.family, ownerPIDConnections, 0)
		switch windows.Errno(code) {
		case windows.NO_ERROR:
			return table, nil
		case windows.ERROR_INSUFFICIENT_BUFFER:
		default:
			return nil, windows.Errno(code)
		}
	}
}
