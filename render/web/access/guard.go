// Package access is who may use a server, and who may answer an agent through it:
//
//   - The owner's programs on this machine post events without a token: the system reports
//     whose process is at the other end of a loopback connection. A proxy that identifies itself
//     does not count; one that does not (ssh -L) counts as the user who started it.
//   - Whatever shows, answers or acts needs a token: the owner's, one of a scope, or the session
//     of a browser, which it gets for a code of the link that `beckon serve` prints.
//   - Everybody gets /healthz, and the page, which contains only how to sign in; other users of
//     the machine get /healthz alone.
//
// Any site may be behind a browser's requests. Host, Origin and Sec-Fetch-Site exclude those that
// it names, the session all others. It is sent in a header and stored for the page's origin:
// cookies would go to every port of a host, whoever listens there.
package access

import (
	"cmp"
	"context"
	"net"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"beckon/state/evidence"
	"beckon/state/request"

	"golang.org/x/time/rate"
)

// Scope is what a caller may do, or a path needs.
type Scope uint8

// Open needs nothing. Events is to post events, to ask the policy, and to see whether events
// arrive; Read to see sessions; Act to mark them and to jump; Answer to answer, reply and stop; Browse
// is what only a signed-in browser may do.
const (
	Open   Scope = 0
	Events Scope = 1 << (iota - 1)
	Read
	Act
	Answer
	Browse
)

// Options configure a Guard.
type Options struct {
	Token   string            // of the owner; empty makes one that nobody knows
	Dir     string            // where the sessions of browsers are kept; empty for nowhere
	Hosts   []string          // names of the server besides those of this machine
	Refused func(code string) // is called for each request that is refused
	Log     func(error)       // is called with errors, and nil
}

// Guard decides who may use a server.
type Guard struct {
	o      Options
	wrong  *rate.Limiter // wrong tokens that are looked at
	name   string        // a name of this machine that only this server has
	beyond atomic.Bool   // it is reached from other machines

	mu       sync.Mutex
	sessions map[string]*session  // by id
	used     map[string]time.Time // codes that were used, with their ends
}

// New returns the guard of a server.
func New(o Options) *Guard {
	o.Token = cmp.Or(o.Token, newKey())
	g := &Guard{
		o:        o,
		wrong:    rate.NewLimiter(10, 10),
		name:     newName(),
		sessions: map[string]*session{},
		used:     map[string]time.Time{},
	}
	g.load()
	return g
}

// Listen returns l's connections with who is at their other end. Beyond loopback requests may use
// this machine's names.
func (g *Guard) Listen(l net.Listener) net.Listener {
	g.beyond.Store(!Loopback(Host(l.Addr().String())))
	return &listener{Listener: l}
}

// Name returns a name of this machine that only this server uses. What a browser keeps for an
// origin (scripts that answer in the server's place, files, open pages) it keeps by name, and a
// program that had the port before may have left it some.
func (g *Guard) Name() string { return g.name }

type callerKey struct{}

// caller is who sends a request.
type caller struct {
	may     Scope
	session *session // of a browser
}

func callerOf(r *http.Request) caller {
	c, _ := r.Context().Value(callerKey{}).(caller)
	return c
}

// Protect lets a request through to next if it uses a name of this server, comes from one of its
// pages or from none, and its sender may do what the path needs.
func (g *Guard) Protect(needs func(*http.Request) Scope, next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		setHeaders(w.Header())
		fault := g.checkHost(r)
		if fault == nil {
			fault = checkOrigin(r)
		}
		var c caller
		if fault == nil {
			c, fault = g.checkCaller(r, needs(r))
		}
		if fault != nil {
			g.o.Refused(fault.Code)
			Error(w, fault)
			return
		}
		next.ServeHTTP(w, r.WithContext(context.WithValue(r.Context(), callerKey{}, c)))
	})
}

// checkHost refuses a name that an attacker's DNS points here (DNS rebinding). Valid are names
// that no foreign DNS answers for, this machine's own if the server listens beyond it, and
// those it was given.
func (g *Guard) checkHost(r *http.Request) *Fault {
	host := Host(r.Host)
	if Loopback(host) || isAny(g.o.Hosts, host) || g.beyond.Load() && isOwn(host) {
		return nil
	}
	return NewFault(http.StatusMisdirectedRequest, "wrong_host", "this server is not known by that name",
		"ask for 127.0.0.1 or localhost, or start it with that name: beckon serve --name NAME")
}

// checkOrigin refuses the pages of other sites. Their links may lead here.
func checkOrigin(r *http.Request) *Fault {
	origins := r.Header.Values("Origin")
	link := r.Header.Get("Sec-Fetch-Mode") == "navigate" && (r.Method == http.MethodGet || r.Method == http.MethodHead)
	switch r.Header.Get("Sec-Fetch-Site") {
	case "", "none", "same-origin":
		link = true
	}
	if link && (len(origins) == 0 || len(origins) == 1 && sameOrigin(origins[0], r.Host)) {
		return nil
	}
	return NewFault(http.StatusForbidden, "foreign_origin", "pages of other sites are not served", "")
}

func sameOrigin(origin, host string) bool {
	u, err := url.Parse(origin)
	return err == nil && (u.Scheme == "http" || u.Scheme == "https") && strings.EqualFold(u.Host, host)
}

// checkCaller returns who sends r, or why they may not what it needs.
func (g *Guard) checkCaller(r *http.Request, needs Scope) (c caller, _ *Fault) {
	key, sent := strings.CutPrefix(r.Header.Get("Authorization"), "Bearer ")
	who := connOf(r).peer
	switch {
	case sent && needs == Open: // a code, which the log-in checks itself
		return c, nil
	case sent:
		if c = g.callerWith(key, who); c.may == 0 {
			return c, g.refuseKey(who)
		}
	case OwnPeer(r) && !fromBrowser(r):
		c.may = Events
	}
	switch {
	case c.may&needs == needs && (needs != Open || !who.IsAnother() || r.URL.Path == "/healthz"):
		return c, nil
	case who.IsAnother() && c.may == 0:
		return c, errAnother
	case c.may == 0 || !sent:
		return c, errUnauthorized
	case needs == Answer:
		return c, errNoAnswer
	case needs == Browse:
		return c, errNoBrowser
	}
	return c, NewFault(http.StatusForbidden, "scope",
		"that token does not open this", "beckon serve token prints one that does")
}

var (
	errAnother = NewFault(http.StatusForbidden, "another_user",
		"this server is another user's", "its owner can give you a token: Authorization: Bearer TOKEN")
	errUnauthorized = NewFault(http.StatusUnauthorized, "unauthorized", "a token is needed",
		"programs send Authorization: Bearer TOKEN, which `beckon serve token` prints; "+
			"a browser is signed in by the link of `beckon serve url`, a phone by `beckon serve url --qr`")
	errNoBrowser = NewFault(http.StatusForbidden, "no_browser", "only a signed-in browser is told by Web Push", "")
	errNoAnswer  = NewFault(http.StatusForbidden, "no_answers", "that token does not answer",
		"a signed-in browser answers, a program with the token of `beckon serve token answer`, "+
			"and `beckon answer` in a terminal")
)

// refuseKey refuses a wrong token, and looks at only a few of them each second.
func (g *Guard) refuseKey(who Peer) *Fault {
	switch {
	case !g.wrong.Allow():
		return NewFault(http.StatusTooManyRequests, "too_many_guesses", "too many wrong tokens", "wait a second")
	case who.IsAnother():
		return errAnother
	}
	return errUnauthorized
}

// callerWith returns who sends a token, or a session.
func (g *Guard) callerWith(key string, who Peer) caller {
	if s := g.find(key, who); s != nil {
		return caller{Events | Read | Act | Answer | Browse, s}
	}
	if same(key, g.o.Token) {
		return caller{may: Events | Read | Act}
	}
	for name, may := range scopes {
		if same(key, ScopedToken(g.o.Token, name)) {
			return caller{may: may}
		}
	}
	return caller{}
}

// OwnPeer reports whether one of the owner's processes, including browsers, sent r directly.
func OwnPeer(r *http.Request) bool { return connOf(r).peer == owner && !forwarded(r) }

// fromBrowser reports whether a browser sent r: those since 2023 name the site.
func fromBrowser(r *http.Request) bool {
	agent := r.UserAgent()
	return hasAny(r, "Sec-Fetch-Site", "Sec-Fetch-Dest", "Origin", "Referer") ||
		strings.HasPrefix(agent, "Mozilla/") && !strings.Contains(agent, "PowerShell")
}

// forwarded reports whether r came through a proxy that identifies itself: by a header, or by
// the host name in the request.
func forwarded(r *http.Request) bool {
	return hasAny(r, "Forwarded", "X-Forwarded-For", "X-Forwarded-Host", "X-Real-Ip", "Via") ||
		!Loopback(Host(r.Host))
}

// hasAny reports whether r has one of the headers.
func hasAny(r *http.Request, names ...string) bool {
	return slices.ContainsFunc(names, func(name string) bool { return r.Header[name] != nil })
}

// Answerer returns from where the sender of r answers, or why they may not. An agent must not
// answer itself, and could read a token in its user's files, so on this machine no program answers
// that an agent's client started. This does not stop one that has detached from its parents, or
// that controls the user's own browser.
func (g *Guard) Answerer(r *http.Request) (request.From, error) {
	who := callerOf(r)
	if who.may&Answer == 0 {
		return "", errNoAnswer
	}
	pids, sure, own := processes(connOf(r).Conn)
	if !own {
		return request.Remote, nil
	}
	seen, browser := false, false
	for _, pid := range pids {
		within, name := evidence.FromClient(pid)
		if within {
			return "", NewFault(http.StatusForbidden, "agents_program",
				"an agent's client started the program that asks, and an agent does not answer itself",
				"open the page in a browser that you started")
		}
		seen, browser = seen || name != "", browser || isBrowser(name)
	}
	switch {
	case !seen:
		return "", NewFault(http.StatusForbidden, "unseen_program",
			"cannot tell which program sent this; it may be an agent's", "beckon answer does it in a terminal")
	case sure && browser && who.session != nil && OwnPeer(r):
		return request.Page, nil
	}
	return request.Remote, nil // a program, a tunnel or a proxy: it may come from anywhere
}

// browserNames are names, or prefixes of names, of browsers' processes.
var browserNames = strings.Split("chrom,google chrome,headless_shell,firefox,geckomain,socket process,safari,"+
	"com.apple.webki,webkit,msedge,microsoft edge,brave,vivaldi,opera,librewolf,waterfox,floorp,zen,"+
	"qtwebengine,epiphany,arc,orion", ",")

func isBrowser(name string) bool {
	return slices.ContainsFunc(browserNames, func(b string) bool { return strings.HasPrefix(strings.ToLower(name), b) })
}

// policyCSP lets the page load only its own files, run no inline script, and create no markup
// from text. The one Trusted Types policy is for the service worker's address.
const policyCSP = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; font-src 'self'; " +
	"connect-src 'self'; manifest-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; " +
	"require-trusted-types-for 'script'; trusted-types worker"

func setHeaders(h http.Header) {
	h.Set("Content-Security-Policy", policyCSP)
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Referrer-Policy", "no-referrer")
	h.Set("Cross-Origin-Resource-Policy", "same-origin")
	h.Set("Cross-Origin-Opener-Policy", "same-origin")
	h.Set("Cache-Control", "no-store")
}
