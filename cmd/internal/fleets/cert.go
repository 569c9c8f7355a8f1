package fleets

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"errors"
	"net"
	"time"

	"beckon/event/plainfile"
	"beckon/render/fleet"
)

// lasts is how long a hub's certificate is valid: tokens pin its key, so it cannot be replaced.
const lasts = 10 * 365 * 24 * time.Hour

// makeCertificate writes a certificate for names and its key, and returns its pin.
func makeCertificate(certFile, keyFile string, names []string) (pin string, err error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return "", err
	}
	from := time.Now().Add(-24 * time.Hour) // a host's clock may be slow
	cert := &x509.Certificate{
		Subject:   pkix.Name{CommonName: names[0]},
		NotBefore: from, NotAfter: from.Add(lasts),
		KeyUsage:    x509.KeyUsageDigitalSignature,
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth},
	}
	for _, n := range names {
		if ip := net.ParseIP(n); ip != nil {
			cert.IPAddresses = append(cert.IPAddresses, ip)
		} else {
			cert.DNSNames = append(cert.DNSNames, n)
		}
	}
	der, err := x509.CreateCertificate(rand.Reader, cert, cert, key.Public(), key)
	if err != nil {
		return "", err
	}
	cert, err = x509.ParseCertificate(der)
	if err != nil {
		return "", err
	}
	keyDER, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		return "", err
	}
	return fleet.Pin(cert), errors.Join(
		plainfile.Write(certFile, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}), 0o600, true),
		plainfile.Write(keyFile, pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: keyDER}), 0o600, true))
}
