package access

import (
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	"sync"
	"time"
)

const (
	keyBits     = 128 // of a token, at least
	maxSessions = 64  // signed-in browsers; the longest idle one is dropped
	maxTickets  = 16
	ticketFor   = time.Minute
	inviteFor   = 10 * time.Minute
	maxWrong    = 10   // wrong keys per second from one place
	maxPlaces   = 1024 // places that are counted at once
)

// keys are what opens a server: its token, and for each browser a session, which it gets for
// the token, for this server's pass, or once for a ticket (an invitation is a ticket that is
// valid from anywhere). A pass is part of the addresses that are printed: a browser may
// remember them, and send them to whatever listens there later. The pass, tickets and sessions
// belong to this server and end with it, so a program that takes over its port and sees them
// can open nothing. A session works only for the user who signed in: a page of
// http://localhost sends it to whatever listens on the same port at the other address that
// this name has.
type keys struct {
	token, pass string

	mu       sync.Mutex
	sessions map[string]*session
	tickets  map[string]ticket
	second   int64          // the present one, Unix time
	wrong    map[string]int // wrong keys in it, by place
}

// session is a signed-in browser.
type session struct {
	key, user string // the key's digest, and its user
	used      time.Time
	over      chan struct{} // closed when it ends
}

// ticket is a key that signs in once.
type ticket struct {
	until    time.Time
	anywhere bool // else only the owner's own browsers
}

func newKeys(token string) *keys {
	return &keys{token: token, pass: rand.Text(), sessions: map[string]*session{}, tickets: map[string]ticket{}, wrong: map[string]int{}}
}

// digest returns the hash by which keys are looked up, so that timing reveals nothing about
// them.
func digest(key string) string {
	sum := sha256.Sum256([]byte(key))
	return string(sum[:])
}

func (k *keys) isToken(given string) bool { return k.token != "" && same(given, k.token) }
func (k *keys) isPass(given string) bool  { return same(given, k.pass) }

// same compares in a time that reveals nothing, not even the length.
func same(given, key string) bool {
	return subtle.ConstantTimeCompare([]byte(digest(given)), []byte(digest(key))) == 1
}

// sessionOf identifies a session together with its user, as package peer names users.
func sessionOf(session, user string) string { return digest(session + " " + user) }

// isSession reports whether given is a session of one of user's browsers, and records its use.
func (k *keys) isSession(given, user string, now time.Time) bool {
	k.mu.Lock()
	defer k.mu.Unlock()
	s := k.sessions[sessionOf(given, user)]
	if s != nil {
		s.used = now
	}
	return s != nil
}

// begin creates a session.
func (k *keys) begin(user string, now time.Time) string {
	key := rand.Text()
	k.mu.Lock()
	defer k.mu.Unlock()
	if len(k.sessions) >= maxSessions {
		k.endLocked(oldest(k.sessions, func(s *session) time.Time { return s.used }))
	}
	k.sessions[sessionOf(key, user)] = &session{digest(key), user, now, make(chan struct{})}
	return key
}

// end ends a session.
func (k *keys) end(given, user string) {
	k.mu.Lock()
	k.endLocked(sessionOf(given, user))
	k.mu.Unlock()
}

func (k *keys) endLocked(id string) {
	if s := k.sessions[id]; s != nil {
		close(s.over)
		delete(k.sessions, id)
	}
}

// over returns a channel that is closed when the session of one of user's browsers ends; if it
// has ended, it is closed already.
func (k *keys) over(given, user string) <-chan struct{} {
	k.mu.Lock()
	defer k.mu.Unlock()
	if s := k.sessions[sessionOf(given, user)]; s != nil {
		return s.over
	}
	ended := make(chan struct{})
	close(ended)
	return ended
}

// ticket creates a key that can be exchanged once, and soon, for a session: others may see it
// on a command line.
func (k *keys) ticket(now time.Time) string { return k.admitOnce(ticket{now.Add(ticketFor), false}) }

// invite creates a key that whoever has it can exchange once for a session: a screen shows it
// to a phone.
func (k *keys) invite(now time.Time) string { return k.admitOnce(ticket{now.Add(inviteFor), true}) }

func (k *keys) admitOnce(t ticket) string {
	key := rand.Text()
	k.mu.Lock()
	defer k.mu.Unlock()
	if len(k.tickets) >= maxTickets {
		delete(k.tickets, oldest(k.tickets, func(t ticket) time.Time { return t.until }))
	}
	k.tickets[digest(key)] = t
	return key
}

// takeTicket reports whether given is a ticket, and uses it up. A ticket for the owner's own
// browsers is refused to others, and stays valid.
func (k *keys) takeTicket(given string, own bool, now time.Time) bool {
	k.mu.Lock()
	defer k.mu.Unlock()
	t, ok := k.tickets[digest(given)]
	if !ok || !own && !t.anywhere {
		return false
	}
	delete(k.tickets, digest(given))
	return now.Before(t.until)
}

// oldest returns the key of the oldest item in m.
func oldest[V any](m map[string]V, at func(V) time.Time) (name string) {
	for n, v := range m {
		if name == "" || at(v).Before(at(m[name])) {
			name = n
		}
	}
	return name
}

// guessed counts a wrong key from a place.
func (k *keys) guessed(place string, now time.Time) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if _, ok := k.wrong[place]; k.second != now.Unix() || !ok && len(k.wrong) >= maxPlaces {
		k.second = now.Unix()
		clear(k.wrong)
	}
	k.wrong[place]++
}

// guesses reports whether a place has sent so many wrong keys in this second that no token or
// ticket from it is accepted: not even the right one, or guessing could go on.
func (k *keys) guesses(place string, now time.Time) bool {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.second == now.Unix() && k.wrong[place] >= maxWrong
}
