// Package peer finds out who is at the other end of a loopback connection: this user, or another one
// of the machine. The system knows this for each socket (Linux, macOS); nothing that the other end
// sends matters.
//
// It guarantees: Owner is a process of this very user, at the time of asking. On Linux the connection
// was still open after the look-up: otherwise another process could have had its port by then. It
// does not know who uses that process: a proxy, a container's network helper or a tunnel of the user
// looks like the user. Root is Unknown and not Owner: the system's own proxies run as root, and what
// they forward may come from anywhere.
package peer

import (
	"errors"
	"net"
	"net/netip"
	"os"
	"slices"
	"strconv"
)

// Peer describes the other end.
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

// Of returns who is at the other end of c. A unix socket counts as its owner's alone, because
// the server that creates one sets its mode.
func Of(c net.Conn) Peer {
	if onSocket(c) {
		return Peer{Who: Owner}
	}
	there, here, ok := addresses(c)
	if !ok || !Local(c) {
		return Peer{}
	}
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

// Local reports whether c comes from this machine, over loopback or a unix socket.
func Local(c net.Conn) bool {
	there, here, ok := addresses(c)
	return onSocket(c) || ok && there.Addr().IsLoopback() && here.Addr().IsLoopback()
}

// Processes returns the processes that hold the other end of c. If this user cannot see which
// one it is, they are all candidates, and sure is false. A connection from another machine, or
// a closed one, has none. own reports whether c comes from this machine, by whichever of its
// addresses.
func Processes(c net.Conn) (all []int, sure, own bool) {
	if onSocket(c) {
		return nil, false, true
	}
	there, here, ok := addresses(c)
	if !ok || !isOwn(there.Addr()) && there.Addr() != here.Addr() {
		return nil, false, false
	}
	all, sure = holders(there, here)
	return all, sure, true
}

// isOwn reports whether ip is an address of this machine.
func isOwn(ip netip.Addr) bool {
	all, _ := net.InterfaceAddrs() // an error counts as none
	return ip.IsLoopback() || slices.ContainsFunc(all, func(a net.Addr) bool {
		p, err := netip.ParsePrefix(a.String())
		return err == nil && p.Addr() == ip.WithZone("")
	})
}

func onSocket(c net.Conn) bool {
	_, unix := c.LocalAddr().(*net.UnixAddr)
	return unix
}

// addresses returns the two ends of a TCP connection.
func addresses(c net.Conn) (there, here netip.AddrPort, ok bool) {
	local, ok1 := c.LocalAddr().(*net.TCPAddr)
	remote, ok2 := c.RemoteAddr().(*net.TCPAddr)
	if !ok1 || !ok2 {
		return there, here, false
	}
	return unmapped(remote.AddrPort()), unmapped(local.AddrPort()), true
}

// unmapped returns a with an IPv4 address in IPv4 form.
func unmapped(a netip.AddrPort) netip.AddrPort {
	return netip.AddrPortFrom(a.Addr().Unmap(), a.Port())
}
