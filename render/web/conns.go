package web

import (
	"container/list"
	"context"
	"net"
	"net/http"
	"sync"

	"beckon/render/web/access"
)

// maxConns is how many connections may be open at once in addition to the event streams, of
// which there may be maxClients.
const maxConns = 1024

// conns are the open connections. If there are too many, each new one replaces another: the
// one that has been without a request for longest, else the one whose response has taken
// longest. So a flood of them, idle or slow, closes itself, and a prompt client is served.
type conns struct {
	mu      sync.Mutex
	all     map[net.Conn]*conn
	waiting list.List // of *conn without a request, the oldest first
	serving list.List // the others, except event streams
	drop    func(net.Conn)
}

// conn is an open connection, and its list: nil for a stream, or while it is being closed.
type conn struct {
	net.Conn
	in *list.List
	at *list.Element
}

type connKey struct{}

// context stores the peer of c, and its list entry.
func (k *conns) context(ctx context.Context, c net.Conn) context.Context {
	return context.WithValue(access.Connect(ctx, c), connKey{}, k.opened(c))
}

// opened adds c, and closes another one if there are too many.
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

// relist moves the connection of r from one list to another; one in neither is a stream, or
// being closed.
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

// count keeps a connection's list up to date while next responds.
func (k *conns) count(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		k.relist(r, &k.waiting, &k.serving)
		defer k.relist(r, &k.serving, &k.waiting)
		next.ServeHTTP(w, r)
	})
}

// stream removes the connection of r from the count: it is an event stream, and ends with it.
func (k *conns) stream(r *http.Request) { k.relist(r, &k.serving, nil) }
