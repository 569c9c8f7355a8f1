package access

import (
	"context"
	"net"
	"net/http"
	"net/netip"
	"sync"
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
		who := peerAt(c)
		place := placeOf(c, who)
		if l.count(place, 1) {
			return &conn{c, who, sync.OnceFunc(func() { l.count(place, -1) })}, nil
		}
		_ = c.Close()
	}
}

// count counts a connection that comes (1) or goes (-1), and reports whether there is room for it.
func (l *listener) count(place string, n int) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if n > 0 && (l.all >= maxConns || place != "" && l.open[place] >= maxPlace) {
		return false
	}
	l.all += n
	if l.open[place] += n; l.open[place] == 0 {
		delete(l.open, place)
	}
	return true
}

// placeOf returns where c comes from: a user of this machine, or an address; empty for the
// owner. Someone with one IPv6 address has 2^64.
func placeOf(c net.Conn, who Peer) string {
	switch {
	case who.Who == Owner:
		return ""
	case who.Name != "":
		return "user " + who.Name
	}
	there, _, _ := addresses(c)
	ip := there.Addr().WithZone("")
	if ip.Is6() {
		ip = netip.PrefixFrom(ip, 64).Masked().Addr()
	}
	return "address " + ip.String()
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
