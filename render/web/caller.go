package web

import (
	"context"
	"net"
	"net/http"
	"net/netip"
	"slices"
	"strings"
	"sync"
	"time"

	"beckon/render/web/address"
	"beckon/render/web/peer"
	"beckon/render/web/respond"
)

// Who is served:
//
//  - Anyone who sends the token or a browser's session, from anywhere.
//  - A program of the owner that connects over loopback directly: the system
//    reports whose process is at the other end. So a hook needs no token.
//  - Others get only /healthz. Another user of the machine is told so (403); an
//    unknown caller may still sign in (401), and gets the page, which contains
//    only how to do that.
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

// peerKey is the context key of a connection's peer.
type peerKey struct{}

// withPeer looks the peer up at once, because a closed socket has no owner.
func withPeer(ctx context.Context, c net.Conn) context.Context {
	if t, ok := c.(interface{ NetConn() net.Conn }); ok { // TLS
		c = t.NetConn()
	}
	end := &otherEnd{conn: c}
	end.asked.Go(func() { end.peer = peer.Of(c) })
	return context.WithValue(ctx, peerKey{}, end)
}

// otherEnd looks up the peer of a connection.
type otherEnd struct {
	conn  net.Conn
	asked sync.WaitGroup
	peer  peer.Peer // once asked
}

func peerOf(r *http.Request) peer.Peer {
	if end, ok := r.Context().Value(peerKey{}).(*otherEnd); ok {
		end.asked.Wait()
		return end.peer
	}
	return peer.Peer{}
}

// connOf returns the connection of r, nil if unknown.
func connOf(r *http.Request) net.Conn {
	if end, ok := r.Context().Value(peerKey{}).(*otherEnd); ok {
		return end.conn
	}
	return nil
}

// admit returns why r is refused, nil if it is not.
func (s *Server) admit(r *http.Request) *respond.Fault {
	if r.URL.Path == "/healthz" { // reveals no more than a closed port
		return nil
	}
	if key, ok := bearer(r); ok {
		return s.admitKey(r, key)
	}
	switch p := peerOf(r); {
	case p.Who == peer.Another:
		return respond.NewFault(http.StatusForbidden, "another_user", "this server is another user's", "its owner can give you the token: Authorization: Bearer TOKEN")
	case p.Who == peer.Owner && !fromBrowser(r) && !forwarded(r), isPage(r), asksProof(r):
		return nil
	}
	return errUnauthorized
}

var errUnauthorized = respond.NewFault(http.StatusUnauthorized, "unauthorized", "a token is needed", "programs send Authorization: Bearer TOKEN; a browser is signed in by the address that `beckon serve url` prints, a phone by the code of `beckon serve url --qr`")

// admitKey checks the key of r, and counts wrong ones.
func (s *Server) admitKey(r *http.Request, key string) *respond.Fault {
	now, place := time.Now(), placeOf(r)
	switch {
	case s.keys.isSession(key, peerOf(r).Name, now): // too long to be guessed: a caller behind the same proxy cannot lock the owner out
		return nil
	case s.keys.guesses(place, now):
		return respond.NewFault(http.StatusTooManyRequests, "too_many_guesses", "too many wrong tokens", "wait a second")
	case s.keys.isToken(key), r.URL.Path == loginPath && (s.keys.isPass(key) || s.keys.takeTicket(key, ownPeer(r), now)):
		return nil
	}
	s.keys.guessed(place, now)
	if peerOf(r).Who == peer.Another {
		return respond.NewFault(http.StatusForbidden, "another_user", "this server is another user's, and that is not its token", "")
	}
	return errUnauthorized
}

// over returns a channel that is closed when the browser's session of r ends, nil for callers
// without one.
func (s *Server) over(r *http.Request) <-chan struct{} {
	key, ok := bearer(r)
	if !ok || s.keys.isToken(key) {
		return nil
	}
	return s.keys.over(key, peerOf(r).Name)
}

func bearer(r *http.Request) (key string, ok bool) {
	return strings.CutPrefix(r.Header.Get("Authorization"), "Bearer ")
}

// ownPeer reports whether one of the owner's processes, including browsers, sent r directly.
func ownPeer(r *http.Request) bool { return peerOf(r).Who == peer.Owner && !forwarded(r) }

// isPage reports whether r requests the page itself, whose files are the same for all.
func isPage(r *http.Request) bool {
	path := r.URL.Path
	return r.Method == http.MethodGet && (path == "/" || strings.HasPrefix(path, "/session/") || strings.HasPrefix(path, "/assets/"))
}

// fromBrowser reports whether a browser sent r. All of them name the site since 2023; older
// ones are recognized by their User-Agent.
func fromBrowser(r *http.Request) bool {
	agent := r.UserAgent()
	return hasAny(r, "Sec-Fetch-Site", "Sec-Fetch-Dest", "Origin", "Referer") || strings.HasPrefix(agent, "Mozilla/") && !strings.Contains(agent, "PowerShell")
}

// hasAny reports whether r has one of the headers.
func hasAny(r *http.Request, names ...string) bool {
	return slices.ContainsFunc(names, func(name string) bool { return r.Header[name] != nil })
}

// forwarded reports whether r came through a proxy that identifies itself: by a header, or by
// the host name in the request.
func forwarded(r *http.Request) bool {
	_, unix := r.Context().Value(http.LocalAddrContextKey).(*net.UnixAddr)
	return hasAny(r, "Forwarded", "X-Forwarded-For", "X-Forwarded-Host", "X-Real-Ip", "Via") || !unix && !address.Loopback(address.Host(r.Host))
}

// placeOf returns where r comes from, for counting: a user of this machine, or an address.
// Someone with one IPv6 address has 2^64.
func placeOf(r *http.Request) string {
	if p := peerOf(r); p.Name != "" {
		return "user " + p.Name
	}
	addr, err := netip.ParseAddrPort(r.RemoteAddr)
	if err != nil {
		return r.RemoteAddr
	}
	ip := addr.Addr().Unmap()
	if ip.Is6() {
		if net, err := ip.WithZone("").Prefix(64); err == nil {
			return net.String()
		}
	}
	return ip.String()
}
