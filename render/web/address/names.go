package address

import (
	"net"
	"net/netip"
	"os"
	"slices"
	"strings"
)

// Loopback reports whether host can only mean this machine.
func Loopback(host string) bool {
	host = strings.TrimSuffix(strings.ToLower(host), ".")
	if host == "localhost" || strings.HasSuffix(host, ".localhost") {
		return true
	}
	ip, err := netip.ParseAddr(host)
	return err == nil && ip.Unmap().IsLoopback()
}

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

// Own reports whether host can only mean this machine to whoever reaches it over a network: a
// literal address, which no foreign DNS can rebind, or one of this machine's names.
func Own(host string) bool {
	if _, err := netip.ParseAddr(host); err == nil {
		return true
	}
	return slices.ContainsFunc(ownNames(), func(own string) bool { return Same(own, host) || isLocal(own, host) })
}

// localDomains are reserved for names in local networks: nobody can register one (RFC 6762,
// RFC 8375, and ICANN's decision on internal).
var localDomains = []string{"local", "home.arpa", "internal"}

// isLocal reports whether host is the name own in such a domain.
func isLocal(own, host string) bool {
	first, _, _ := strings.Cut(own, ".")
	return slices.ContainsFunc(localDomains, func(domain string) bool { return Same(first+"."+domain, host) })
}

// Host returns a Host without port and brackets.
func Host(hostport string) string {
	if host, _, err := net.SplitHostPort(hostport); err == nil {
		return host
	}
	return strings.TrimSuffix(strings.TrimPrefix(hostport, "["), "]")
}

// Same compares names of hosts, with or without the root's dot.
func Same(a, b string) bool {
	return strings.EqualFold(strings.TrimSuffix(a, "."), strings.TrimSuffix(b, "."))
}
