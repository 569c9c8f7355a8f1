// Package fleets is what beckon's commands do with other machines: link and
// fleet, and the rows that list, watch, serve, prompt and statusline add to those
// of this machine.
package fleets

import (
	"bytes"
	"cmp"
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"encoding/json"
	"encoding/pem"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"os/signal"
	"path/filepath"
	"slices"
	"sync"
	"syscall"
	"time"

	"beckon/cmd/internal/cli"
	"beckon/cmd/internal/service"
	"beckon/event/home"
	"beckon/event/plainfile"
	"beckon/event/typed"
	"beckon/render"
	"beckon/render/fleet"
	"beckon/state/live"

	"github.com/gofrs/flock"
	"github.com/nats-io/nkeys"
)

func credentialFile(a *cli.App) string { return home.Config(a.Getenv, "fleet.json") }

// credential returns this machine's access to a fleet: the token in BECKON_FLEET, else the one
// that it joined with. ok is false if it has neither.
func credential(a *cli.App) (acc fleet.Credential, ok bool, err error) {
	if token := a.Getenv("BECKON_FLEET"); token != "" {
		if acc, err = fleet.ReadToken(token); err != nil {
			return acc, false, fmt.Errorf("BECKON_FLEET: %w", err)
		}
		return acc, true, nil
	}
	path := credentialFile(a)
	data, err := plainfile.ReadFile(path)
	if path == "" || errors.Is(err, fs.ErrNotExist) {
		return acc, false, nil
	}
	if err != nil {
		return acc, false, err
	}
	if err := json.Unmarshal(data, &acc); err != nil {
		return acc, false, fmt.Errorf("reading %s: %w", path, err)
	}
	return acc, true, acc.Check()
}

// Joined reports whether this machine has an access to a fleet.
func Joined(a *cli.App) bool {
	_, ok, err := credential(a)
	return ok && err == nil
}

// errNoFleet says what to do where there is nothing to show.
var errNoFleet = cli.Hint(`beckon fleet link --join TOKEN joins one, and "hosts": ["ssh:NAME"] in config.json names`+
	` machines to ask by ssh: see beckon help fleet`, "this machine is in no fleet")

// Try tries the hub with this machine's access, which is empty if it is in no fleet, and reports
// whether a link runs. The error says why the hub does not let it in, or what is wrong with the access.
func Try(a *cli.App) (acc fleet.Credential, linked bool, err error) {
	acc, ok, err := credential(a)
	if !ok || err != nil {
		return fleet.Credential{}, false, err
	}
	path := filepath.Join(a.Store.Dir, "fleet", "link.lock")
	if _, err := os.Stat(path); err == nil {
		lock := flock.New(path)
		free, err := lock.TryRLock()
		if linked = err == nil && !free; free {
			_ = lock.Unlock()
		}
	}
	nc, err := fleet.DialOnce(acc)
	if err == nil {
		nc.Close()
	}
	return acc, linked, err
}

// LinkCmd is beckon fleet link.
type LinkCmd struct {
	Join    string `user:"joining a fleet" placeholder:"TOKEN" help:"Join with the token that beckon fleet invite printed, and remember it; - reads it from stdin."`
	Forget  bool   `hidden:"" user:"leaving a fleet" help:"When it ends, take this machine's sessions off all lists; for containers and CI."`
	Service bool   `help:"Write a unit for systemd, on macOS for launchd, that keeps the link running."`
	Quiet   bool   `hidden:"" short:"q" help:"Print nothing but errors."`
}

// Run implements the command.
func (c *LinkCmd) Run(a *cli.App) error {
	if c.Join != "" {
		return c.join(a)
	}
	if c.Service {
		return service.Unit{
			Name:  "link",
			About: "beckon fleet link: this machine's coding-agent sessions for the fleet",
			Args:  []string{"fleet", "link", "--quiet"},
		}.Write(a)
	}
	return c.publish(a)
}

func (c *LinkCmd) publish(a *cli.App) error {
	acc, ok, err := credential(a)
	if err != nil {
		return err
	}
	if !ok {
		return cli.Hint("beckon fleet invite --name NAME prints a token, where the hub is",
			"this machine has no access to a fleet: beckon fleet link --join TOKEN")
	}
	if acc.Host == "" {
		return cli.Hint("beckon fleet invite --name NAME gives one to publish", "this access may only look")
	}
	dir := filepath.Join(a.Store.Dir, "fleet")
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	lock := flock.New(filepath.Join(dir, "link.lock"))
	if ok, err := lock.TryLock(); err != nil {
		return err
	} else if !ok {
		return errors.New("a link of this machine runs already")
	}
	defer func() { _ = lock.Unlock() }()
	link := fleet.Link{
		Credential: acc,
		Level:      fleet.Level(a.Configured().FleetTexts),
		Forget:     c.Forget,
		Log: func(text string) {
			if !c.Quiet {
				fmt.Fprintf(a.Stdout, "%s %s\n", time.Now().UTC().Format(time.RFC3339), render.OneLine(text))
			}
		},
	}
	rows := make(chan []render.Row, 1)
	var all sync.WaitGroup
	defer all.Wait()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	all.Go(func() { followRows(ctx, a, rows) })
	if acc.View {
		all.Go(func() { follow(ctx, a, acc, func(fleet.Shown) {}) }) // it stores what prompts show
	}
	return link.Run(ctx, rows)
}

func (c *LinkCmd) join(a *cli.App) error {
	token, path := c.Join, credentialFile(a)
	if path == "" {
		return errors.New("finding the configuration: HOME is not set")
	}
	if token == "-" {
		if _, err := fmt.Fscan(a.Stdin, &token); err != nil {
			return fmt.Errorf("reading the token: %w", err)
		}
	}
	acc, err := fleet.ReadToken(token)
	if err != nil {
		return cli.Hint("it is the line that beckon fleet invite printed, whole", "joining: %w", err)
	}
	nc, err := fleet.DialOnce(acc)
	if err != nil {
		return cli.Hint("nothing was kept; is the hub running, and reached by that name from here?", "joining: %w", err)
	}
	nc.Close()
	err = cmp.Or(os.MkdirAll(filepath.Dir(path), 0o700), writeJSON(path, acc))
	switch {
	case err != nil:
		return err
	case acc.Host == "":
		fmt.Fprintf(a.Stdout, "joined %s to look: beckon list --fleet\n", acc.URL)
	default:
		fmt.Fprintf(a.Stdout, "joined %s as %s: beckon fleet link publishes its sessions, "+
			"beckon fleet link --service keeps that running\n", acc.URL, acc.Host)
	}
	return nil
}

// followRows sends this machine's rows whenever they change. A slow reader gets only the newest.
func followRows(ctx context.Context, a *cli.App, rows chan []render.Row) {
	f := live.NewFollower(a.Reader())
	f.Pause = 20 * time.Millisecond
	send := func(u live.Update, err error) {
		if err != nil {
			a.Store.Log(fmt.Errorf("link: %w", err))
			return
		}
		next := render.Rows(f.Seen(), false)
		select {
		case <-rows:
		default:
		}
		rows <- next
	}
	send(f.Look())
	f.Run(ctx, func(u live.Update, err error) {
		if err != nil || len(u.Changed)+len(u.Gone) > 0 {
			send(u, err)
		}
	})
}

// Cmd is beckon fleet: the server's side of a fleet.
type Cmd struct {
	Init   initCmd   `cmd:"" user:"making a hub" help:"Write the configuration of the NATS server that a fleet meets at."`
	Invite inviteCmd `cmd:"" user:"inviting a machine" help:"Print a token that lets a machine publish its sessions, or see those of others."`
	Revoke revokeCmd `cmd:"" user:"revoking an access" help:"End the access of a machine or user."`
	Link   LinkCmd   `cmd:"" help:"Publish this machine's sessions to a fleet, for the lists of other machines."`
}

type where struct {
	Dir string `hidden:"" placeholder:"DIR" type:"path" help:"The server's directory (default: hub beside config.json)."`
}

func (w *where) dir(a *cli.App) string { return cmp.Or(w.Dir, home.Config(a.Getenv, "hub")) }

type initCmd struct {
	where
	Listen string `name:"addr" aliases:"listen" default:"0.0.0.0:4222" placeholder:"HOST:PORT" help:"Address to listen on (default: ${default})."`
	Name   string `placeholder:"NAME" help:"Name or address by which other machines reach it; tokens have it."`
}

// Run implements the command.
func (c *initCmd) Run(a *cli.App) error {
	h, err := makeHub(c.dir(a), c.Listen, c.Name)
	if err != nil {
		return err
	}
	return a.Printf("wrote %[1]s; start the server:\n  nats-server -c %[1]s\n"+
		"then invite machines: beckon fleet invite --name NAME\n", h.Path(configFile))
}

type inviteCmd struct {
	where
	Host string `name:"name" aliases:"host" placeholder:"NAME" help:"Let a machine publish its sessions, under this name."`
	User string `hidden:"" placeholder:"USER" help:"Whose machine it is (default: you); a user's machines form one list."`
	View bool   `help:"Let it see the sessions of all the user's machines; for machines that people sit at."`
}

// Run implements the command.
func (c *inviteCmd) Run(a *cli.App) error {
	if c.Host == "" && !c.View {
		return cli.Usage("say what the token is for: --name NAME to publish, --view to see")
	}
	acc := fleet.Credential{User: cmp.Or(c.User, a.User()), Host: c.Host, View: c.View}
	if acc.User == "" {
		return cli.Usage("--user NAME: whose machine it is")
	}
	acc, h, err := invite(c.dir(a), acc)
	if err != nil {
		return err
	}
	fmt.Fprintf(a.Stderr, "beckon: a running server takes it with: %s\n"+
		"beckon: whoever has this line has the access; on that machine: beckon fleet link --join TOKEN\n", h.Reload())
	return a.Printf("%s\n", acc.Token())
}

type revokeCmd struct {
	where
	Name string `arg:"" help:"The name of the machine; of a token without --name, the user."`
}

// Run implements the command.
func (c *revokeCmd) Run(a *cli.App) error {
	n := 0
	h, err := change(c.dir(a), func(h *hub) error {
		var names []string
		h.Members = slices.DeleteFunc(h.Members, func(m fleet.Credential) bool {
			name := cmp.Or(m.Host, m.User)
			names = append(names, name)
			return name == c.Name
		})
		if n = len(names) - len(h.Members); n == 0 {
			return cli.Hint(typed.DidYouMean(c.Name, names), "%q has no access: none was given, or it is revoked", c.Name)
		}
		return nil
	})
	if err != nil {
		return err
	}
	return a.Printf("revoked %s (%d); a running server takes it with:\n  %s\n", c.Name, n, h.Reload())
}

// The files in a hub's directory: what was invited, the configuration of nats-server that is
// made from it, and the certificate.
const (
	hubFile    = "fleet.json"
	configFile = "nats-server.conf"
	certFile   = "cert.pem"
	keyFile    = "key.pem"
	pidFile    = "nats-server.pid"
)

// hub is the server of a fleet: what its configuration is made from.
type hub struct {
	dir string

	Listen  string             `json:"listen"`
	URL     string             `json:"url"` // as invitations name it
	Pin     string             `json:"pin,omitempty"`
	Members []fleet.Credential `json:"members"` // of invited machines, which alone have the private keys
}

// makeHub makes the hub in dir. Machines reach it by name, "" for a server of this machine alone.
func makeHub(dir, listen, name string) (*hub, error) {
	host, port, err := net.SplitHostPort(listen)
	if err != nil {
		return nil, err
	}
	h := &hub{dir: dir, Listen: listen, URL: "nats://" + listen}
	if name != "" {
		h.URL = "tls://" + net.JoinHostPort(name, port)
	} else if ip := net.ParseIP(host); host != "localhost" && !ip.IsLoopback() {
		return nil, cli.Hint("--name hub.example.org, or --listen 127.0.0.1:4222 for this machine alone",
			"a server for other machines needs a name that they reach it by")
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, err
	}
	if _, err := os.Stat(h.Path(hubFile)); err == nil {
		return nil, cli.Hint("--dir names another place", "%s has a hub already", dir)
	}
	if name != "" {
		if h.Pin, err = makeCertificate(h.Path(certFile), h.Path(keyFile)); err != nil {
			return nil, err
		}
	}
	return h, h.save()
}

// change calls f with the hub in dir as other processes left it, while none of them changes it,
// and writes what f made of it.
func change(dir string, f func(*hub) error) (*hub, error) {
	h := &hub{dir: dir}
	if _, err := os.Stat(h.Path(hubFile)); err != nil {
		return nil, cli.Hint("beckon fleet init makes one; --dir names another place", "%s has no hub", dir)
	}
	lock := flock.New(h.Path("lock"))
	if err := lock.Lock(); err != nil {
		return nil, err
	}
	defer func() { _ = lock.Unlock() }()
	data, err := plainfile.ReadFile(h.Path(hubFile))
	if err != nil {
		return nil, err
	}
	if err := json.Unmarshal(data, h); err != nil || h.URL == "" {
		return nil, fmt.Errorf("reading the hub in %s: its %s is broken", dir, hubFile)
	}
	if err := f(h); err != nil {
		return nil, err
	}
	return h, h.save()
}

func (h *hub) save() error {
	return errors.Join(writeJSON(h.Path(hubFile), h), writeJSON(h.Path(configFile), h.config()))
}

// writeJSON writes a file.
func writeJSON(path string, v any) error {
	var b bytes.Buffer
	if err := cli.WriteJSON(&b, v); err != nil {
		return err
	}
	return plainfile.Write(path, b.Bytes(), 0o600, true)
}

type object = map[string]any

// config returns the configuration of nats-server: an account for each user, so that a user's broken
// or hostile machine locks out nobody else, and fills neither disk nor memory.
func (h *hub) config() object {
	accounts := map[string]object{}
	for _, m := range h.Members {
		publish, subscribe := m.Permissions()
		if accounts[m.User] == nil {
			accounts[m.User] = object{
				"jetstream": object{"max_mem": 0, "max_file": 256 << 20, "max_streams": 1, "max_consumers": 500},
				"limits":    object{"max_conn": 1000, "max_payload": maxPayload},
			}
		}
		users, _ := accounts[m.User]["users"].([]object)
		may := object{"publish": object{"allow": publish}, "subscribe": object{"allow": subscribe}}
		accounts[m.User]["users"] = append(users, object{"nkey": m.Key, "permissions": may})
	}
	c := object{
		"listen": h.Listen, "pid_file": h.Path(pidFile), "max_payload": maxPayload,
		"jetstream": object{"store_dir": h.Path("data")},
		"accounts":  accounts,
	}
	if h.Pin != "" {
		c["tls"] = object{"cert_file": h.Path(certFile), "key_file": h.Path(keyFile), "min_version": "1.3"}
	}
	if len(accounts) == 0 {
		c["authorization"] = object{"users": []string{}} // nobody may come in
	}
	return c
}

const maxPayload = 64 << 10

// Path returns the path of a file of the hub.
func (h *hub) Path(name string) string { return filepath.Join(h.dir, name) }

// Reload is the command by which the running server takes a change.
func (h *hub) Reload() string { return "nats-server --signal reload=" + h.Path(pidFile) }

func invite(dir string, a fleet.Credential) (fleet.Credential, *hub, error) {
	pair, err := nkeys.CreateUser()
	if err != nil {
		return a, nil, err
	}
	key, errKey := pair.PublicKey()
	seed, errSeed := pair.Seed()
	a.Key = key
	h, err := change(dir, func(h *hub) error {
		h.Members = append(h.Members, a)
		return errors.Join(errKey, errSeed)
	})
	if err == nil {
		a.URL, a.CA, a.Seed = h.URL, h.Pin, string(seed)
	}
	return a, h, err
}

// makeCertificate writes a certificate and its key, and returns its pin. Members know the server by
// the key alone, so the certificate has neither names nor a time at which it ends.
func makeCertificate(certFile, keyFile string) (pin string, err error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return "", err
	}
	cert := &x509.Certificate{NotAfter: time.Date(9999, 12, 31, 23, 59, 59, 0, time.UTC)} // none: RFC 5280
	certDER, errCert := x509.CreateCertificate(rand.Reader, cert, cert, key.Public(), key)
	keyDER, errKey := x509.MarshalPKCS8PrivateKey(key)
	public, errPublic := x509.MarshalPKIXPublicKey(key.Public())
	if err := errors.Join(errCert, errKey, errPublic); err != nil {
		return "", err
	}
	return fleet.Pin(public), errors.Join(
		plainfile.Write(certFile, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: certDER}), 0o600, true),
		plainfile.Write(keyFile, pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: keyDER}), 0o600, true))
}
