package access

import (
	"context"
	"net"
	"net/http"
	"net/netip"
	"sync"

	"beckon/render/web/peer"
)

const (
	// maxConns is how many connections may be open at once, and maxPlace how many of one place:
	// another user of this machine, or another machine.
	maxConns = 2048
	maxPlace = 256
)

// listener looks up who is at the other end of each connection, since a closed socket has no
// owner, and closes those of which there are too many.
type listener struct {
	net.Listener
	mu   sync.Mutex
	all  int
	open map[string]int // by place
}

func newListener(l net.Listener) *listener { return &listener{Listener: l, open: map[string]int{}} }

// conn is a connection, with its other end.
type conn struct {
	net.Conn
	raw   net.Conn // below TLS
	peer  peer.Peer
	close func()
}

func (c *conn) Close() error {
	c.close()
	return c.Conn.Close()
}

func (l *listener) Accept() (net.Conn, error) {
	for {
		c, err := l.Listener.Accept()
		if err != nil {
			return nil, err
		}
		raw := c
		if t, ok := c.(interface{ NetConn() net.Conn }); ok { // TLS
			raw = t.NetConn()
		}
		who := peer.Of(raw)
		if place := placeOf(c, who); l.enter(place) {
			return &conn{c, raw, who, sync.OnceFunc(func() { l.leave(place) })}, nil
		}
		_ = c.Close()
	}
}

func (l *listener) enter(place string) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.all >= maxConns || place != "" && l.open[place] >= maxPlace {
		return false
	}
	l.all++
	l.open[place]++
	return true
}

func (l *listener) leave(place string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.all--
	if l.open[place]--; l.open[place] == 0 {
		delete(l.open, place)
	}
}

// placeOf returns where c comes from: a user of this machine, or an address; empty for the
// owner. Someone with one IPv6 address has 2^64.
func placeOf(c net.Conn, who peer.Peer) string {
	switch {
	case who.Who == peer.Owner:
		return ""
	case who.Name != "":
		return "user " + who.Name
	}
	addr, _ := netip.ParseAddrPort(c.RemoteAddr().String())
	ip := addr.Addr().Unmap().WithZone("")
	if ip.Is6() {
		prefix, _ := ip.Prefix(64)
		return prefix.String()
	}
	return "address " + ip.String()
}

type connKey struct{}

// Connect is an http.Server's ConnContext.
func Connect(ctx context.Context, c net.Conn) context.Context {
	return context.WithValue(ctx, connKey{}, c)
}

// connOf returns the connection of r, nil if it is not one of a Guard's.
func connOf(r *http.Request) *conn {
	c, _ := r.Context().Value(connKey{}).(*conn)
	return c
}

func peerOf(r *http.Request) peer.Peer {
	if c := connOf(r); c != nil {
		return c.peer
	}
	return peer.Peer{}
}
