package access

import (
	"context"
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
	"syscall"
	"time"

	"beckon/event/typed"
)

// DefaultAddr is the default address of the server.
const DefaultAddr = "127.0.0.1:7483"

// Listen listens on the TCP address addr ("host:port").
func Listen(addr string) (net.Listener, error) {
	l, err := net.Listen("tcp", addr)
	if err == nil {
		return l, nil
	}
	if !errors.Is(err, syscall.EADDRINUSE) {
		return nil, fmt.Errorf("listening on %q: %w", addr, err)
	}
	if health, _, ok := Ask(Local(addr)); ok {
		return nil, typed.Advise(fmt.Errorf("another beckon (%s) serves there already", health.Version),
			"beckon serve url prints how to open it")
	}
	return nil, typed.Advise(fmt.Errorf("address %q is taken by another program", addr), "give another one with --addr")
}

// Health is what a server says of itself to anybody, at /healthz.
type Health struct {
	Status  string `json:"status"`
	Program string `json:"program"`
	Version string `json:"version"`
	Name    string `json:"name"`  // of this machine, that only this server uses
	Token   string `json:"token"` // a fingerprint of the token that opens it
}

// program identifies a beckon among servers.
const program = "beckon"

// Health returns what a beckon of that version says.
func (g *Guard) Health(version string) Health {
	return Health{Status: "ok", Program: program, Version: version, Name: g.name, Token: Fingerprint(g.o.Token)}
}

// Ask asks the server at url whether it is beckon, and whose: another user may have the port,
// and give the same answer. It uses no proxy, and sends nothing that a wrong server must not see.
func Ask(url string) (health Health, whose Peer, ok bool) {
	var conn net.Conn
	dial := func(ctx context.Context, network, addr string) (c net.Conn, err error) {
		conn, err = new(net.Dialer).DialContext(ctx, network, addr)
		return conn, err
	}
	client := http.Client{Timeout: time.Second, Transport: &http.Transport{DialContext: dial}}
	defer client.CloseIdleConnections()
	res, err := client.Get(strings.TrimSuffix(url, "/") + "/healthz")
	if err != nil {
		return health, whose, false
	}
	defer res.Body.Close()
	whose = peerAt(conn) // an answer proves that it has accepted the connection; before, no process owns it
	err = json.NewDecoder(io.LimitReader(res.Body, 4096)).Decode(&health)
	return health, whose, err == nil && health.Program == program
}

// Local returns the address, for this machine, of a server that listens on addr ("host:port").
func Local(addr string) string {
	host, port, err := net.SplitHostPort(addr)
	if ip, bad := netip.ParseAddr(host); err == nil && (host == "" || bad == nil && ip.IsUnspecified()) {
		addr = net.JoinHostPort("127.0.0.1", port) // "all addresses" is not a name of a server
	}
	return "http://" + addr + "/"
}

// Elsewhere returns the address by which another device reaches a server that listens on addr ("host:port"):
// by the first of names, if there is one, else by this machine's address in the network. A
// server on loopback with a name is reached through a proxy, which does TLS.
func Elsewhere(addr string, names []string) (string, error) {
	host, port, _ := net.SplitHostPort(addr)
	ip, bad := netip.ParseAddr(host)
	switch {
	case Loopback(host) && len(names) > 0:
		return "https://" + Host(names[0]) + "/", nil
	case Loopback(host):
		return "", typed.Advise(fmt.Errorf("no other device reaches %s", addr),
			"--addr 0.0.0.0:"+port+" lets the network in, which sees all that is sent; "+
				"tailscale serve "+port+", and --name with the name that it gives, hides it")
	case len(names) > 0:
		host = Host(names[0])
	case host == "" || bad == nil && ip.IsUnspecified():
		if host = outboundAddr(); host == "" {
			return "", typed.Advise(fmt.Errorf("this machine is in no network"),
				"--name gives an address or name by which a phone reaches it")
		}
	}
	return "http://" + net.JoinHostPort(host, port) + "/", nil
}

// outboundAddr returns this machine's address towards other machines, "" for none. Nothing is sent to
// find it: the system only reports the route of a datagram.
func outboundAddr() string {
	for _, to := range []string{"192.0.2.1:9", "[2001:db8::1]:9"} { // reserved addresses (RFC 5737, RFC 3849)
		if c, err := net.Dial("udp", to); err == nil {
			_ = c.Close()
			return c.LocalAddr().(*net.UDPAddr).AddrPort().Addr().WithZone("").String()
		}
	}
	return ""
}

// ownAddrs returns this machine's addresses.
func ownAddrs() (addrs []netip.Addr) {
	all, _ := net.InterfaceAddrs() // an error counts as none
	for _, a := range all {
		if p, err := netip.ParsePrefix(a.String()); err == nil {
			addrs = append(addrs, p.Addr())
		}
	}
	return addrs
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

// isOwn reports whether host can only mean this machine to whoever reaches it over a network: a
// literal address, which no foreign DNS can rebind, or one of this machine's names. The domains are
// reserved for local networks: nobody can register one (RFC 6762, RFC 8375, ICANN on internal).
func isOwn(host string) bool {
	if _, err := netip.ParseAddr(host); err == nil {
		return true
	}
	name, err := os.Hostname()
	first, _, _ := strings.Cut(name, ".")
	own := []string{name, first, first + ".local", first + ".home.arpa", first + ".internal"}
	return err == nil && !Loopback(name) && isAny(own, host)
}

// isAny reports whether host is one of names, which may have a port; either may have the root's dot.
func isAny(names []string, host string) bool {
	return slices.ContainsFunc(names, func(name string) bool {
		return strings.EqualFold(strings.TrimSuffix(Host(name), "."), strings.TrimSuffix(host, "."))
	})
}

// Host returns a Host without port and brackets.
func Host(hostport string) string {
	if host, _, err := net.SplitHostPort(hostport); err == nil {
		return host
	}
	return strings.TrimSuffix(strings.TrimPrefix(hostport, "["), "]")
}
