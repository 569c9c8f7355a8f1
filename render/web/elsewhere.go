package web

import (
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"net"
	"net/netip"
	"strings"
)

// Elsewhere returns the address by which another device reaches a server that listens on addr:
// by the first of names, if there is one, else by this machine's address in the network. A
// server on loopback with a name is reached through a proxy, which does TLS.
func Elsewhere(scheme, addr string, names []string) (string, error) {
	host, port, err := net.SplitHostPort(addr)
	if err != nil {
		return "", &Advised{fmt.Errorf("address %q: want host:port", addr), "for example 0.0.0.0:7483"}
	}
	ip, bad := netip.ParseAddr(host)
	switch {
	case Loopback(host) && len(names) > 0:
		return "https://" + hostName(names[0]) + "/", nil
	case Loopback(host):
		return "", &Advised{fmt.Errorf("no other device reaches %s", addr),
			"--addr 0.0.0.0:" + port + " lets the network in, with --tls-cert unseen by it; or tailscale serve " + port + ", and --host with the name that it gives"}
	case len(names) > 0:
		host = hostName(names[0])
	case host == "" || bad == nil && ip.IsUnspecified():
		if host = outboundAddr(); host == "" {
			return "", &Advised{fmt.Errorf("this machine is in no network"), "--host names an address or name by which a phone reaches it"}
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

// CertNames returns the names in a certificate file that requests may use: a caller that used
// one has checked that the server has its key.
func CertNames(certFile, keyFile string) []string {
	pair, err := tls.LoadX509KeyPair(certFile, keyFile)
	if err != nil {
		return nil // TLS tells why
	}
	leaf, err := x509.ParseCertificate(pair.Certificate[0])
	if err != nil {
		return nil
	}
	var names []string
	for _, n := range leaf.DNSNames {
		if !strings.HasPrefix(n, "*") {
			names = append(names, n)
		}
	}
	return names
}
