package bus

import (
	"crypto/sha256"
	"crypto/tls"
	"crypto/x509"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"strings"
	"time"

	"beckon/render/fleet"
	"beckon/render/fleet/ctl"

	"github.com/nats-io/jwt/v2"
	"github.com/nats-io/nats.go"
	"github.com/nats-io/nkeys"
)

// Access says how to reach a hub, and as whom.
type Access struct {
	URL  string `json:"url"`
	User string `json:"user"`           // whose rows they are
	Host string `json:"host,omitempty"` // empty for an access that can only read
	View bool   `json:"view,omitempty"` // may see the rows of the user's hosts
	All  bool   `json:"all,omitempty"`  // of every user's
	// Answer: it may answer for the sessions that it sees, if their hosts allow it.
	Answer bool   `json:"answer,omitempty"`
	JWT    string `json:"jwt,omitempty"` // NATS's own, with the seed of its key
	Seed   string `json:"seed,omitempty"`
	CA     string `json:"ca,omitempty"` // the SHA-256 of the key of the authority that signs the hub's certificate
}

// tokenPrefix begins every token, so that secret scanners and people recognize it.
const tokenPrefix = "beckon-fleet-"

// Token returns the access in one line. It is a secret: it grants the access.
func (a Access) Token() string {
	data, _ := json.Marshal(a)
	return tokenPrefix + base64.RawURLEncoding.EncodeToString(data)
}

// ReadToken parses the result of Token.
func ReadToken(s string) (Access, error) {
	var a Access
	rest, ok := strings.CutPrefix(strings.TrimSpace(s), tokenPrefix)
	data, err := base64.RawURLEncoding.DecodeString(rest)
	if !ok || err != nil || json.Unmarshal(data, &a) != nil {
		return Access{}, errors.New("this is not a token of beckon fleet invite")
	}
	return a, a.Check()
}

// Check returns what is wrong with an access.
func (a Access) Check() error {
	u, err := url.Parse(a.URL)
	switch {
	case err != nil || u.Host == "" || u.Scheme != "nats" && u.Scheme != "tls" && u.Scheme != "ws" && u.Scheme != "wss":
		return fmt.Errorf("%q is not an address of a NATS server, as nats://HOST:4222 is", a.URL)
	case a.JWT != "" && a.Seed == "":
		return errors.New("the access has no key")
	}
	return nil
}

// Prefix returns the prefix of the keys that the access may see.
func (a Access) Prefix() string {
	if a.All || a.User == "" {
		return ""
	}
	return fleet.Token(a.User) + "."
}

func (a Access) options() ([]nats.Option, error) {
	var opts []nats.Option
	if a.JWT != "" {
		key, err := nkeys.FromSeed([]byte(a.Seed))
		if err != nil {
			return nil, fmt.Errorf("the access to %s: %w", a.URL, err)
		}
		name, err := key.PublicKey()
		if err != nil {
			return nil, fmt.Errorf("the access to %s: %w", a.URL, err)
		}
		// Replies come to subjects that only this access's JWT may listen to.
		opts = append(opts, nats.UserJWT(func() (string, error) { return a.JWT, nil }, key.Sign), nats.CustomInboxPrefix(ctl.Inbox(name)))
	}
	if a.CA != "" {
		u, err := url.Parse(a.URL)
		if err != nil {
			return nil, err
		}
		opts = append(opts, nats.Secure(pinned(a.CA, u.Hostname())))
	}
	return opts, nil
}

// identity returns the access as a signer.
func (a Access) identity() (*ctl.Identity, error) { return ctl.NewIdentity(a.JWT, a.Seed) }

// pinned accepts only a server whose certificate for name is signed by the authority with that
// key.
func pinned(pin, name string) *tls.Config {
	return &tls.Config{
		MinVersion: tls.VersionTLS13, ServerName: name,
		InsecureSkipVerify: true, // VerifyConnection does it, with the one authority that counts
		VerifyConnection: func(c tls.ConnectionState) error {
			roots := x509.NewCertPool()
			for _, cert := range c.PeerCertificates {
				if cert.IsCA && Pin(cert) == pin {
					roots.AddCert(cert)
				}
			}
			_, err := c.PeerCertificates[0].Verify(x509.VerifyOptions{Roots: roots, DNSName: name})
			if err != nil {
				return fmt.Errorf("it is not the hub that gave the token: %w", err)
			}
			return nil
		},
	}
}

// Pin identifies the key of a certificate.
func Pin(cert *x509.Certificate) string {
	sum := sha256.Sum256(cert.RawSubjectPublicKeyInfo)
	return hex.EncodeToString(sum[:])
}

// answerWithin is how long after a message a host may publish its reply.
const answerWithin = time.Minute

// Permissions returns what a server must allow the access with that public key, and nothing
// more.
func (a Access) Permissions(key string) jwt.Permissions {
	var p jwt.Permissions
	api := "$JS.API."
	p.Sub.Allow.Add(ctl.Inbox(key) + ".>")
	if a.Host != "" {
		own := subjects + fleet.Token(a.User) + "." + fleet.Token(a.Host) + "."
		p.Pub.Allow.Add(own+"*.p", own+"*.r.*", api+"DIRECT.GET."+Stream+"."+own+"*.p")
		p.Sub.Allow.Add(ctl.Heard(fleet.Token(a.User), fleet.Token(a.Host)))
		p.Resp = &jwt.ResponsePermission{MaxMsgs: 1, Expires: answerWithin}
	}
	if a.View || a.All {
		p.Pub.Allow.Add(api+"CONSUMER.CREATE."+Stream+".*."+subjects+a.Prefix()+">",
			api+"CONSUMER.MSG.NEXT."+Stream+".*", api+"CONSUMER.DELETE."+Stream+".*", api+"CONSUMER.INFO."+Stream+".*")
		if a.Answer {
			user := fleet.Token(a.User)
			if a.All {
				user = "*"
			}
			p.Pub.Allow.Add(ctl.Spoken(user, key))
		}
	}
	return p
}
