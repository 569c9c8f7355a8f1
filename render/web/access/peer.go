package access

import (
	"errors"
	"net"
	"net/netip"
	"os"
	"slices"
	"strconv"
)

// Peer is who is at the other end of a loopback connection. The system knows this for each socket
// (Linux, macOS); nothing that the other end sends matters. Owner is a process of this user at the
// time of asking, but not who uses it: a proxy, a container's network helper or a tunnel of the
// user looks like the user. Root is Unknown, since the system's own proxies run as root, and what
// they forward may come from anywhere.
type Peer struct {
	Who Who
	// Name identifies the system's user: the number of the user id. It is empty if unknown.
	Name string
}

// Who is a user, seen from this process.
type Who uint8

// Unknown is a peer on another machine, root, a socket that is closed already, and any that
// the system does not know.
const (
	Unknown Who = iota
	Owner       // the user that this process runs as
	Another     // another user of this machine
)

// errNone is returned if there is no such socket, or no process holds it any more.
var errNone = errors.New("no process holds the other end")

// peerAt returns who is at the other end of c. On Linux the connection was still open after the
// look-up: otherwise another process could have had its port by then.
func peerAt(c net.Conn) Peer {
	if !isLocal(c) {
		return Peer{}
	}
	there, here, _ := addresses(c)
	s, err := owner(there, here)
	if err != nil || !open(c) {
		return Peer{}
	}
	who := Another
	switch int(s.uid) {
	case os.Geteuid():
		who = Owner
	case 0:
		who = Unknown
	}
	return Peer{who, strconv.FormatUint(uint64(s.uid), 10)}
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
