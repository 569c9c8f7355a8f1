package address

import (
	"crypto/tls"
	"fmt"
	"net"
	"os"
	"slices"
	"strings"
	"sync"
	"time"
)

// TLS serves l's connections over TLS, with a certificate that may be replaced meanwhile,
// since renewed ones last for weeks.
func TLS(l net.Listener, certFile, keyFile string) (net.Listener, error) {
	c := &certificate{certFile: certFile, keyFile: keyFile}
	if _, err := c.get(nil); err != nil {
		return nil, fmt.Errorf("reading the certificate: %w", err)
	}
	// Only HTTP/1.1: an event stream ends with its connection.
	config := &tls.Config{MinVersion: tls.VersionTLS12, NextProtos: []string{"http/1.1"}, GetCertificate: c.get}
	return tls.NewListener(l, config), nil
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

// CertNames returns the names in a certificate file that requests may use: a caller that used
// one has checked that the server has its key.
func CertNames(certFile, keyFile string) []string {
	pair, err := tls.LoadX509KeyPair(certFile, keyFile)
	if err != nil {
		return nil // TLS tells why
	}
	return slices.DeleteFunc(pair.Leaf.DNSNames, func(name string) bool { return strings.HasPrefix(name, "*") })
}
