package access

import (
	"context"
	"errors"
	"net"
	"net/http"
	"net/netip"
	"os"
	"slices"
	"strconv"
	"sync"
	"sync/atomic"
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

const (
	// maxConns is how many connections may be open at once, and maxOthers how many that are not the
	// owner's.
	maxConns  = 2048
	maxOthers = 256
)

// listener looks up who is at the other end of each connection, since a closed socket has no
// owner, and closes those of which there are too many.
type listener struct {
	net.Listener
	all, others atomic.Int32
}

// conn is a connection, with its other end.
type conn struct {
	net.Conn
	peer  Peer
	leave func()
}

func (c *conn) Close() error {
	c.leave()
	return c.Conn.Close()
}

func (l *listener) Accept() (net.Conn, error) {
	for {
		c, err := l.Listener.Accept()
		if err != nil {
			return nil, err
		}
		taken := &conn{Conn: c, peer: peerAt(c)}
		others := int32(1)
		if taken.peer == owner {
			others = 0
		}
		taken.leave = sync.OnceFunc(func() { l.all.Add(-1); l.others.Add(-others) })
		all, strangers := l.all.Add(1), l.others.Add(others)
		if all <= maxConns && (others == 0 || strangers <= maxOthers) {
			return taken, nil
		}
		_ = taken.Close()
	}
}

type connKey struct{}

// Connect is an http.Server's ConnContext.
func Connect(ctx context.Context, c net.Conn) context.Context {
	return context.WithValue(ctx, connKey{}, c)
}

// connOf returns the connection of r, an empty one if it is none of a Guard's.
func connOf(r *http.Request) *conn {
	if c, ok := r.Context().Value(connKey{}).(*conn); ok {
		return c
	}
	return &conn{}
}
