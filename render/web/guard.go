package web

import (
	"html/template"
	"net"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"beckon/render/web/address"
	"beckon/render/web/respond"
)

// wrongHost is a fault's code: the server does not have that name.
const wrongHost = "wrong_host"

// policyCSP lets the page load only its own files, run no inline script, and create no markup
// from text. The one Trusted Types policy that it allows is created as the page starts, and
// names its service worker.
const policyCSP = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; font-src 'self'; " +
	"connect-src 'self'; manifest-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; " +
	"require-trusted-types-for 'script'; trusted-types worker"

// guard precedes the routes: requests that reach them use a name of this server, come from one
// of its pages or from none, and have been admitted (see caller).
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
		s.meter.refused(f.Code)
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

// opens reports whether somebody opens the address of r in a browser.
func opens(r *http.Request) bool {
	return r.Method == http.MethodGet && (r.Header.Get("Sec-Fetch-Dest") == "document" || fromBrowser(r) && strings.HasPrefix(r.Header.Get("Accept"), "text/html"))
}

// refusal is the page that a browser shows for a refusal, with what to do. It may not load
// anything.
var refusal = template.Must(template.New("").Parse(`<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1"><meta name="color-scheme" content="light dark"><title>beckon</title></head>
<body><main><h1>{{.What}}</h1>{{range .Do}}<p>{{.Words}}</p><pre>{{.Command}}</pre>{{end}}{{with .Hint}}<p>{{.}}</p>{{end}}</main></body></html>
`))

// todo is a command, and a description.
type todo struct{ Words, Command string }

// writePage writes f for people.
func writePage(w http.ResponseWriter, f *respond.Fault) {
	page := struct {
		What, Hint string
		Do         []todo
	}{What: upper(f.Message), Hint: f.Hint}
	switch f.Code {
	case errUnauthorized.Code:
		page.What, page.Hint = "This browser is not signed in", ""
		page.Do = []todo{
			{"Only its owner sees what this server shows. On the machine where beckon runs, this prints the address that signs a browser in:", "beckon serve url"},
			{"And this shows it as a code for a phone:", "beckon serve url --qr"},
		}
	case wrongHost:
		page.Hint = ""
		page.Do = []todo{{"If it should be, start it with that name:", "beckon serve --host NAME"}}
	}
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	w.WriteHeader(f.Status)
	_ = refusal.Execute(w, page) // a browser that has gone does not matter
}

func upper(s string) string {
	if s == "" {
		return s
	}
	return strings.ToUpper(s[:1]) + s[1:]
}

// refuse returns why a request is not served, nil if it is. A name that an attacker's DNS
// points here is refused by its Host (DNS rebinding), a foreign page by its Origin.
func (s *Server) refuse(r *http.Request) *respond.Fault {
	if !s.knownHost(r) {
		return respond.NewFault(http.StatusMisdirectedRequest, wrongHost, "this server is not known by that name", "ask for 127.0.0.1 or localhost, or name the host with --host")
	}
	if origins := r.Header.Values("Origin"); len(origins) > 1 || len(origins) == 1 && !sameOrigin(origins[0], r.Host) {
		return respond.NewFault(http.StatusForbidden, "foreign_origin", "pages of other origins are not served", "")
	}
	if site := r.Header.Get("Sec-Fetch-Site"); (site == "cross-site" || site == "same-site") && r.Header.Get("Sec-Fetch-Mode") != "navigate" {
		return respond.NewFault(http.StatusForbidden, "foreign_origin", "pages of other sites are not served", "")
	}
	if s.cop.Check(r) != nil {
		return respond.NewFault(http.StatusForbidden, "foreign_origin", "the request came from another site", "")
	}
	return nil
}

// knownHost reports whether r uses a name of this server: a name that no foreign DNS answers
// for, this machine's own if the server listens beyond it, or one that it was given.
func (s *Server) knownHost(r *http.Request) bool {
	if _, unix := r.Context().Value(http.LocalAddrContextKey).(*net.UnixAddr); unix {
		return true // no browser gets here
	}
	host := address.Host(r.Host)
	given := func(name string) bool { return address.Same(address.Host(name), host) }
	return address.Loopback(host) || slices.ContainsFunc(s.o.Hosts, given) || s.beyond.Load() && address.Own(host)
}

func sameOrigin(origin, host string) bool {
	u, err := url.Parse(origin)
	return err == nil && (u.Scheme == "http" || u.Scheme == "https") && strings.EqualFold(u.Host, host)
}
