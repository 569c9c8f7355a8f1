package access

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

// peerKey is the context key of a connection's peer.
type peerKey struct{}

// Connect is an http.Server's ConnContext. It looks the peer up at once, because a closed
// socket has no owner.
func Connect(ctx context.Context, c net.Conn) context.Context {
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

// endOf returns the other end of the connection of r, an empty one if unknown.
func endOf(r *http.Request) *otherEnd {
	if end, ok := r.Context().Value(peerKey{}).(*otherEnd); ok {
		return end
	}
	return &otherEnd{}
}

func peerOf(r *http.Request) peer.Peer {
	end := endOf(r)
	end.asked.Wait()
	return end.peer
}

// admit returns why r is refused, nil if it is not.
func (d *Door) admit(r *http.Request) *respond.Fault {
	if r.URL.Path == "/healthz" { // reveals no more than a closed port
		return nil
	}
	if key, ok := bearer(r); ok {
		return d.admitKey(r, key)
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
func (d *Door) admitKey(r *http.Request, key string) *respond.Fault {
	now, place := time.Now(), placeOf(r)
	switch {
	case d.keys.isSession(key, peerOf(r).Name, now): // too long to be guessed: a caller behind the same proxy cannot lock the owner out
		return nil
	case d.keys.guesses(place, now):
		return respond.NewFault(http.StatusTooManyRequests, "too_many_guesses", "too many wrong tokens", "wait a second")
	case d.keys.isToken(key), r.URL.Path == loginPath && (d.keys.isPass(key) || d.keys.takeTicket(key, OwnPeer(r), now)):
		return nil
	}
	d.keys.guessed(place, now)
	if peerOf(r).Who == peer.Another {
		return respond.NewFault(http.StatusForbidden, "another_user", "this server is another user's, and that is not its token", "")
	}
	return errUnauthorized
}

// Over returns a channel that is closed when the browser's session of r ends, nil for callers
// without one.
func (d *Door) Over(r *http.Request) <-chan struct{} {
	key, ok := bearer(r)
	if !ok || d.keys.isToken(key) {
		return nil
	}
	return d.keys.over(key, peerOf(r).Name)
}

func bearer(r *http.Request) (key string, ok bool) {
	return strings.CutPrefix(r.Header.Get("Authorization"), "Bearer ")
}

// OwnPeer reports whether one of the owner's processes, including browsers, sent r directly.
func OwnPeer(r *http.Request) bool { return peerOf(r).Who == peer.Owner && !forwarded(r) }

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
		if prefix, err := ip.WithZone("").Prefix(64); err == nil {
			return prefix.String()
		}
	}
	return ip.String()
}
