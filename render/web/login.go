package web

import (
	"crypto/tls"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
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

// ticketed answers who asks for a ticket.
type ticketed struct {
	Ticket string `json:"ticket"` // good for one /api/login of the owner's, for a minute
}

// ticket serves POST /api/ticket, for `beckon serve --open`: others see the
// command line of a browser that is started, so what stands there must be of no
// use to them.
func (s *Server) ticket(w http.ResponseWriter, r *http.Request) {
	if key, ok := bearer(r); ok && !s.keys.isToken(key) {
		writeError(w, errUnauthorized)
		return
	}
	writeJSON(w, http.StatusOK, ticketed{s.Ticket()})
}

// Ticket returns what signs a browser of this user's in, once within a minute.
func (s *Server) Ticket() string { return s.keys.ticket(time.Now()) }

// AskTicket asks the server at url for a ticket, as a program of its owner's.
func AskTicket(url string) (string, error) {
	client := http.Client{Timeout: 5 * time.Second, Transport: &http.Transport{TLSClientConfig: &tls.Config{InsecureSkipVerify: true}}}
	defer client.CloseIdleConnections()
	res, err := client.Post(strings.TrimSuffix(url, "/")+"/api/ticket", "", nil)
	if err != nil {
		return "", err
	}
	defer res.Body.Close()
	var t ticketed
	if err := json.NewDecoder(io.LimitReader(res.Body, 4096)).Decode(&t); err != nil || t.Ticket == "" {
		return "", fmt.Errorf("it answered %s", res.Status)
	}
	return t.Ticket, nil
}
