package access

import (
	"encoding/binary"
	"net"
	"net/netip"

	"golang.org/x/sys/unix"
)

// socket is a row of the table: the owner and the process, 0 if unknown.
type socket struct {
	uid uint32
	pid int
}

// open reports whether the other end still has its port, which only Linux tells.
func open(net.Conn) bool { return true }

// find looks up the socket from there to here in the table that netstat prints.
func find(there, here netip.AddrPort) (s socket, err error) {
	table, err := unix.SysctlRaw("net.inet.tcp.pcblist_n")
	if err != nil {
		return s, err
	}
	return findIn(table, there, here)
}

// holders returns the process that used the socket last.
func holders(there, here netip.AddrPort) ([]int, bool) {
	s, err := find(there, here)
	if err != nil || s.pid <= 0 {
		return nil, false
	}
	return []int{s.pid}, true
}

// The table consists of records, each preceded by its length and kind and padded to eight
// bytes: for each connection first its addresses (xinpcb_n), then its socket (xsocket_n). An
// IPv4 address is at the end of its field.
const (
	kindAddresses = 0x010
	kindSocket    = 0x001

	remotePortAt, localPortAt = 16, 18
	familyAt                  = 44 // 1: IPv4, 2: IPv6
	remoteAddrAt, localAddrAt = 48, 64
	addressesSize             = 80

	userAt      = 64
	processAt   = userAt + 4
	socketSize  = userAt + 4
	processSize = processAt + 4
)

func findIn(table []byte, there, here netip.AddrPort) (s socket, err error) {
	for found := false; len(table) >= 8; {
		size, kind := int(binary.NativeEndian.Uint32(table)), binary.NativeEndian.Uint32(table[4:])
		step := (size + 7) &^ 7
		if size < 8 || step > len(table) {
			break
		}
		switch record := table[:size]; {
		case kind == kindAddresses:
			found = len(record) >= addressesSize && connects(record, there, here)
		case kind == kindSocket && found && len(record) >= socketSize:
			s.uid = binary.NativeEndian.Uint32(record[userAt:])
			if len(record) >= processSize {
				s.pid = int(int32(binary.NativeEndian.Uint32(record[processAt:])))
			}
			return s, nil
		}
		table = table[step:]
	}
	return s, errNone
}

// connects reports whether the addresses of a record are those of a socket from
// local to remote.
func connects(record []byte, local, remote netip.AddrPort) bool {
	return binary.BigEndian.Uint16(record[localPortAt:]) == local.Port() &&
		binary.BigEndian.Uint16(record[remotePortAt:]) == remote.Port() &&
		addressAt(record, localAddrAt) == local.Addr() && addressAt(record, remoteAddrAt) == remote.Addr()
}

func addressAt(record []byte, at int) netip.Addr {
	field := [16]byte(record[at : at+16])
	if record[familyAt]&1 != 0 {
		return netip.AddrFrom4([4]byte(field[12:]))
	}
	return netip.AddrFrom16(field).Unmap()
}
