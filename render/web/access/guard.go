package access

import (
	"net"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"beckon/render/web/address"
	"beckon/render/web/respond"
)

// policyCSP lets the page load only its own files, run no inline script, and create no markup
// from text. The one Trusted Types policy that it allows is created as the page starts, and
// names its service worker.
const policyCSP = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; font-src 'self'; " +
	"connect-src 'self'; manifest-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; " +
	"require-trusted-types-for 'script'; trusted-types worker"

// Guard precedes the routes: requests that reach them use a name of this server, come from one
// of its pages or from none, and have been admitted (see caller).
func (d *Door) Guard(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		h := w.Header()
		h.Set("Content-Security-Policy", policyCSP)
		h.Set("X-Content-Type-Options", "nosniff")
		h.Set("Referrer-Policy", "no-referrer")
		h.Set("Cross-Origin-Resource-Policy", "same-origin")
		h.Set("Cross-Origin-Opener-Policy", "same-origin")
		h.Set("Cache-Control", "no-store")
		f := d.refuse(r)
		if f == nil {
			f = d.admit(r)
		}
		if f == nil {
			next.ServeHTTP(w, r)
			return
		}
		d.o.Refused(f.Code)
		switch f.Status {
		case http.StatusUnauthorized:
			h.Set("WWW-Authenticate", `Bearer realm="beckon"`)
		case http.StatusTooManyRequests:
			h.Set("Retry-After", "1")
		}
		if opens(r) {
			writePage(w, f)
			return
		}
		respond.Error(w, f)
	})
}

// refuse returns why a request is not served, nil if it is. A name that an attacker's DNS
// points here is refused by its Host (DNS rebinding), a foreign page by its Origin.
func (d *Door) refuse(r *http.Request) *respond.Fault {
	if !d.knownHost(r) {
		return respond.NewFault(http.StatusMisdirectedRequest, wrongHost, "this server is not known by that name", "ask for 127.0.0.1 or localhost, or name the host with --host")
	}
	if origins := r.Header.Values("Origin"); len(origins) > 1 || len(origins) == 1 && !sameOrigin(origins[0], r.Host) {
		return respond.NewFault(http.StatusForbidden, "foreign_origin", "pages of other origins are not served", "")
	}
	if site := r.Header.Get("Sec-Fetch-Site"); (site == "cross-site" || site == "same-site") && r.Header.Get("Sec-Fetch-Mode") != "navigate" {
		return respond.NewFault(http.StatusForbidden, "foreign_origin", "pages of other sites are not served", "")
	}
	if d.cop.Check(r) != nil {
		return respond.NewFault(http.StatusForbidden, "foreign_origin", "the request came from another site", "")
	}
	return nil
}

// knownHost reports whether r uses a name of this server: a name that no foreign DNS answers
// for, this machine's own if the server listens beyond it, or one that it was given.
func (d *Door) knownHost(r *http.Request) bool {
	if _, unix := r.Context().Value(http.LocalAddrContextKey).(*net.UnixAddr); unix {
		return true // no browser gets here
	}
	host := address.Host(r.Host)
	given := func(name string) bool { return address.Same(address.Host(name), host) }
	return address.Loopback(host) || slices.ContainsFunc(d.o.Hosts, given) || d.beyond.Load() && address.Own(host)
}

func sameOrigin(origin, host string) bool {
	u, err := url.Parse(origin)
	return err == nil && (u.Scheme == "http" || u.Scheme == "https") && strings.EqualFold(u.Host, host)
}
