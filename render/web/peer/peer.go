// Package peer finds out who is at the other end of a loopback connection: this user, or
// another one of the machine. The system knows this for each socket; nothing that the other
// end sends matters.
//
// It guarantees: Owner is a process of this very user, at the time of asking. On Linux the
// connection was still open after the look-up: otherwise another process could have had its port
// by then. It does not know who uses that process: a proxy, a container's network helper or a
// tunnel of the user looks like the user. Root is Unknown and not Owner, although it could read everything anyway: the
// system's own proxies run as root, and what they forward may come from anywhere.
package peer

import (
	"errors"
	"net"
	"net/netip"
	"slices"
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
	if _, ok := c.LocalAddr().(*net.UnixAddr); ok {
		return Peer{Who: Owner}
	}
	there, here, ok := ends(c)
	if !ok {
		return Peer{}
	}
	p := holder(there, here)
	if !open(c) {
		return Peer{}
	}
	return p
}

// Local reports whether c comes from this machine, over loopback or a unix
// socket.
func Local(c net.Conn) bool {
	if _, ok := c.LocalAddr().(*net.UnixAddr); ok {
		return true
	}
	_, _, ok := ends(c)
	return ok
}

// Processes returns the processes that hold the other end of c. If this user cannot see which
// one it is, they are all candidates, and sure is false. A connection from another machine, or
// a closed one, has none. own reports whether c comes from this machine, by whichever of its
// addresses.
func Processes(c net.Conn) (all []int, sure, own bool) {
	if _, ok := c.LocalAddr().(*net.UnixAddr); ok {
		return nil, false, true
	}
	there, here, ok := addresses(c)
	if !ok || !isOwn(there.Addr().Unmap()) && there.Addr() != here.Addr() {
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

// ends returns the two ends of a connection over loopback.
func ends(c net.Conn) (there, here netip.AddrPort, ok bool) {
	there, here, ok = addresses(c)
	return there, here, ok && there.Addr().Unmap().IsLoopback() && here.Addr().Unmap().IsLoopback()
}

func addresses(c net.Conn) (there, here netip.AddrPort, ok bool) {
	local, ok1 := c.LocalAddr().(*net.TCPAddr)
	remote, ok2 := c.RemoteAddr().(*net.TCPAddr)
	if !ok1 || !ok2 {
		return there, here, false
	}
	return remote.AddrPort(), local.AddrPort(), true
}

// unmapped returns a with an IPv4 address in IPv4 form.
func unmapped(a netip.AddrPort) netip.AddrPort {
	return netip.AddrPortFrom(a.Addr().Unmap(), a.Port())
}
