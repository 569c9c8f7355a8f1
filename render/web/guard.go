package web

import (
	"crypto/sha256"
	"crypto/subtle"
	"encoding/hex"
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
// of this server, from a page of its own or from none, and knew the token.
func (s *Server) guard(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		h := w.Header()
		h.Set("Content-Security-Policy", policyCSP)
		h.Set("X-Content-Type-Options", "nosniff")
		h.Set("Referrer-Policy", "no-referrer")
		h.Set("Cross-Origin-Resource-Policy", "same-origin")
		h.Set("Cross-Origin-Opener-Policy", "same-origin")
		h.Set("Cache-Control", "no-store")
		if f := s.refuse(r); f != nil {
			s.meter.refused(f.code)
			writeError(w, f)
			return
		}
		if s.login(w, r) {
			return
		}
		if !s.authorized(r) {
			s.meter.refused("unauthorized")
			h.Set("WWW-Authenticate", `Bearer realm="beckon"`)
			if fromElsewhere(r) {
				h.Set("Refresh", "0; url="+r.URL.EscapedPath())
			}
			writeError(w, &fault{http.StatusUnauthorized, "unauthorized", "a token is needed", "send Authorization: Bearer TOKEN, or open /?token=TOKEN once"})
			return
		}
		next.ServeHTTP(w, r)
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
// stands for itself cannot be rebound.
func (s *Server) knownHost(r *http.Request) bool {
	if _, unix := r.Context().Value(http.LocalAddrContextKey).(*net.UnixAddr); unix {
		return true // no browser gets here
	}
	host := hostName(r.Host)
	if loopbackName(host) || slices.ContainsFunc(s.o.Hosts, func(h string) bool { return sameName(hostName(h), host) }) {
		return true
	}
	_, err := netip.ParseAddr(host)
	return err == nil && s.o.Token != ""
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

// cookieName names the page's cookie. A browser keeps cookies by host, whatever
// the port: servers with different tokens must not take each other's place
// (tunnels to two machines).
func (s *Server) cookieName() string { return "beckon_" + s.cookie()[:8] }

// login takes the token out of the page's address and gives the browser a
// cookie in its place. It reports whether it answered.
func (s *Server) login(w http.ResponseWriter, r *http.Request) bool {
	given := r.URL.Query().Get("token")
	if s.o.Token == "" || given == "" || r.URL.Path != "/" || r.Method != http.MethodGet {
		return false
	}
	// Base64 has a plus, which stands for a space in an address.
	if !equal(given, s.o.Token) && !equal(strings.ReplaceAll(given, " ", "+"), s.o.Token) {
		return false
	}
	http.SetCookie(w, &http.Cookie{Name: s.cookieName(), Value: s.cookie(), Path: "/", HttpOnly: true, SameSite: http.SameSiteStrictMode, MaxAge: 30 * 24 * 3600})
	w.Header().Set("Location", "/")
	w.WriteHeader(http.StatusSeeOther)
	return true
}

// cookie is what the browser keeps: it opens this server and does not tell the
// token.
func (s *Server) cookie() string {
	sum := sha256.Sum256([]byte("beckon cookie\x00" + s.o.Token))
	return hex.EncodeToString(sum[:])
}

// authorized reports whether r knows the token. /healthz tells nothing that a
// closed port would not.
func (s *Server) authorized(r *http.Request) bool {
	if s.o.Token == "" || r.URL.Path == "/healthz" {
		return true
	}
	if given, ok := strings.CutPrefix(r.Header.Get("Authorization"), "Bearer "); ok && equal(given, s.o.Token) {
		return true
	}
	c, err := r.Cookie(s.cookieName())
	return err == nil && equal(c.Value, s.cookie())
}

// fromElsewhere reports whether r opens the page by a link of another site. With
// that a browser sends no strict cookie; asked again by the answer itself, it
// does. The page alone is opened so: it shows nothing that its own requests,
// which need the cookie too, do not bring.
func fromElsewhere(r *http.Request) bool {
	site, page := r.Header.Get("Sec-Fetch-Site"), r.URL.Path == "/" || strings.HasPrefix(r.URL.Path, "/session/")
	return page && r.Method == http.MethodGet && r.Header.Get("Sec-Fetch-Dest") == "document" && (site == "cross-site" || site == "same-site")
}

// equal compares in a time that tells nothing, not even the length.
func equal(a, b string) bool {
	x, y := sha256.Sum256([]byte(a)), sha256.Sum256([]byte(b))
	return subtle.ConstantTimeCompare(x[:], y[:]) == 1
}
