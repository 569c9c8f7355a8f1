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

	"beckon/event/atomicfile"
	"beckon/render/fleet"
)

// lasts is how long a hub's certificate is valid. Tokens pin its authority, so nobody can be
// asked for a new one.
const lasts = 10 * 365 * 24 * time.Hour

// makeCertificate creates an authority, lets it sign a certificate for names, and discards its
// key. It returns the pin of the authority.
func makeCertificate(cert, key string, names []string) (pin string, err error) {
	authority, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return "", err
	}
	own, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return "", err
	}
	from := time.Now().Add(-24 * time.Hour) // a host's clock may be slow
	root := &x509.Certificate{Subject: pkix.Name{CommonName: "beckon fleet"}, NotBefore: from, NotAfter: from.Add(lasts),
		IsCA: true, BasicConstraintsValid: true, MaxPathLenZero: true, KeyUsage: x509.KeyUsageCertSign}
	leaf := &x509.Certificate{Subject: pkix.Name{CommonName: names[0]}, NotBefore: from, NotAfter: from.Add(lasts),
		KeyUsage: x509.KeyUsageDigitalSignature, ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth}}
	for _, n := range names {
		if ip := net.ParseIP(n); ip != nil {
			leaf.IPAddresses = append(leaf.IPAddresses, ip)
		} else {
			leaf.DNSNames = append(leaf.DNSNames, n)
		}
	}
	rootDER, err := x509.CreateCertificate(rand.Reader, root, root, authority.Public(), authority)
	if err != nil {
		return "", err
	}
	leafDER, err := x509.CreateCertificate(rand.Reader, leaf, root, own.Public(), authority)
	if err != nil {
		return "", err
	}
	parsed, err := x509.ParseCertificate(rootDER)
	if err != nil {
		return "", err
	}
	ownDER, err := x509.MarshalPKCS8PrivateKey(own)
	if err != nil {
		return "", err
	}
	chain := append(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: leafDER}), pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: rootDER})...)
	return fleet.Pin(parsed), errors.Join(
		atomicfile.Write(cert, chain, 0o600, true),
		atomicfile.Write(key, pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: ownDER}), 0o600, true))
}
