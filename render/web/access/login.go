package access

import (
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/base32"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"time"

	"beckon/event/plainfile"
	"beckon/event/typed"

	"github.com/SherClockHolmes/webpush-go"
)

// scopes are the tokens for programs that should not have the owner's.
var scopes = map[string]Scope{"read": Read, "events": Events, "answer": Read | Answer}

// ScopedToken returns the token of a scope ("read", "events", "answer"). It is derived from the
// owner's, with which it ends.
func ScopedToken(token, scope string) string { return seal(token, "scope "+scope) }

// seal computes from words a value that requires the key.
func seal(key, words string) string {
	return strings.ToLower(base32.StdEncoding.EncodeToString(mac(key, words))[:26]) // 130 bits
}

func mac(key, words string) []byte {
	h := hmac.New(sha256.New, []byte(key))
	h.Write([]byte(words))
	return h.Sum(nil)
}

// same compares in a time that reveals nothing, not even the length.
func same(a, b string) bool {
	x, y := sha256.Sum256([]byte(a)), sha256.Sum256([]byte(b))
	return subtle.ConstantTimeCompare(x[:], y[:]) == 1
}

// Fingerprint identifies a token, and reveals nothing else of it.
func Fingerprint(token string) string { return seal(token, "fingerprint")[:8] }

func newKey() string { return strings.ToLower(rand.Text()) }

// newName returns a name that a browser resolves to this machine.
func newName() string { return "b" + newKey()[:12] + ".localhost" }

var nameForm = regexp.MustCompile(`^b[a-z2-7]{12}\.localhost$`)

// IsName reports whether name is one that newName returns.
func IsName(name string) bool { return nameForm.MatchString(name) }

// codeFor is how long a code signs in.
const codeFor = 10 * time.Minute

// Code makes a code that signs one browser in, once, at the server of that name: kind, end, a
// random word, and a seal with the owner's token. One for this machine (here) works only over
// loopback, and for no other user: others may see it on the command line of a browser.
func Code(token, name string, here bool, now time.Time) string {
	kind := "a"
	if here {
		kind = "h"
	}
	head := kind + strconv.FormatInt(now.Add(codeFor).Unix(), 36) + "." + newKey()[:8]
	return head + "." + seal(token, "code "+name+" "+head)
}

// take reports whether code is one that was not used, and uses it up.
func (g *Guard) take(code string, here bool, now time.Time) bool {
	at := strings.LastIndexByte(code, '.')
	if at < 2 || !same(code[at+1:], seal(g.o.Token, "code "+g.name+" "+code[:at])) || code[0] == 'h' && !here {
		return false
	}
	end, _, _ := strings.Cut(code[1:at], ".")
	unix, err := strconv.ParseInt(end, 36, 64)
	until := time.Unix(unix, 0)
	g.mu.Lock()
	defer g.mu.Unlock()
	if _, again := g.used[code]; again || err != nil || !now.Before(until) {
		return false
	}
	maps.DeleteFunc(g.used, func(_ string, until time.Time) bool { return now.After(until) })
	g.used[code] = until
	return true
}

// SignedIn is the response to a browser that signs in.
type SignedIn struct {
	Session string `json:"session"` // to send as a bearer token
}

// Login serves POST /api/login: a session for a code.
func (g *Guard) Login(_ http.ResponseWriter, r *http.Request) (any, error) {
	code, now, c := strings.TrimPrefix(r.Header.Get("Authorization"), "Bearer "), time.Now(), connOf(r)
	here := isLocal(c.Conn) && !c.peer.IsAnother() && !forwarded(r)
	if !g.take(code, here, now) {
		fault := g.refuseKey(c.peer)
		g.o.Refused(fault.Code)
		return nil, fault
	}
	// Another user's server may take a port of loopback when this one ends, and a page of its own
	// there finds what a browser keeps for that address. So a session of loopback ends with the
	// server, and one of an address that leads elsewhere is kept.
	kept := !Loopback(Host(r.Host))
	return SignedIn{g.begin(c.peer, kept, now)}, nil
}

// Logout serves POST /api/logout: it ends the session that sends it.
func (g *Guard) Logout(_ http.ResponseWriter, r *http.Request) (any, error) {
	if s := callerOf(r).session; s != nil {
		g.mu.Lock()
		defer g.mu.Unlock()
		g.end(s)
	}
	return Done, nil
}

// Proof is the response to a page that asks the server for a proof.
type Proof struct {
	Proof string `json:"proof"`
}

// Prove serves GET /api/proof?session=ID&words=WORDS. When this server has ended, another user's
// program may take its port, so a page sends its session only to a server that proves to know it.
func (g *Guard) Prove(_ http.ResponseWriter, r *http.Request) (any, error) {
	q := r.URL.Query()
	g.mu.Lock()
	s := g.sessions[q.Get("session")]
	g.mu.Unlock()
	if words := q.Get("words"); s != nil && s.User == connOf(r).peer && len(words) >= keyBits/4 {
		return Proof{hex.EncodeToString(mac(s.Digest, "proof "+words))}, nil
	}
	return nil, errUnauthorized
}

// Link returns url ("http://host:port/") with a code, and with the server's own name if it is an
// address of this machine.
func Link(token, name, url string) string {
	host, port, err := net.SplitHostPort(strings.TrimSuffix(strings.TrimPrefix(url, "http://"), "/"))
	here := err == nil && Loopback(host)
	if here && resolvable(name) {
		url = "http://" + net.JoinHostPort(name, port) + "/"
	}
	return fmt.Sprintf("%s#code=%s", url, Code(token, name, here, time.Now()))
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

const (
	keyBits     = 128                 // of a token, at least
	maxSessions = 64                  // signed-in browsers; the longest idle one is dropped
	sessionFor  = 90 * 24 * time.Hour // without use
	usedEvery   = 24 * time.Hour      // how exactly the file tells when a session was used
	maxFile     = 256 << 10
)

// session is a signed-in browser: "ID.SECRET", of which the server keeps the id and the secret's
// digest. It works only for the user who signed in: a page of http://localhost sends it to whatever
// listens on the port at 127.0.0.1 or at ::1.
type session struct {
	Digest string    `json:"digest"`
	User   Peer      `json:"user,omitempty"`
	Used   time.Time `json:"used"`
	Token  string    `json:"token"` // the fingerprint of the owner's
	Device *Device   `json:"device,omitempty"`
	id     string
	kept   bool          // over a restart
	over   chan struct{} // closed when it ends
}

// Device is how a signed-in browser is told by Web Push.
type Device struct {
	webpush.Subscription
	Site string `json:"site,omitempty"` // the page's address, which a push service is given as the sender
	Done bool   `json:"done,omitempty"` // it is told of the end of turns, too
}

func (g *Guard) file() string { return filepath.Join(g.o.Dir, "browsers.json") }

// load reads the sessions that were kept.
func (g *Guard) load() {
	all, token := map[string]*session{}, Fingerprint(g.o.Token)
	if b, err := plainfile.Head(g.file(), make([]byte, maxFile)); err == nil && g.o.Dir != "" {
		_ = json.Unmarshal(b, &all) // of a broken file nobody is signed in
	}
	for id, v := range all {
		if v != nil && time.Since(v.Used) <= sessionFor && len(v.Digest) == 2*sha256.Size && v.Token == token {
			v.id, v.kept, v.over = id, true, make(chan struct{})
			g.sessions[id] = v
		}
	}
}

// saveIf writes the sessions that are kept, if one of them has changed. Like end it needs g.mu.
func (g *Guard) saveIf(changed bool) {
	if !changed || g.o.Dir == "" {
		return
	}
	kept := maps.Clone(g.sessions)
	maps.DeleteFunc(kept, func(_ string, v *session) bool { return !v.kept })
	b, err := json.Marshal(kept)
	if err == nil {
		err = plainfile.Write(g.file(), b, 0o600, true)
	}
	g.o.Log(err)
}

// Session returns the id of the browser's session that r belongs to, "" for none, and a channel that
// is closed when it ends.
func (g *Guard) Session(r *http.Request) (id string, over <-chan struct{}) {
	if s := callerOf(r).session; s != nil {
		return s.id, s.over
	}
	return "", nil
}

// Devices returns how signed-in browsers are told, by their sessions' ids.
func (g *Guard) Devices() map[string]Device {
	g.mu.Lock()
	defer g.mu.Unlock()
	devices := map[string]Device{}
	for id, v := range g.sessions {
		if v.Device != nil {
			devices[id] = *v.Device
		}
	}
	return devices
}

// SetDevice sets how the browser of a session is told, nil for not at all.
func (g *Guard) SetDevice(id string, d *Device) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if v := g.sessions[id]; v != nil {
		v.Device = d
		g.saveIf(v.kept)
	}
}

func digestOf(secret string) string {
	sum := sha256.Sum256([]byte(secret))
	return hex.EncodeToString(sum[:])
}

// find returns the session with a key of one of user's browsers, nil if there is none, and records
// its use.
func (g *Guard) find(key string, user Peer) *session {
	id, secret, _ := strings.Cut(key, ".")
	g.mu.Lock()
	defer g.mu.Unlock()
	v := g.sessions[id]
	if v == nil || v.User != user || !same(digestOf(secret), v.Digest) {
		return nil
	}
	now := time.Now()
	stale := now.Sub(v.Used) > usedEvery
	v.Used = now
	g.saveIf(v.kept && stale)
	return v
}

// begin creates a session, and returns its key.
func (g *Guard) begin(user Peer, kept bool, now time.Time) string {
	id, secret := newKey()[:16], newKey()
	g.mu.Lock()
	defer g.mu.Unlock()
	if len(g.sessions) >= maxSessions {
		all := slices.Collect(maps.Values(g.sessions))
		g.end(slices.MinFunc(all, func(a, b *session) int { return a.Used.Compare(b.Used) }))
	}
	token := Fingerprint(g.o.Token)
	g.sessions[id] = &session{digestOf(secret), user, now, token, nil, id, kept, make(chan struct{})}
	g.saveIf(kept)
	return id + "." + secret
}

// end ends a session, unless it has ended.
func (g *Guard) end(v *session) {
	if g.sessions[v.id] != v {
		return
	}
	close(v.over)
	delete(g.sessions, v.id)
	g.saveIf(v.kept)
}

// A token has at least 128 bits: 32 digits if it is hexadecimal, else 22 characters, as in base64.
var (
	tokenForm = regexp.MustCompile(`^[\w+/=-]{22,}$`)
	shortHex  = regexp.MustCompile(`^[[:xdigit:]]{0,31}$`)
)

// Token returns the token stored in the state directory dir. It makes one the first time, and
// instead of a file that has none, which a power cut can leave.
func Token(dir string) (string, error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return "", fmt.Errorf("making a token: %w", err)
	}
	path, made := filepath.Join(dir, "token"), rand.Text()
	err := plainfile.Create(path, []byte(made+"\n"))
	if !errors.Is(err, fs.ErrExist) {
		return made, err
	}
	if token, err := readToken(path); err != nil || token != "" {
		return token, err
	}
	return made, plainfile.Write(path, []byte(made+"\n"), 0o600, true)
}

// readToken returns the token in the file at path, empty if it has none.
func readToken(path string) (string, error) {
	info, err := os.Lstat(path)
	if err != nil {
		return "", fmt.Errorf("reading the token: %w", err)
	}
	if !info.Mode().IsRegular() || runtime.GOOS != "windows" && info.Mode().Perm()&0o077 != 0 {
		return "", typed.Advise(fmt.Errorf("%s is not yours alone, so others may know it", path),
			"remove it: the next start makes a new one")
	}
	b, err := os.ReadFile(path)
	token := strings.TrimSpace(string(b))
	if err != nil || !tokenForm.MatchString(token) || shortHex.MatchString(token) {
		return "", err
	}
	return token, nil
}
