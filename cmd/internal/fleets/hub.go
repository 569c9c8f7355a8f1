package fleets

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"beckon/event/atomicfile"
	"beckon/event/plainfile"
	"beckon/render/fleet"

	"github.com/gofrs/flock"
	"github.com/nats-io/nkeys"
)

// The files in a hub's directory: what was invited, the configuration of nats-server that is
// made from it, and the certificate.
const (
	hubFile    = "fleet.json"
	configFile = "nats-server.conf"
	certFile   = "cert.pem"
	keyFile    = "key.pem"
	pidFile    = "nats-server.pid"
)

// Limits of one account, so that a user's broken or hostile machine locks out nobody else, and
// fills neither disk nor memory.
const (
	maxConnections = 1000
	maxConsumers   = 500
	maxStore       = 256 << 20
	maxPayload     = 64 << 10
)

// hub is the server of a fleet: what its configuration is made from.
type hub struct {
	dir string

	Listen  string   `json:"listen"`
	URL     string   `json:"url"` // as invitations name it
	Pin     string   `json:"pin,omitempty"`
	Members []member `json:"members"`
}

// member is an invited machine. Only that machine has the private half of its key.
type member struct {
	User string `json:"user"`
	Host string `json:"host,omitempty"`
	View bool   `json:"view,omitempty"`
	Key  string `json:"key"`
}

// name is what revoke takes.
func (m *member) name() string {
	if m.Host == "" {
		return m.User
	}
	return m.Host
}

// errUnnamed is for a server that is to be reached from elsewhere, by nobody knows which name.
var errUnnamed = errors.New("a server for other machines needs a name that they reach it by")

// makeHub makes the hub in dir: names are those that machines reach it by, none for a server of
// this machine alone.
func makeHub(dir, listen string, names []string) (*hub, error) {
	host, port, err := net.SplitHostPort(listen)
	if err != nil {
		return nil, err
	}
	h := &hub{dir: dir, Listen: listen, URL: "nats://" + listen}
	ip := net.ParseIP(host)
	switch here := host == "localhost" || ip != nil && ip.IsLoopback(); {
	case len(names) == 0 && !here:
		return nil, errUnnamed
	case len(names) > 0:
		h.URL = "tls://" + net.JoinHostPort(names[0], port)
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, err
	}
	if _, err := os.Stat(filepath.Join(dir, hubFile)); err == nil {
		return nil, fmt.Errorf("%s has a hub already", dir)
	}
	if len(names) > 0 {
		if h.Pin, err = makeCertificate(filepath.Join(dir, certFile), filepath.Join(dir, keyFile), names); err != nil {
			return nil, err
		}
	}
	return h, h.save()
}

// openHub opens the hub in dir.
func openHub(dir string) (*hub, error) {
	data, err := plainfile.ReadFile(filepath.Join(dir, hubFile))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("%s has no hub", dir)
	}
	if err != nil {
		return nil, err
	}
	h := &hub{dir: dir}
	if err := json.Unmarshal(data, h); err != nil || h.URL == "" {
		return nil, fmt.Errorf("reading the hub in %s: its %s is broken", dir, hubFile)
	}
	return h, nil
}

// change calls f with the hub in dir as other processes left it, while none of them changes it,
// and writes what f made of it.
func change(dir string, f func(*hub) error) error {
	lock := flock.New(filepath.Join(dir, "lock"))
	if err := lock.Lock(); err != nil {
		return fmt.Errorf("%s has no hub: %w", dir, err)
	}
	defer func() { _ = lock.Unlock() }()
	h, err := openHub(dir)
	if err == nil {
		err = f(h)
	}
	if err != nil {
		return err
	}
	return h.save()
}

func (h *hub) save() error {
	data, err := json.MarshalIndent(h, "", "  ")
	if err != nil {
		return err
	}
	config, err := h.config()
	if err != nil {
		return err
	}
	return errors.Join(
		atomicfile.Write(filepath.Join(h.dir, hubFile), append(data, '\n'), 0o600, true),
		atomicfile.Write(h.path(configFile), []byte(config), 0o600, true))
}

func (h *hub) path(name string) string { return filepath.Join(h.dir, name) }

// reload is the command by which the running server takes a change.
func (h *hub) reload() string { return "nats-server --signal reload=" + h.path(pidFile) }

// config returns the configuration of nats-server: an account for each user.
func (h *hub) config() (string, error) {
	var b strings.Builder
	fmt.Fprintf(&b, `# A fleet of beckon, for nats-server 2.10 or later:  nats-server -c %[1]s
# beckon fleet invite and revoke write this file; then:  %[2]s
listen: %[3]q
pid_file: %[4]q
max_payload: %[5]d
jetstream { store_dir: %[6]q }
`, h.path(configFile), h.reload(), h.Listen, h.path(pidFile), maxPayload, h.path("data"))
	if h.Pin != "" {
		fmt.Fprintf(&b, "tls { cert_file: %q, key_file: %q, min_version: \"1.3\" }\n", h.path(certFile), h.path(keyFile))
	}
	b.WriteString("accounts {\n")
	var users []string
	for _, m := range h.Members {
		if !slices.Contains(users, m.User) {
			users = append(users, m.User)
		}
	}
	for _, user := range users {
		fmt.Fprintf(&b, "  %q {\n    jetstream { max_mem: 0, max_file: %d, max_streams: 1, max_consumers: %d }\n    limits { max_conn: %d, max_payload: %d }\n    users: [\n",
			user, maxStore, maxConsumers, maxConnections, maxPayload)
		for _, m := range h.Members {
			if m.User != user {
				continue
			}
			publish, subscribe, err := fleet.Access{User: m.User, Host: m.Host, View: m.View}.Permissions(m.Key)
			if err != nil {
				return "", err
			}
			fmt.Fprintf(&b, "      # %q\n      { nkey: %s, permissions: { publish: { allow: [%s] }, subscribe: { allow: [%s] } } }\n",
				m.name(), m.Key, quoted(publish), quoted(subscribe))
		}
		b.WriteString("    ]\n  }\n")
	}
	b.WriteString("}\n")
	if len(users) == 0 { // without an account the server would let anybody in
		b.WriteString("authorization { users: [] }\n")
	}
	return b.String(), nil
}

func quoted(list []string) string {
	var out []string
	for _, s := range list {
		out = append(out, fmt.Sprintf("%q", s))
	}
	return strings.Join(out, ", ")
}

// invite lets a machine in, and returns its access.
func invite(dir string, a fleet.Access) (fleet.Access, *hub, error) {
	pair, err := nkeys.CreateUser()
	if err != nil {
		return a, nil, err
	}
	key, err := pair.PublicKey()
	if err != nil {
		return a, nil, err
	}
	seed, err := pair.Seed()
	if err != nil {
		return a, nil, err
	}
	var of *hub
	err = change(dir, func(h *hub) error {
		of = h
		h.Members = append(h.Members, member{a.User, a.Host, a.View, key})
		a.URL, a.CA, a.Seed = h.URL, h.Pin, string(seed)
		return nil
	})
	return a, of, err
}

// revoke ends all accesses of a name, and returns their number and the names that there were.
func revoke(dir, name string) (n int, names []string, of *hub, err error) {
	err = change(dir, func(h *hub) error {
		of = h
		for _, m := range h.Members {
			names = append(names, m.name())
		}
		h.Members = slices.DeleteFunc(h.Members, func(m member) bool { return m.name() == name })
		if n = len(names) - len(h.Members); n == 0 {
			return fmt.Errorf("%q has no access: none was given, or it is revoked", name)
		}
		return nil
	})
	return n, names, of, err
}
