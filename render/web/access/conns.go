package access

import (
	"context"
	"net"
	"net/http"
	"sync"
	"sync/atomic"
)

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
		if all, strangers := l.all.Add(1), l.others.Add(others); all <= maxConns && (others == 0 || strangers <= maxOthers) {
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
