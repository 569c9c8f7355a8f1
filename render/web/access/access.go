// Package access is who may use a server, and who may answer an agent through it:
//
//   - Anyone who sends the token or a browser's session, from anywhere.
//   - A program of the owner that connects over loopback directly: the system
//     reports whose process is at the other end. So a hook needs no token.
//   - Others get only /healthz. Another user of the machine is told so (403); an
//     unknown caller may still sign in (401), and gets the page, which contains
//     only how to do that.
//
// A browser is a program of the owner, too, but any site may be behind its requests. Host,
// Origin and Sec-Fetch-Site exclude the sites that a browser names; a session excludes the
// rest. It is sent in a header and stored for the page's origin: cookies would go to every
// port of a host, whoever listens there.
//
// A request through a proxy comes from wherever that listens. If the proxy identifies itself
// the request does not count as the owner's. If it does not (ssh -L, a container's network
// helper, which both run as the user who started them) that is the owner's own doing, and it
// counts as the owner, whose files it could use as well. Another network namespace has
// addresses other than loopback, so a container on a bridge needs the token.
package access

import (
	"net"
	"net/http"
	"sync/atomic"
)

// Options say what opens a Door.
type Options struct {
	Token   string            // of the owner, empty for none
	Hosts   []string          // names of the server besides those of this machine
	Refused func(code string) // is called for each request that is refused
}

// Door decides who may use a server.
type Door struct {
	o      Options
	keys   *keys
	cop    *http.CrossOriginProtection
	name   string      // a name that only this server has (Entrance)
	beyond atomic.Bool // it is reached from other machines
}

// New returns the door of a server.
func New(o Options) *Door {
	return &Door{o: o, keys: newKeys(o.Token), cop: http.NewCrossOriginProtection(), name: newName()}
}

// Opens says where the server listens: beyond loopback it has this machine's names.
func (d *Door) Opens(l net.Listener) {
	if addr, ok := l.Addr().(*net.TCPAddr); ok {
		d.beyond.Store(!addr.IP.IsLoopback())
	}
}

// Routes adds what callers sign in with.
func (d *Door) Routes(mux *http.ServeMux) {
	mux.HandleFunc("POST "+loginPath, d.login)
	mux.HandleFunc("POST /api/logout", d.logout)
	mux.HandleFunc("GET "+proofPath, d.proof)
	mux.HandleFunc("POST /api/ticket", d.ticket)
}
