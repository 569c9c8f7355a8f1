package web

import (
	"context"
	"crypto/tls"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/netip"
	"os"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"

	"beckon/render/web/peer"
)

// Advised is an error with advice.
type Advised struct {
	Err    error
	Advice string
}

func (e *Advised) Error() string { return e.Err.Error() }

// Unwrap returns the error without the advice.
func (e *Advised) Unwrap() error { return e.Err }

// Hint returns the advice.
func (e *Advised) Hint() string { return e.Advice }

// Listen listens on the TCP address addr ("host:port"). If another beckon has the port, the
// error says so (ErrServed).
func Listen(addr string) (net.Listener, error) {
	l, err := net.Listen("tcp", addr)
	if errors.Is(err, syscall.EADDRINUSE) {
		return nil, taken(addr)
	}
	if err != nil {
		return nil, fmt.Errorf("listening on %q: %w", addr, err)
	}
	return l, nil
}

// taken returns an error that says which process has the port.
func taken(addr string) error {
	url := URL("http", addr)
	if version, _, ok := Ask(url); ok {
		return &Advised{fmt.Errorf("another beckon (%s) %w", version, ErrServed), "beckon serve url prints how to open it"}
	}
	return &Advised{fmt.Errorf("address %q is taken by another program", addr), "give another one with --addr"}
}

// ErrServed means that another beckon has the port.
var ErrServed = errors.New("serves there already")

// URLs returns the addresses of a server that listens on addr ("host:port"): the first one for
// this machine, the others for other machines.
func URLs(scheme, addr string) []string {
	host, port, err := net.SplitHostPort(addr)
	ip, bad := netip.ParseAddr(host)
	if err != nil || host != "" && (bad != nil || !ip.IsUnspecified()) {
		return []string{scheme + "://" + addr + "/"}
	}
	hosts := append([]string{"127.0.0.1"}, ownNames()...) // "all addresses" is not a name of a server
	for _, a := range ownAddrs() {
		if a.Is4() || !ip.Is4() {
			hosts = append(hosts, a.String())
		}
	}
	urls := make([]string, len(hosts))
	for i, h := range hosts {
		urls[i] = scheme + "://" + net.JoinHostPort(h, port) + "/"
	}
	return urls
}

// URL returns the first of URLs.
func URL(scheme, addr string) string { return URLs(scheme, addr)[0] }

// ownNames returns the names by which others know this machine: its host name, and the first
// part of that, alone and in the local network (mDNS).
func ownNames() []string {
	name, err := os.Hostname()
	if err != nil || Loopback(name) {
		return nil
	}
	first, _, _ := strings.Cut(name, ".")
	names := []string{name}
	for _, n := range []string{first, first + ".local"} {
		if !slices.Contains(names, n) {
			names = append(names, n)
		}
	}
	return names
}

// ownAddrs returns the addresses by which other machines reach this one.
func ownAddrs() []netip.Addr {
	var addrs []netip.Addr
	all, _ := net.InterfaceAddrs() // an error counts as none
	for _, a := range all {
		if p, err := netip.ParsePrefix(a.String()); err == nil && p.Addr().IsGlobalUnicast() {
			addrs = append(addrs, p.Addr())
		}
	}
	return addrs
}

// Ask asks the server at url whether it is beckon, which version, and whose: another user may
// have the port, and give the same answer.
func Ask(url string) (version string, whose peer.Peer, ok bool) {
	return ask(url, new(net.Dialer).DialContext)
}

func ask(url string, by dialer) (version string, whose peer.Peer, ok bool) {
	var health health
	_, whose, err := fetch(http.MethodGet, url, "/healthz", time.Second, by, &health)
	return health.Version, whose, err == nil && health.Program == program
}

type dialer = func(ctx context.Context, network, addr string) (net.Conn, error)

// fetch parses a server's JSON response into v. It uses no proxy, and sends nothing that a
// wrong server must not see.
func fetch(method, url, path string, within time.Duration, by dialer, v any) (status string, whose peer.Peer, err error) {
	var conn net.Conn
	dial := func(ctx context.Context, network, addr string) (c net.Conn, err error) {
		conn, err = by(ctx, network, addr)
		return conn, err
	}
	client := http.Client{Timeout: within, Transport: &http.Transport{DialContext: dial, TLSClientConfig: &tls.Config{InsecureSkipVerify: true}}}
	defer client.CloseIdleConnections()
	req, err := http.NewRequest(method, strings.TrimSuffix(url, "/")+path, nil)
	if err != nil {
		return "", whose, err
	}
	res, err := client.Do(req)
	if err != nil {
		return "", whose, err
	}
	defer res.Body.Close()
	whose = peer.Of(conn) // an answer proves that it has accepted the connection; before, no process owns it
	return res.Status, whose, json.NewDecoder(io.LimitReader(res.Body, 4096)).Decode(v)
}

// ListenUnix listens on a unix socket at path with mode 0600. A socket left by a killed server
// is replaced; anything else at path is an error.
func ListenUnix(path string) (net.Listener, error) {
	l, err := listenPrivate(path)
	if err == nil || !errors.Is(err, syscall.EADDRINUSE) {
		return l, err
	}
	info, statErr := os.Lstat(path)
	if statErr != nil || info.Mode().Type() != os.ModeSocket {
		return nil, fmt.Errorf("socket %q: something else is there", path)
	}
	if version, _, ok := ask("http://localhost", dialSocket(path)); ok {
		return nil, fmt.Errorf("socket %q: another beckon (%s) %w", path, version, ErrServed)
	}
	if c, err := net.Dial("unix", path); err == nil {
		_ = c.Close()
		return nil, fmt.Errorf("socket %q is taken by another program", path)
	}
	if err := os.Remove(path); err != nil {
		return nil, fmt.Errorf("removing a stale socket: %w", err)
	}
	return listenPrivate(path)
}

func dialSocket(path string) dialer {
	return func(ctx context.Context, _, _ string) (net.Conn, error) {
		return new(net.Dialer).DialContext(ctx, "unix", path)
	}
}

// Loopback reports whether host can only mean this machine.
func Loopback(host string) bool {
	host = strings.TrimSuffix(strings.ToLower(host), ".")
	if host == "localhost" || strings.HasSuffix(host, ".localhost") {
		return true
	}
	ip, err := netip.ParseAddr(host)
	return err == nil && ip.Unmap().IsLoopback()
}

// TLS serves l's connections over TLS, with a certificate that may be replaced meanwhile,
// since renewed ones last for weeks.
func TLS(l net.Listener, certFile, keyFile string) (net.Listener, error) {
	c := &certificate{certFile: certFile, keyFile: keyFile}
	if _, err := c.get(nil); err != nil {
		return nil, fmt.Errorf("reading the certificate: %w", err)
	}
	// Only HTTP/1.1: an event stream ends with its connection.
	return tls.NewListener(l, &tls.Config{MinVersion: tls.VersionTLS12, NextProtos: []string{"http/1.1"}, GetCertificate: c.get}), nil
}

// certificate is read again when its file has changed.
type certificate struct {
	certFile, keyFile string

	mu      sync.Mutex
	pair    *tls.Certificate
	changed time.Time
}

func (c *certificate) get(*tls.ClientHelloInfo) (*tls.Certificate, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	info, err := os.Stat(c.certFile)
	if err == nil && c.pair != nil && info.ModTime().Equal(c.changed) {
		return c.pair, nil
	}
	pair, err := tls.LoadX509KeyPair(c.certFile, c.keyFile)
	switch {
	case err == nil && info != nil:
		c.pair, c.changed = &pair, info.ModTime()
	case c.pair == nil:
		return nil, err
	}
	return c.pair, nil // while it is being replaced, use the old one
}
