package access

import (
	"net/http"
	"time"

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
