// Package address is where a server listens, and how it is reached: its sockets, its addresses
// and names, its certificate, and what a server that already listens says of itself.
package address

import (
	"fmt"
	"net"
	"net/netip"

	"beckon/render"
)

// Default is the default address of the server.
const Default = "127.0.0.1:7483"

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

// Elsewhere returns the address by which another device reaches a server that listens on addr:
// by the first of names, if there is one, else by this machine's address in the network. A
// server on loopback with a name is reached through a proxy, which does TLS.
func Elsewhere(scheme, addr string, names []string) (string, error) {
	host, port, err := net.SplitHostPort(addr)
	if err != nil {
		return "", render.Advise(fmt.Errorf("address %q: want host:port", addr), "for example 0.0.0.0:7483")
	}
	ip, bad := netip.ParseAddr(host)
	switch {
	case Loopback(host) && len(names) > 0:
		return "https://" + Host(names[0]) + "/", nil
	case Loopback(host):
		return "", render.Advise(fmt.Errorf("no other device reaches %s", addr),
			"--addr 0.0.0.0:"+port+" lets the network in, with --tls-cert unseen by it; "+
				"or tailscale serve "+port+", and --host with the name that it gives")
	case len(names) > 0:
		host = Host(names[0])
	case host == "" || bad == nil && ip.IsUnspecified():
		if host = outboundAddr(); host == "" {
			return "", render.Advise(fmt.Errorf("this machine is in no network"),
				"--host names an address or name by which a phone reaches it")
		}
	}
	return scheme + "://" + net.JoinHostPort(host, port) + "/", nil
}

// outboundAddr returns this machine's address towards other machines. Nothing is sent to find
// it: the system only reports the route of a datagram.
func outboundAddr() string {
	for _, to := range []string{"192.0.2.1:9", "[2001:db8::1]:9"} { // reserved addresses (RFC 5737, RFC 3849)
		if c, err := net.Dial("udp", to); err == nil {
			_ = c.Close()
			if addr, err := netip.ParseAddrPort(c.LocalAddr().String()); err == nil && !addr.Addr().IsLoopback() {
				return addr.Addr().WithZone("").String()
			}
		}
	}
	for _, a := range ownAddrs() {
		return a.String()
	}
	return ""
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
