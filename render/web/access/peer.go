package access

import (
	"errors"
	"net"
	"net/netip"
	"os"
	"slices"
	"strconv"
)

// Peer is the user, by number, whose process is at the other end of a loopback connection. The system
// knows this for each socket (Linux, macOS); nothing that the other end sends matters. It is empty for a
// peer on another machine, for a socket that is closed already, and wherever the system does not know.
type Peer string

// owner is the user that this process runs as. Whoever uses a proxy, a container's network helper or a
// tunnel of theirs looks like them.
var owner = Peer(strconv.Itoa(os.Geteuid()))

// IsAnother reports whether p is another user of this machine. Root is not, since the system's own
// proxies run as root, and what they forward may come from anywhere.
func (p Peer) IsAnother() bool { return p != "" && p != owner && p != "0" }

// errNone is returned if there is no such socket, or no process holds it any more.
var errNone = errors.New("no process holds the other end")

// peerAt returns who is at the other end of c. On Linux the connection was still open after the
// look-up: otherwise another process could have had its port by then.
func peerAt(c net.Conn) Peer {
	if !isLocal(c) {
		return ""
	}
	there, here, _ := addresses(c)
	s, err := find(there, here)
	if err != nil || !open(c) {
		return ""
	}
	return Peer(strconv.FormatUint(uint64(s.uid), 10))
}

// isLocal reports whether c comes from this machine, over loopback.
func isLocal(c net.Conn) bool {
	there, here, ok := addresses(c)
	return ok && there.Addr().IsLoopback() && here.Addr().IsLoopback()
}

// processes returns the processes that hold the other end of c. If this user cannot see which
// one it is, they are all candidates, and sure is false. A connection from another machine, or
// a closed one, has none. own reports whether c comes from this machine, by whichever of its
// addresses; one whose ends are unknown counts as from here.
func processes(c net.Conn) (all []int, sure, own bool) {
	there, here, ok := addresses(c)
	own = !ok || there.Addr().IsLoopback() || there.Addr() == here.Addr() ||
		slices.Contains(ownAddrs(), there.Addr().WithZone(""))
	if ok && own {
		all, sure = holders(there, here)
	}
	return all, sure, own
}

// addresses returns the two ends of a TCP connection, IPv4 addresses in IPv4 form.
func addresses(c net.Conn) (there, here netip.AddrPort, ok bool) {
	if c == nil {
		return there, here, false
	}
	unmapped := func(a net.Addr) netip.AddrPort {
		tcp, is := a.(*net.TCPAddr)
		if !is {
			return netip.AddrPort{}
		}
		return netip.AddrPortFrom(tcp.AddrPort().Addr().Unmap(), uint16(tcp.Port))
	}
	there, here = unmapped(c.RemoteAddr()), unmapped(c.LocalAddr())
	return there, here, there.IsValid() && here.IsValid()
}
