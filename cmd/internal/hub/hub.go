// Package hub manages a fleet's hub as files: the configuration of a NATS server, the keys
// that sign who may do what on it, and the accesses that were issued. Accounts, users and
// revocations are NATS's own JWTs, so any NATS server from 2.10 on accepts them.
package hub

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"beckon/event/atomicfile"
	"beckon/render/fleet/bus"
	"beckon/render/fleet/ctl"

	"github.com/gofrs/flock"
	"github.com/nats-io/jwt/v2"
	"github.com/nats-io/nats.go"
	"github.com/nats-io/nkeys"
)

// The files of a hub's directory. Anyone who can read stateFile controls the hub.
const (
	stateFile  = "fleet.json"
	configFile = "hub.conf"
	certFile   = "cert.pem"
	keyFile    = "key.pem"
	lockFile   = "lock"
)

// Hub is a hub's directory.
type Hub struct {
	Dir string
	state
}

// key is a key of the hub, stored as its seed.
type key struct {
	nkeys.KeyPair
	name string // what is public of it
}

func (k *key) set(pair nkeys.KeyPair) (err error) {
	k.KeyPair = pair
	k.name, err = pair.PublicKey()
	return err
}

// MarshalText implements encoding.TextMarshaler.
func (k key) MarshalText() ([]byte, error) { return k.Seed() }

// UnmarshalText implements encoding.TextUnmarshaler.
func (k *key) UnmarshalText(seed []byte) error {
	pair, err := nkeys.FromSeed(seed)
	if err != nil {
		return err
	}
	return k.set(pair)
}

// state is the content of stateFile.
type state struct {
	URL      string             `json:"url"`
	Listen   string             `json:"listen"`
	Pin      string             `json:"ca,omitempty"`
	Operator key                `json:"operator_seed"`
	Account  key                `json:"account_seed"`
	System   key                `json:"system_seed"`
	Revoked  map[string]int64   `json:"revoked,omitempty"` // keys of accesses, and when they were revoked
	Given    map[string][]given `json:"given,omitempty"`   // by the name of a host or viewer
}

// given is one issued access.
type given struct {
	Key  string    `json:"key"`
	User string    `json:"user"`
	Host string    `json:"host,omitempty"`
	View bool      `json:"view,omitempty"`
	At   time.Time `json:"at"`
}

// ErrUnnamed is the error for a hub beyond loopback that has no name.
var ErrUnnamed = errors.New("it lacks the name by which other machines reach it")

// Init creates a hub in dir that listens on an address and is reached by names; tokens contain
// the first. A hub beyond loopback gets a certificate of its own.
func Init(dir, listen string, names []string) (*Hub, error) {
	host, port, err := net.SplitHostPort(listen)
	if err != nil {
		return nil, fmt.Errorf("listening at %q: %w", listen, err)
	}
	if _, err := os.Stat(filepath.Join(dir, stateFile)); err == nil {
		return nil, fmt.Errorf("%s has a hub already", dir)
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, err
	}
	if dir, err = filepath.Abs(dir); err != nil {
		return nil, err
	}
	h := &Hub{Dir: dir, state: state{Listen: listen, URL: "nats://" + net.JoinHostPort(cmp.Or(host, "127.0.0.1"), port)}}
	if ip := net.ParseIP(host); ip == nil && host != "localhost" || ip != nil && !ip.IsLoopback() {
		if len(names) == 0 {
			return nil, ErrUnnamed
		}
		if h.Pin, err = makeCertificate(filepath.Join(dir, certFile), filepath.Join(dir, keyFile), names); err != nil {
			return nil, err
		}
		h.URL = "tls://" + net.JoinHostPort(names[0], port)
	}
	for k, create := range map[*key]func() (nkeys.KeyPair, error){&h.Operator: nkeys.CreateOperator, &h.Account: nkeys.CreateAccount, &h.System: nkeys.CreateAccount} {
		pair, err := create()
		if err == nil {
			err = k.set(pair)
		}
		if err != nil {
			return nil, err
		}
	}
	return h, errors.Join(h.save(), h.writeConfig())
}

// Open opens the hub in dir.
func Open(dir string) (*Hub, error) {
	data, err := os.ReadFile(filepath.Join(dir, stateFile))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("%s has no hub", dir)
	}
	if err != nil {
		return nil, err
	}
	h := &Hub{Dir: dir}
	if err := json.Unmarshal(data, &h.state); err != nil {
		return nil, fmt.Errorf("reading the hub in %s: %w", dir, err)
	}
	if slices.Contains([]string{h.Operator.name, h.Account.name, h.System.name}, "") {
		return nil, fmt.Errorf("reading the hub in %s: %s lacks a key", dir, stateFile)
	}
	return h, nil
}

// change calls f with the state as other processes left it, while none of them changes it.
func (h *Hub) change(f func() error) error {
	lock := flock.New(filepath.Join(h.Dir, lockFile))
	if err := lock.Lock(); err != nil {
		return fmt.Errorf("locking the hub in %s: %w", h.Dir, err)
	}
	defer func() { _ = lock.Unlock() }()
	now, err := Open(h.Dir)
	if err != nil {
		return err
	}
	h.state = now.state
	return f()
}

// Config returns the path of the server's configuration.
func (h *Hub) Config() string { return filepath.Join(h.Dir, configFile) }

func (h *Hub) save() error {
	data, err := json.MarshalIndent(h.state, "", "  ")
	if err != nil {
		return err
	}
	return atomicfile.Write(filepath.Join(h.Dir, stateFile), append(data, '\n'), 0o600, true)
}

// Limits on what a fleet may do on its hub, so that a faulty link fills neither its disk nor
// its memory.
const (
	maxStore   = 2 << 30
	maxPayload = 64 << 10
	maxViewers = 1000
)

// claims returns the fleet's signed account, with the revoked accesses.
func (h *Hub) claims() (string, error) {
	c := jwt.NewAccountClaims(h.Account.name)
	c.Name = "beckon"
	c.Limits.JetStreamLimits = jwt.JetStreamLimits{MemoryStorage: maxStore, DiskStorage: maxStore, Streams: 2, Consumer: maxViewers}
	c.Limits.Payload = maxPayload
	c.Revocations = h.Revoked
	return c.Encode(h.Operator)
}

// writeConfig writes the server's configuration.
func (h *Hub) writeConfig() error {
	o := jwt.NewOperatorClaims(h.Operator.name)
	o.Name, o.SystemAccount = "beckon", h.System.name
	operatorJWT, err := o.Encode(h.Operator)
	if err != nil {
		return err
	}
	s := jwt.NewAccountClaims(h.System.name)
	s.Name = "system"
	systemJWT, err := s.Encode(h.Operator)
	if err != nil {
		return err
	}
	accountJWT, err := h.claims()
	if err != nil {
		return err
	}
	var b strings.Builder
	fmt.Fprintf(&b, `# A beckon fleet's hub, for any NATS server from 2.10 on:  nats-server -c %[1]s
# beckon fleet init wrote it. No listener but this one is on.
listen: %[2]q
max_payload: %[3]d
operator: %[4]s
system_account: %[5]s
resolver {
  type: full
  dir: %[6]q
  allow_delete: false
}
resolver_preload {
  %[5]s: %[7]s
  %[8]s: %[9]s
}
jetstream {
  store_dir: %[10]q
  max_mem: %[11]d
  max_file: %[11]d
}
`, h.Config(), h.Listen, maxPayload, operatorJWT, h.System.name, filepath.Join(h.Dir, "accounts"), systemJWT, h.Account.name, accountJWT, filepath.Join(h.Dir, "jetstream"), maxStore)
	if h.Pin != "" {
		fmt.Fprintf(&b, "tls {\n  cert_file: %q\n  key_file: %q\n  min_version: \"1.3\"\n}\n", filepath.Join(h.Dir, certFile), filepath.Join(h.Dir, keyFile))
	}
	return atomicfile.Write(h.Config(), []byte(b.String()), 0o600, true)
}

// sign creates a's credentials in an account; may has its permissions, nil means all.
func (h *Hub) sign(a *bus.Access, account key, name string, expires time.Time, may func(key string) jwt.Permissions) (key string, err error) {
	user, err := nkeys.CreateUser()
	if err != nil {
		return "", err
	}
	if key, err = user.PublicKey(); err != nil {
		return "", err
	}
	seed, err := user.Seed()
	if err != nil {
		return "", err
	}
	c := jwt.NewUserClaims(key)
	c.Name = name
	if may != nil {
		c.Permissions = may(key)
	}
	if !expires.IsZero() {
		c.Expires = expires.Unix()
	}
	a.URL, a.CA, a.Seed = h.URL, h.Pin, string(seed)
	a.JWT, err = c.Encode(account)
	return key, err
}

// Invite issues an access: to publish as a.Host, to see, or both.
func (h *Hub) Invite(a bus.Access, expires time.Time) (bus.Access, error) {
	if a.User == "" || a.Host == "" && !a.View && !a.All {
		return a, errors.New("an access is a user's, for a host or to see")
	}
	key, err := h.sign(&a, h.Account, ctl.Name(a.User, a.Host), expires, a.Permissions)
	if err != nil {
		return a, err
	}
	return a, h.change(func() error {
		if h.Given == nil {
			h.Given = map[string][]given{}
		}
		name := cmp.Or(a.Host, a.User)
		h.Given[name] = append(h.Given[name], given{key, a.User, a.Host, a.View || a.All, time.Now().UTC()})
		return h.save()
	})
}

// Names returns the names that have an access.
func (h *Hub) Names() []string {
	return slices.Sorted(maps.Keys(h.Given))
}

// Revoke revokes all accesses of a name. It returns their number, and the users whose hosts of
// that name can no longer publish. Push tells a running server.
func (h *Hub) Revoke(name string) (n int, users []string, err error) {
	return n, users, h.change(func() error {
		list := h.Given[name]
		if n = len(list); n == 0 {
			return fmt.Errorf("%q has no access: none was given, or it is revoked", name)
		}
		if h.Revoked == nil {
			h.Revoked = map[string]int64{}
		}
		for _, g := range list {
			// A server compares it with when the access was issued, maybe by a clock that was ahead.
			h.Revoked[g.Key] = max(time.Now().Unix(), g.At.Unix())
			if g.Host != "" && !slices.Contains(users, g.User) {
				users = append(users, g.User)
			}
		}
		delete(h.Given, name)
		return errors.Join(h.save(), h.writeConfig())
	})
}

// Push sends the present account to the running server.
func (h *Hub) Push(ctx context.Context) error {
	token, err := h.claims()
	if err != nil {
		return err
	}
	nc, err := h.dial(h.System)
	if err != nil {
		return err
	}
	defer nc.Close()
	reply, err := nc.RequestWithContext(ctx, "$SYS.REQ.CLAIMS.UPDATE", []byte(token))
	if err != nil {
		return fmt.Errorf("telling the hub at %s: %w", h.URL, err)
	}
	var said struct {
		Error *struct{ Description string }
	}
	if err := json.Unmarshal(reply.Data, &said); err == nil && said.Error != nil {
		return fmt.Errorf("the hub at %s: %s", h.URL, said.Error.Description)
	}
	return nil
}

// Dial connects to the server with every permission.
func (h *Hub) Dial(more ...nats.Option) (*nats.Conn, error) { return h.dial(h.Account, more...) }

// dial connects as the owner of an account.
func (h *Hub) dial(account key, more ...nats.Option) (*nats.Conn, error) {
	var a bus.Access
	if _, err := h.sign(&a, account, "owner", time.Now().Add(time.Hour), nil); err != nil {
		return nil, err
	}
	return bus.DialOnce(a, more...)
}

// Forget removes the rows that users' hosts of a name have published.
func (h *Hub) Forget(ctx context.Context, name string, users []string) error {
	nc, err := h.Dial()
	if err != nil {
		return err
	}
	defer nc.Close()
	for _, user := range users {
		err = errors.Join(err, bus.Forget(ctx, nc, user, name))
	}
	return err
}

// Prepare creates the bucket on the running server.
func (h *Hub) Prepare(ctx context.Context, replicas int, more ...nats.Option) error {
	nc, err := h.Dial(more...)
	if err != nil {
		return err
	}
	defer nc.Close()
	return bus.Make(ctx, nc, replicas, false)
}
