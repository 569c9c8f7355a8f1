package fleet

import (
	"crypto/sha256"
	"crypto/tls"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"strings"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nkeys"
)

// Credential says how to reach a server, and as whom. The server has it without the private key.
type Credential struct {
	URL  string `json:"url,omitempty"`
	User string `json:"user"`           // whose rows they are
	Host string `json:"host,omitempty"` // empty for an access that can only read
	View bool   `json:"view,omitempty"` // may see the rows of all hosts of the user
	Seed string `json:"seed,omitempty"` // the private key; empty for a server that asks for none
	Key  string `json:"key,omitempty"`  // the public one
	CA   string `json:"ca,omitempty"`   // the SHA-256 of the key of the server's certificate
}

// tokenPrefix begins every token, so that secret scanners and people recognize it.
const tokenPrefix = "beckon-fleet-"

// Token returns the access in one line. It is a secret: it grants the access.
func (a Credential) Token() string {
	data, _ := json.Marshal(a)
	return tokenPrefix + base64.RawURLEncoding.EncodeToString(data)
}

// ReadToken parses the result of Token.
func ReadToken(s string) (Credential, error) {
	var a Credential
	rest, ok := strings.CutPrefix(strings.TrimSpace(s), tokenPrefix)
	data, err := base64.RawURLEncoding.DecodeString(rest)
	if !ok || err != nil || json.Unmarshal(data, &a) != nil {
		return Credential{}, errors.New("this is not a token of beckon fleet invite")
	}
	return a, a.Check()
}

// Check returns what is wrong with an access.
func (a Credential) Check() error {
	u, err := url.Parse(a.URL)
	if err != nil || u.Host == "" || u.Scheme != "nats" && u.Scheme != "tls" && u.Scheme != "ws" && u.Scheme != "wss" {
		return fmt.Errorf("%q is not an address of a NATS server, as nats://HOST:4222 is", a.URL)
	}
	return nil
}

// pinned accepts only a server that proves to have that key.
func pinned(pin string) *tls.Config {
	return &tls.Config{
		MinVersion:         tls.VersionTLS13,
		InsecureSkipVerify: true, // VerifyConnection does it, with the one key that counts
		VerifyConnection: func(c tls.ConnectionState) error {
			if Pin(c.PeerCertificates[0].RawSubjectPublicKeyInfo) != pin {
				return errors.New("it is not the hub that gave the token")
			}
			return nil
		},
	}
}

// Pin identifies the public key of a certificate.
func Pin(key []byte) string {
	return fmt.Sprintf("%x", sha256.Sum256(key))
}

// Permissions are the subjects that a server must let an access publish on and subscribe to, and no
// others.
func (a Credential) Permissions() (publish, subscribe []string) {
	const api = "$JS.API."
	if a.Host != "" {
		publish = append(publish, a.subject(), api+"STREAM.CREATE."+stream)
	}
	if a.View {
		publish = append(publish, api+"CONSUMER.CREATE."+stream+".*."+subjects+">",
			api+"CONSUMER.MSG.NEXT."+stream+".*", api+"CONSUMER.DELETE."+stream+".*", api+"CONSUMER.INFO."+stream+".*")
	}
	return publish, []string{inbox(a.Key) + ".>"}
}

// subject is what the host publishes its rows on.
func (a Credential) subject() string { return subjects + keyOf(a.User, a.Host) }

// inbox is the prefix of the subjects that the replies to a key come to.
func inbox(key string) string { return "_INBOX_beckon_" + key }

// patience is how long a server may take to respond, and retry when what failed is tried again, or up to
// twice as long.
const (
	patience = 5 * time.Second
	retry    = time.Second
)

// ping is the interval of pings on an idle connection, which counts as dead after two without an answer, and
// beat is Beat. Tests use less.
var ping, beat = 10 * time.Second, Beat

// dial connects to the server of an access, and keeps trying while it is away. wake receives
// when a connection was made or lost.
func dial(a Credential, name string, wake chan<- struct{}) (*nats.Conn, error) {
	changed := func() {
		select {
		case wake <- struct{}{}:
		default:
		}
	}
	return DialOnce(a,
		nats.Name(name), nats.MaxReconnects(-1), nats.RetryOnFailedConnect(true), nats.ReconnectBufSize(-1),
		nats.PingInterval(ping), nats.MaxPingsOutstanding(2),
		nats.ReconnectWait(retry), nats.ReconnectJitter(retry, retry), // not all of a fleet at once
		nats.ConnectHandler(func(*nats.Conn) { changed() }), nats.ReconnectHandler(func(*nats.Conn) { changed() }),
		nats.DisconnectErrHandler(func(*nats.Conn, error) { changed() }),
		nats.ErrorHandler(func(*nats.Conn, *nats.Subscription, error) {}), // who asked hears of it
		// a server that is being set up may accept us in a moment
		nats.IgnoreAuthErrorAbort(),
	)
}

// DialOnce connects to a server that must be there now.
func DialOnce(a Credential, more ...nats.Option) (*nats.Conn, error) {
	opts := append(more, nats.Timeout(patience))
	if a.Seed != "" {
		pair, err := nkeys.FromSeed([]byte(a.Seed))
		if err == nil && a.Key == "" { // a token of an earlier version has only the seed
			a.Key, err = pair.PublicKey()
		}
		if err != nil {
			return nil, fmt.Errorf("the access to %s: %w", a.URL, err)
		}
		// Replies come to subjects that only this key may listen to.
		opts = append(opts, nats.Nkey(a.Key, pair.Sign), nats.CustomInboxPrefix(inbox(a.Key)))
	}
	if a.CA != "" {
		opts = append(opts, nats.Secure(pinned(a.CA)))
	}
	nc, err := nats.Connect(a.URL, opts...)
	if err != nil {
		return nil, fmt.Errorf("connecting to %s: %w", a.URL, err)
	}
	return nc, nil
}
