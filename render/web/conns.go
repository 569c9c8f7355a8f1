package web

import (
	"container/list"
	"context"
	"net"
	"net/http"
	"sync"
)

// maxConns is how many connections are open at once beside the event streams,
// of which there may be maxClients.
const maxConns = 1024

// conns are the open connections. When there are too many, one is closed for
// each that comes: the one on which nothing was asked for longest, else the one
// whose answer has taken longest. So a flood of them, idle or slow, closes
// itself, and whoever asks at once is heard.
type conns struct {
	mu      sync.Mutex
	all     map[net.Conn]*conn
	waiting list.List // of *conn that nothing is answered on, the oldest first
	serving list.List // the others, but for event streams
	drop    func(net.Conn)
}

// conn is an open connection, and where it is listed: nowhere when it is a
// stream, or is being closed.
type conn struct {
	net.Conn
	in *list.List
	at *list.Element
}

type connKey struct{}

// context notes the peer of c, and where c is counted.
func (k *conns) context(ctx context.Context, c net.Conn) context.Context {
	return context.WithValue(withPeer(ctx, c), connKey{}, k.opened(c))
}

// opened counts c in, and closes another one when there are too many.
func (k *conns) opened(c net.Conn) *conn {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.waiting.Len()+k.serving.Len() >= maxConns {
		oldest := k.waiting.Front()
		if oldest == nil {
			oldest = k.serving.Front()
		}
		victim := oldest.Value.(*conn)
		victim.move(nil)
		k.drop(victim.Conn)
	}
	o := &conn{Conn: c}
	k.all[c] = o
	o.move(&k.waiting)
	return o
}

// move lists o as the newest of a list, or nowhere.
func (o *conn) move(to *list.List) {
	if o.in != nil {
		o.in.Remove(o.at)
	}
	if o.in = to; to != nil {
		o.at = to.PushBack(o)
	}
}

// changed is http.Server's ConnState.
func (k *conns) changed(c net.Conn, state http.ConnState) {
	if state != http.StateClosed && state != http.StateHijacked {
		return
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	if o := k.all[c]; o != nil {
		o.move(nil)
		delete(k.all, c)
	}
}

// relist moves the connection of r from one list to another; one that is in
// neither is a stream, or being closed.
func (k *conns) relist(r *http.Request, from, to *list.List) {
	o, _ := r.Context().Value(connKey{}).(*conn)
	if o == nil {
		return
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	if o.in == from {
		o.move(to)
	}
}

// count tells where a connection stands while next answers.
func (k *conns) count(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		k.relist(r, &k.waiting, &k.serving)
		defer k.relist(r, &k.serving, &k.waiting)
		next.ServeHTTP(w, r)
	})
}

// stream takes the connection of r out of the count: it is an event stream, and
// ends with it.
func (k *conns) stream(r *http.Request) { k.relist(r, &k.serving, nil) }
