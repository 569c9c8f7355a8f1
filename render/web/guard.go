package web

import (
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"slices"
	"strings"
)

// policyCSP lets the page load its own files and nothing else, run no script
// that stands in it, and make no markup out of text.
const policyCSP = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; font-src 'self'; " +
	"connect-src 'self'; manifest-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; " +
	"require-trusted-types-for 'script'; trusted-types 'none'"

// guard stands before the routes: whoever reaches one was asked for by a name
// of this server, from a page of its own or from none, and may be heard (see
// caller).
func (s *Server) guard(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		h := w.Header()
		h.Set("Content-Security-Policy", policyCSP)
		h.Set("X-Content-Type-Options", "nosniff")
		h.Set("Referrer-Policy", "no-referrer")
		h.Set("Cross-Origin-Resource-Policy", "same-origin")
		h.Set("Cross-Origin-Opener-Policy", "same-origin")
		h.Set("Cache-Control", "no-store")
		f := s.refuse(r)
		if f == nil {
			f = s.admit(r)
		}
		if f == nil {
			next.ServeHTTP(w, r)
			return
		}
		s.meter.refused(f.code)
		switch f.status {
		case http.StatusUnauthorized:
			h.Set("WWW-Authenticate", `Bearer realm="beckon"`)
		case http.StatusTooManyRequests:
			h.Set("Retry-After", "1")
		}
		writeError(w, f)
	})
}

// refuse says why a request is not served, nil if it is. A name that an
// attacker's DNS points here is refused by its Host (DNS rebinding), a foreign
// page by its Origin.
func (s *Server) refuse(r *http.Request) *fault {
	if !s.knownHost(r) {
		return &fault{http.StatusMisdirectedRequest, "wrong_host", "this server is not known by that name", "ask for 127.0.0.1 or localhost, or name the host with --host"}
	}
	if origins := r.Header.Values("Origin"); len(origins) > 1 || len(origins) == 1 && !sameOrigin(origins[0], r.Host) {
		return &fault{http.StatusForbidden, "foreign_origin", "pages of other origins are not served", ""}
	}
	if site := r.Header.Get("Sec-Fetch-Site"); (site == "cross-site" || site == "same-site") && r.Header.Get("Sec-Fetch-Mode") != "navigate" {
		return &fault{http.StatusForbidden, "foreign_origin", "pages of other sites are not served", ""}
	}
	if s.cop.Check(r) != nil {
		return &fault{http.StatusForbidden, "foreign_origin", "the request came from another site", ""}
	}
	return nil
}

// knownHost reports whether r asks for a name of this server. An address that
// stands for itself cannot be rebound, and neither can a name that no stranger's
// DNS answers for: this machine's own, where the server is heard beyond it.
func (s *Server) knownHost(r *http.Request) bool {
	if _, unix := r.Context().Value(http.LocalAddrContextKey).(*net.UnixAddr); unix {
		return true // no browser gets here
	}
	host := hostName(r.Host)
	named := func(h string) bool { return sameName(hostName(h), host) }
	if Loopback(host) || slices.ContainsFunc(s.o.Hosts, named) {
		return true
	}
	if !s.beyond.Load() {
		return false
	}
	_, err := netip.ParseAddr(host)
	return err == nil || slices.ContainsFunc(OwnNames(), named)
}

// hostName takes the port and the brackets off a Host.
func hostName(hostport string) string {
	if host, _, err := net.SplitHostPort(hostport); err == nil {
		return host
	}
	return strings.TrimSuffix(strings.TrimPrefix(hostport, "["), "]")
}

// sameName compares names of hosts, with or without the root's dot.
func sameName(a, b string) bool {
	return strings.EqualFold(strings.TrimSuffix(a, "."), strings.TrimSuffix(b, "."))
}

func sameOrigin(origin, host string) bool {
	u, err := url.Parse(origin)
	return err == nil && (u.Scheme == "http" || u.Scheme == "https") && strings.EqualFold(u.Host, host)
}
