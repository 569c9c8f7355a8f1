package access

import (
	"fmt"
	"net/http"
	"testing"
	"time"

	"beckon/render/web/address"
	"beckon/render/web/webtest"
)

// A browser gets a session for the token, which is not the token, opens only this server, and
// ends when it signs out.
func TestBrowserSession(t *testing.T) {
	sites := []*site{serve(t, Options{Token: webtest.Token}), serve(t, Options{Token: webtest.Token})}
	x := sites[0]
	first, second := x.SignIn(webtest.Token), x.SignIn(webtest.Token)
	if first == second || first == webtest.Token || bitsOf(first) < keyBits {
		t.Errorf("sessions %s and %s", first, second)
	}
	for _, session := range []string{first, second} {
		if status := x.Browse("/api/sessions", session); status != http.StatusOK {
			t.Errorf("with the session: %d", status)
		}
		if status := sites[1].Browse("/api/sessions", session); status != http.StatusUnauthorized {
			t.Errorf("at another server with the same token: %d", status)
		}
	}
	if r := x.Do("POST", loginPath, "", webtest.With(first)); r.Status != http.StatusUnauthorized {
		t.Errorf("a session for a session: %d", r.Status)
	}
	if r := x.Do("POST", "/api/ticket", "", webtest.With(first)); r.Status != http.StatusUnauthorized {
		t.Errorf("a ticket for a session: %d", r.Status)
	}
	if r := x.Do("POST", "/api/logout", "", webtest.With(first)); r.Status != http.StatusOK {
		t.Errorf("signing out: %d", r.Status)
	}
	if status := x.Browse("/api/sessions", first); status != http.StatusUnauthorized {
		t.Errorf("after signing out: %d", status)
	}
	if status := x.Browse("/api/sessions", second); status != http.StatusOK {
		t.Errorf("the other session: %d", status)
	}
	for range maxSessions {
		x.SignIn(webtest.Token)
	}
	if status := x.Browse("/api/sessions", second); status != http.StatusUnauthorized || len(x.d.keys.sessions) != maxSessions {
		t.Errorf("the session that was quiet for longest: %d, %d are kept", status, len(x.d.keys.sessions))
	}
	if r := x.Do("POST", loginPath, "", webtest.With(webtest.Token), "Origin: http://127.0.0.1:1"); r.Status != http.StatusForbidden {
		t.Errorf("signing in from another port: %d", r.Status)
	}
}

// A ticket, which a browser's command line shows, signs in once, soon, and only this user.
func TestTicket(t *testing.T) {
	webtest.NeedsPeers(t)
	x := serve(t, Options{Token: webtest.Token})
	ticket := x.Do("POST", "/api/ticket", "").Field(t, "ticket")
	if r := x.Get("/api/sessions", webtest.With(ticket)); r.Status != http.StatusUnauthorized {
		t.Errorf("a ticket opens more than the log-in: %d", r.Status)
	}
	if r := x.Do("POST", loginPath, "", webtest.With(ticket), "X-Forwarded-For: 192.0.2.7"); r.Status != http.StatusUnauthorized {
		t.Errorf("a ticket from elsewhere: %d", r.Status)
	}
	if status := x.Browse("/api/sessions", x.SignIn(ticket)); status != http.StatusOK {
		t.Errorf("with a session for a ticket: %d", status)
	}
	if r := x.Do("POST", loginPath, "", webtest.With(ticket)); r.Status != http.StatusUnauthorized {
		t.Errorf("a ticket twice: %d", r.Status)
	}
	late := x.d.keys.ticket(time.Now().Add(-2 * ticketFor))
	if r := x.Do("POST", loginPath, "", webtest.With(late)); r.Status != http.StatusUnauthorized {
		t.Errorf("a ticket of yesterday: %d", r.Status)
	}
	if r := x.Do("POST", loginPath, ""); r.Status != http.StatusUnauthorized {
		t.Errorf("a session for nothing: %d", r.Status)
	}
}

// Ten wrong keys a second are answered; after that even the right one is refused. A signed-in
// user stays signed in: others may come from the same address.
func TestGuesses(t *testing.T) {
	x := serve(t, Options{Token: webtest.Token})
	session := x.SignIn(webtest.Token)
	wrong, limited := 0, webtest.Reply{}
	for end := time.Now().Add(time.Minute); limited.Status == 0 && time.Now().Before(end); {
		if r := x.Get("/api/sessions", webtest.With(webtest.Wrong)); r.Status == http.StatusTooManyRequests {
			limited = x.Get("/api/sessions", webtest.With(webtest.Token))
			if status := x.Browse("/api/sessions", session); status != http.StatusOK {
				t.Errorf("with a session: %d", status)
			}
		} else {
			wrong++
		}
	}
	if limited.Status == http.StatusOK { // a new second began between the two
		return
	}
	if limited.Status != http.StatusTooManyRequests || limited.Header.Get("Retry-After") == "" || wrong < maxWrong {
		t.Errorf("after %d wrong ones: %d", wrong, limited.Status)
	}
	x.Until("the token is taken again", func() bool { return x.Get("/api/sessions", webtest.With(webtest.Token)).Status == http.StatusOK })

	k, now := newKeys(webtest.Token), time.Unix(1_700_000_000, 0)
	for i := range 3 * maxPlaces {
		k.guessed(fmt.Sprint(i), now)
	}
	if len(k.wrong) > maxPlaces {
		t.Errorf("%d places are kept", len(k.wrong))
	}
}

// An invitation signs in once, from anywhere and soon, and opens nothing else.
func TestInvite(t *testing.T) {
	x := serve(t, Options{Token: webtest.Token})
	elsewhere := []string{"X-Forwarded-For: 192.0.2.7", webtest.Browser}
	invite := x.d.Entrance().Invite
	if r := x.Get("/api/sessions", append(elsewhere, webtest.With(invite))...); r.Status != http.StatusUnauthorized {
		t.Errorf("an invitation opens more than the log-in: %d", r.Status)
	}
	r := x.Do("POST", loginPath, "", append(elsewhere, webtest.With(invite))...)
	if r.Status != http.StatusOK {
		t.Fatalf("an invitation from elsewhere: %d %s", r.Status, r.Body)
	}
	if r := x.Get("/api/sessions", append(elsewhere, webtest.With(r.Field(t, "session")))...); r.Status != http.StatusOK {
		t.Errorf("with the session for it: %d", r.Status)
	}
	if r := x.Do("POST", loginPath, "", append(elsewhere, webtest.With(invite))...); r.Status != http.StatusUnauthorized {
		t.Errorf("an invitation twice: %d", r.Status)
	}
	late := x.d.keys.invite(time.Now().Add(-2 * inviteFor))
	if r := x.Do("POST", loginPath, "", append(elsewhere, webtest.With(late))...); r.Status != http.StatusUnauthorized {
		t.Errorf("an old invitation: %d", r.Status)
	}
	for range 3 * maxTickets {
		x.d.Entrance()
	}
	if n := len(x.d.keys.tickets); n > maxTickets {
		t.Errorf("%d tickets are kept", n)
	}
}

// A pass signs a browser in, any number of times, and opens nothing else.
func TestPass(t *testing.T) {
	x, y := serve(t, Options{Token: webtest.Token}), serve(t, Options{Token: webtest.Token})
	pass := x.d.Entrance().Pass
	if r := x.Get("/api/sessions", webtest.With(pass)); r.Status != http.StatusUnauthorized {
		t.Errorf("a pass opens more than the log-in: %d", r.Status)
	}
	for range 2 {
		if status := x.Browse("/api/sessions", x.SignIn(pass)); status != http.StatusOK {
			t.Errorf("with a session for a pass: %d", status)
		}
	}
	if r := y.Do("POST", loginPath, "", webtest.With(pass)); r.Status != http.StatusUnauthorized {
		t.Errorf("at another server with the same token: %d", r.Status)
	}
	if r := x.Do("POST", "/api/ticket", "", webtest.With(pass)); r.Status != http.StatusUnauthorized {
		t.Errorf("a ticket for a pass: %d", r.Status)
	}
}

// The server's own name appears only in addresses of this machine.
func TestEntranceAt(t *testing.T) {
	e := Entrance{Name: "b123.localhost"}
	if !resolvable(e.Name) {
		e.Name = "localhost"
	}
	for url, want := range map[string]string{
		"http://127.0.0.1:7483/": "http://" + e.Name + ":7483/", "http://localhost:1/": "http://" + e.Name + ":1/", "http://[::1]:1/": "http://" + e.Name + ":1/",
		"https://127.0.0.1:7483/": "https://127.0.0.1:7483/", "http://box.lan:7483/": "http://box.lan:7483/", "http://192.0.2.7:1/": "http://192.0.2.7:1/",
	} {
		if got := e.At(url); got != want {
			t.Errorf("%s: %s, want %s", url, got, want)
		}
	}
	if a, b := newName(), newName(); a == b || !address.Loopback(a) {
		t.Errorf("names %s and %s", a, b)
	}
}
