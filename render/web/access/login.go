package access

import (
	"crypto/rand"
	"fmt"
	"net"
	"net/http"
	"runtime"
	"strings"
	"time"

	"beckon/render/web/address"
	"beckon/render/web/respond"
)

const loginPath = "/api/login"

// signedIn is the response to a browser that signs in.
type signedIn struct {
	Session string `json:"session"` // to send as a bearer token; it ends with this server
}

// login serves POST /api/login: a session for the token or a ticket. The guard has checked
// that there is one.
func (d *Door) login(w http.ResponseWriter, r *http.Request) {
	key, ok := bearer(r)
	user, now := peerOf(r).Name, time.Now()
	if !ok || d.keys.isSession(key, user, now) { // an owner's program does not need one, a browser has its own
		respond.Error(w, errUnauthorized)
		return
	}
	respond.JSON(w, http.StatusOK, signedIn{d.keys.begin(user, now)})
}

// logout serves POST /api/logout: it ends the session that sends it.
func (d *Door) logout(w http.ResponseWriter, r *http.Request) {
	if key, ok := bearer(r); ok {
		d.keys.end(key, peerOf(r).Name)
	}
	_ = respond.Done(w)
}

// ticket serves POST /api/ticket, for `beckon serve url` and --open: other users see the
// command line of a browser that is started, so it must contain nothing that they can use.
func (d *Door) ticket(w http.ResponseWriter, r *http.Request) {
	if key, ok := bearer(r); ok && !d.keys.isToken(key) {
		respond.Error(w, errUnauthorized)
		return
	}
	respond.JSON(w, http.StatusOK, d.Entrance())
}

// Entrance is what an address that signs a browser in contains.
type Entrance struct {
	// Name is a name of this machine that only this server uses. What a browser keeps for one
	// origin (scripts that answer in the server's place, files, open pages) it keeps by name,
	// and a program that had the port before may have left it some.
	Name   string `json:"name"`
	Pass   string `json:"pass"`   // signs a browser in, until the server ends
	Ticket string `json:"ticket"` // valid for one /api/login of the owner's, for a minute
	Invite string `json:"invite"` // valid for one /api/login from anywhere, for ten minutes
}

// Entrance returns what signs a browser of this user in.
func (d *Door) Entrance() Entrance {
	now := time.Now()
	return Entrance{d.name, d.keys.pass, d.keys.ticket(now), d.keys.invite(now)}
}

// newName returns a name that a browser resolves to this machine.
func newName() string { return "b" + strings.ToLower(rand.Text()[:12]) + ".localhost" }

// At inserts the server's own name into url ("http://host:port/"), if that is an address of
// this machine.
func (e Entrance) At(url string) string {
	scheme, rest, _ := strings.Cut(url, "://")
	host, port, err := net.SplitHostPort(strings.TrimSuffix(rest, "/"))
	if err != nil || scheme != "http" || !address.Loopback(host) || !resolvable(e.Name) {
		return url // the certificate is for another name; it keeps others out by itself
	}
	return scheme + "://" + net.JoinHostPort(e.Name, port) + "/"
}

// resolvable reports whether the user's browser resolves a name below localhost: all do by
// themselves except Safari, which asks the system.
func resolvable(name string) bool {
	if runtime.GOOS != "darwin" {
		return true
	}
	_, err := net.LookupHost(name)
	return err == nil
}

// AskEntrance asks the server at url for the secrets that sign in, as one of its owner's
// programs.
func AskEntrance(url string) (e Entrance, err error) {
	status, err := address.Fetch(http.MethodPost, url, "/api/ticket", 5*time.Second, &e)
	if status != "" && (err != nil || e.Ticket == "") {
		err = fmt.Errorf("it answered %s", status)
	}
	return e, err
}
