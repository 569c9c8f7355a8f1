// Package ctl carries a user's orders to a session of another machine of the fleet: an answer,
// a reply, a stop. It is off unless the session's machine names the user (setting
// answers_from_fleet).
//
// A message is signed with the key of its sender's access, and contains that access, which the
// fleet's account has signed; so does the reply. The receiver trusts nothing else: not the
// hub, which may pass on anything from anybody, and no clock of another machine. An order
// contains a one-time number that the owner gave to the same key for the same session moments
// before (Look): an order that is old, copied or meant for another machine is refused.
//
// It does not stop the hub's administrator, who can issue accesses in anybody's name, unless
// the setting names a key, and can read what passes through.
package ctl

import (
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"time"

	"beckon/render"

	"github.com/nats-io/jwt/v2"
	"github.com/nats-io/nkeys"
)

// root is the prefix of every subject of this package.
const root = "beckon.ctl."

// version is the number of the format, and part of what is signed.
const version = "beckon ctl 1"

// maxMessage is the size limit of a message, in bytes.
const maxMessage = 64 << 10

// Subject returns the subject on which a link receives messages from a key. A link is named by
// its user, host, node and instance, each one part of a key.
func Subject(link, key string) string { return root + link + "." + key }

// Heard returns the subjects that a host listens to, for all its links.
func Heard(user, host string) string { return root + user + "." + host + ".>" }

// Spoken returns the subjects that a key may publish on, to the hosts of a user or, for "*",
// of all.
func Spoken(user, key string) string { return root + user + ".*.*.*." + key }

// Inbox returns the prefix of the subjects on which a key gets replies.
func Inbox(key string) string { return "_INBOX_beckon_" + key }

// Name returns the name of an access in its JWT, from which both names can be parsed.
func Name(user, host string) string { return url.PathEscape(user) + "/" + url.PathEscape(host) }

// Who is a sender.
type Who struct {
	User string // of the access
	Host string // the host of its access; empty for one that only reads
	Key  string // its public key
}

// String returns the sender's name in a printable line.
func (w Who) String() string {
	if w.Host == "" {
		return render.OneLine(w.User)
	}
	return render.OneLine(w.User + " at " + w.Host)
}

// Identity is an access as a signer.
type Identity struct {
	Who
	pair    nkeys.KeyPair
	token   string // the access's JWT
	account string // who signed it
}

// NewIdentity returns the identity of an access.
func NewIdentity(token, seed string) (*Identity, error) {
	if token == "" {
		return nil, errors.New("this hub asks for no credentials, so nobody can tell who answers")
	}
	c, err := jwt.DecodeUserClaims(token)
	if err != nil {
		return nil, fmt.Errorf("reading the access: %w", err)
	}
	pair, err := nkeys.FromSeed([]byte(seed))
	if err != nil {
		return nil, fmt.Errorf("reading the access's key: %w", err)
	}
	who, err := whoOf(c)
	if err != nil {
		return nil, err
	}
	if key, err := pair.PublicKey(); err != nil || key != who.Key {
		return nil, errors.New("the access and its key are not of each other")
	}
	return &Identity{who, pair, token, c.Issuer}, nil
}

func whoOf(c *jwt.UserClaims) (Who, error) {
	user, host, ok := strings.Cut(c.Name, "/")
	u, err := url.PathUnescape(user)
	h, err2 := url.PathUnescape(host)
	if !ok || errors.Join(err, err2) != nil || u == "" || Name(u, h) != c.Name {
		return Who{}, fmt.Errorf("the access %q is of an earlier beckon: it needs another invite", c.Name)
	}
	return Who{u, h, c.Subject}, nil
}

// envelope is a message on the wire.
type envelope struct {
	Access string `json:"access"`
	Body   []byte `json:"body"`
	Sig    []byte `json:"sig"`
}

// signed returns the text that is signed: the subject, the reply subject, the access, and the
// body. Subjects have no line breaks.
func signed(subject, reply, access string, body []byte) []byte {
	return append(fmt.Appendf(nil, "%s\n%s\n%s\n%x\n", version, subject, reply, sha256.Sum256([]byte(access))), body...)
}

// Seal returns a signed message for a subject.
func (id *Identity) Seal(subject, reply string, v any) ([]byte, error) {
	body, err := json.Marshal(v)
	if err != nil {
		return nil, err
	}
	sig, err := id.pair.Sign(signed(subject, reply, id.token, body))
	if err != nil {
		return nil, err
	}
	return json.Marshal(envelope{id.token, body, sig})
}

// forged returns an error for a message that does not prove its sender.
func forged(format string, args ...any) error {
	return fmt.Errorf("nobody who may is seen to have sent this: "+format, args...)
}

// open parses the body of a message into v, if somebody of the same fleet has signed it for
// that subject and reply; may says what the sender's access must allow.
func (id *Identity) open(subject, reply string, data []byte, now time.Time, may func(*jwt.UserClaims) bool, v any) (Who, error) {
	var e envelope
	if len(data) > maxMessage || json.Unmarshal(data, &e) != nil {
		return Who{}, forged("it is not a message")
	}
	c, err := jwt.DecodeUserClaims(e.Access) // checks the signature of its issuer
	switch {
	case err != nil:
		return Who{}, forged("its access: %v", err)
	case c.Issuer != id.account:
		return Who{}, forged("its access is of another fleet")
	case c.Expires != 0 && now.Unix() >= c.Expires || c.NotBefore > now.Unix():
		return Who{}, forged("its access has ended")
	case !may(c):
		return Who{}, forged("its access does not allow this")
	}
	who, err := whoOf(c)
	if err != nil {
		return who, forged("%v", err)
	}
	key, err := nkeys.FromPublicKey(c.Subject)
	if err != nil || !nkeys.IsValidPublicUserKey(c.Subject) {
		return who, forged("its access has no user's key")
	}
	if key.Verify(signed(subject, reply, e.Access, e.Body), e.Sig) != nil {
		return who, forged("the signature is not of %s", who)
	}
	if err := json.Unmarshal(e.Body, v); err != nil {
		return who, forged("its body: %v", err)
	}
	return who, nil
}

// permits reports whether an access may itself publish on a subject of a link. The hub
// enforces this for direct messages, but not for what it delivers on a viewer's behalf.
func permits(c *jwt.UserClaims, link string) bool {
	user, _, _ := strings.Cut(link, ".")
	return slices.Contains(c.Pub.Allow, Spoken(user, c.Subject)) || slices.Contains(c.Pub.Allow, Spoken("*", c.Subject))
}
