package web

import (
	"fmt"
	"net"
	"net/http"
	"runtime"
	"strings"
	"time"
)

const loginPath = "/api/login"

// signedIn answers a browser that signs in.
type signedIn struct {
	Session string `json:"session"` // to be sent as a bearer token; it ends with this server
}

// login serves POST /api/login: a session for the token or a ticket. The guard
// has seen that there is one.
func (s *Server) login(w http.ResponseWriter, r *http.Request) {
	key, ok := bearer(r)
	user, now := peerOf(r).Name, time.Now()
	if !ok || s.keys.isSession(key, user, now) { // an owner's program has no use for one, a browser has its own
		writeError(w, errUnauthorized)
		return
	}
	writeJSON(w, http.StatusOK, signedIn{s.keys.begin(user, now)})
}

// logout serves POST /api/logout: the session that asks for it is one no more.
func (s *Server) logout(w http.ResponseWriter, r *http.Request) {
	if key, ok := bearer(r); ok {
		s.keys.end(key, peerOf(r).Name)
	}
	writeJSON(w, http.StatusOK, okAnswer{Status: "ok"})
}

// Entrance is what an address that signs a browser in is made of.
type Entrance struct {
	// Name is a name of this machine that this server alone is known by. What a
	// browser keeps for one origin (scripts that answer in the server's place,
	// files, open pages) it keeps by name, and whoever had the port before may
	// have left it some.
	Name   string `json:"name"`
	Pass   string `json:"pass"`   // signs a browser in, until the server ends
	Ticket string `json:"ticket"` // good for one /api/login of the owner's, for a minute
	Invite string `json:"invite"` // good for one /api/login from anywhere, for ten minutes
}

// ticket serves POST /api/ticket, for `beckon serve url` and --open: others see
// the command line of a browser that is started, so what stands there must be of
// no use to them.
func (s *Server) ticket(w http.ResponseWriter, r *http.Request) {
	if key, ok := bearer(r); ok && !s.keys.isToken(key) {
		writeError(w, errUnauthorized)
		return
	}
	writeJSON(w, http.StatusOK, s.Entrance())
}

// Entrance returns what signs a browser of this user's in.
func (s *Server) Entrance() Entrance {
	now := time.Now()
	return Entrance{s.name, s.keys.pass, s.keys.ticket(now), s.keys.invite(now)}
}

// newName makes a name that means this machine to a browser.
func newName() string { return "b" + newKey()[:12] + ".localhost" }

// At puts the server's own name into url ("http://host:port/"), if that means
// this machine.
func (e Entrance) At(url string) string {
	scheme, rest, _ := strings.Cut(url, "://")
	host, port, err := net.SplitHostPort(strings.TrimSuffix(rest, "/"))
	if err != nil || scheme != "http" || !Loopback(host) || !resolvable(e.Name) {
		return url // a certificate would be of another name; it keeps others out by itself
	}
	return scheme + "://" + net.JoinHostPort(e.Name, port) + "/"
}

// resolvable reports whether the user's browser finds a name below localhost:
// all do by themselves but Safari, which asks the system.
func resolvable(name string) bool {
	if runtime.GOOS != "darwin" {
		return true
	}
	_, err := net.LookupHost(name)
	return err == nil
}

// AskEntrance asks the server at url for what signs in, as a program of its
// owner's.
func AskEntrance(url string) (e Entrance, err error) {
	status, _, err := fetch(http.MethodPost, url, "/api/ticket", 5*time.Second, new(net.Dialer).DialContext, &e)
	if status != "" && (err != nil || e.Ticket == "") {
		err = fmt.Errorf("it answered %s", status)
	}
	return e, err
}
