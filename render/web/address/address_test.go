package address

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"errors"
	"math/big"
	"net"
	"net/http"
	"net/netip"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"beckon/render"
	"beckon/render/web/respond"
)

// answer starts a server that says it is a beckon of that version, and returns its address.
func answer(t *testing.T, version string) (addr string) {
	t.Helper()
	l, err := Listen("127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	answerOn(t, l, version)
	return l.Addr().String()
}

func answerOn(t *testing.T, l net.Listener, version string) (stop func()) {
	s := &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { respond.JSON(w, http.StatusOK, Healthy(version, "", "")) })}
	go func() { _ = s.Serve(l) }()
	stop = func() { _ = s.Close() }
	t.Cleanup(stop)
	return stop
}

// The port is taken: by another beckon, which is named with its address, or by another
// program.
func TestPortIsTaken(t *testing.T) {
	addr := answer(t, "v9")
	_, err := Listen(addr)
	if render.HintOf(err) == "" || !errors.Is(err, ErrServed) || !strings.Contains(err.Error(), "another beckon (v9)") {
		t.Errorf("error %v, hint %q", err, render.HintOf(err))
	}
	_, port, err := net.SplitHostPort(addr)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := Listen("0.0.0.0:" + port); !errors.Is(err, ErrServed) {
		t.Errorf("on all addresses: %v", err)
	}
	other, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer other.Close()
	if _, err := Listen(other.Addr().String()); err == nil || !strings.Contains(err.Error(), "another program") {
		t.Errorf("error %v", err)
	}
}

func TestUnixSocket(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("modes are not kept there")
	}
	path := filepath.Join(t.TempDir(), "s")
	l, err := ListenUnix(path)
	if err != nil {
		t.Fatal(err)
	}
	stop := answerOn(t, l, "v9")
	info, err := os.Stat(path)
	if err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("mode %v: %v", info.Mode(), err)
	}
	client := http.Client{Transport: &http.Transport{DialContext: dialSocket(path)}}
	res, err := client.Get("http://any.name/healthz")
	if err != nil || res.StatusCode != http.StatusOK {
		t.Fatalf("%v %v", res, err)
	}
	_ = res.Body.Close()
	client.CloseIdleConnections()
	if _, err := ListenUnix(path); err == nil || !strings.Contains(err.Error(), "another beckon (v9)") {
		t.Errorf("a second server: %v", err)
	}
	stop()
	// What a killed server leaves is replaced; a file is not.
	stale, err := net.ListenUnix("unix", &net.UnixAddr{Name: path, Net: "unix"})
	if err != nil {
		t.Fatal(err)
	}
	stale.SetUnlinkOnClose(false)
	_ = stale.Close()
	again, err := ListenUnix(path)
	if err != nil {
		t.Fatal(err)
	}
	_ = again.Close()
	if err := os.WriteFile(path, []byte("mine"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := ListenUnix(path); err == nil || !strings.Contains(err.Error(), "something else") {
		t.Errorf("on a file: %v", err)
	}
	if b, _ := os.ReadFile(path); string(b) != "mine" {
		t.Error("the file is gone")
	}
}

func TestURLs(t *testing.T) {
	for addr, want := range map[string]string{"127.0.0.1:1": "http://127.0.0.1:1/", "[::1]:1": "http://[::1]:1/", "box.lan:1": "http://box.lan:1/", "[::]:1": "http://127.0.0.1:1/", ":1": "http://127.0.0.1:1/"} {
		if got := URL("http", addr); got != want {
			t.Errorf("%s: %s, want %s", addr, got, want)
		}
	}
}

// A phone uses the given name, or this machine's address.
func TestElsewhere(t *testing.T) {
	for _, c := range []struct {
		scheme, addr string
		names        []string
		want         string // empty: there is no such address
	}{
		{"http", "127.0.0.1:7483", nil, ""},
		{"http", "localhost:7483", nil, ""},
		{"http", "[::1]:7483", nil, ""},
		{"http", "nonsense", nil, ""},
		{"http", "127.0.0.1:7483", []string{"box.tail.ts.net"}, "https://box.tail.ts.net/"},
		{"http", "0.0.0.0:7483", []string{"box.lan"}, "http://box.lan:7483/"},
		{"https", "[::]:7483", []string{"box.example:443"}, "https://box.example:7483/"},
		{"http", "192.0.2.7:7483", nil, "http://192.0.2.7:7483/"},
		{"http", "[2001:db8::7]:7483", nil, "http://[2001:db8::7]:7483/"},
		{"http", "box.lan:7483", nil, "http://box.lan:7483/"},
	} {
		got, err := Elsewhere(c.scheme, c.addr, c.names)
		if got != c.want || (err == nil) != (c.want != "") {
			t.Errorf("%s %v: %q, %v; want %q", c.addr, c.names, got, err, c.want)
		}
	}
	got, err := Elsewhere("http", "0.0.0.0:7483", nil)
	known := slices.ContainsFunc(ownAddrs(), func(a netip.Addr) bool { return got == "http://"+net.JoinHostPort(a.String(), "7483")+"/" })
	if err == nil && !known {
		t.Errorf("%s is none of this machine's %v", got, ownAddrs())
	}
}

// A certificate that is renewed meanwhile is loaded, and only HTTP/1.1 is spoken.
func TestTLS(t *testing.T) {
	dir := t.TempDir()
	cert, key := filepath.Join(dir, "cert.pem"), filepath.Join(dir, "key.pem")
	writeCertificate(t, cert, key, "first")
	l, err := Listen("127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := TLS(l, cert, filepath.Join(dir, "none")); err == nil {
		t.Error("a certificate without its key was taken")
	}
	secure, err := TLS(l, cert, key)
	if err != nil {
		t.Fatal(err)
	}
	answerOn(t, secure, "v9")
	url := "https://" + l.Addr().String()
	ask := func() (name string) {
		client := http.Client{Transport: &http.Transport{TLSClientConfig: &tls.Config{InsecureSkipVerify: true}, ForceAttemptHTTP2: true, DisableKeepAlives: true}}
		res, err := client.Get(url + "/healthz")
		if err != nil {
			t.Fatal(err)
		}
		defer res.Body.Close()
		if res.Proto != "HTTP/1.1" || res.StatusCode != http.StatusOK {
			t.Errorf("%s", res.Proto)
		}
		return res.TLS.PeerCertificates[0].Subject.CommonName
	}
	if name := ask(); name != "first" {
		t.Error(name)
	}
	if health, _, ok := Ask(url); !ok || health.Version != "v9" {
		t.Errorf("it says %+v, %v", health, ok)
	}
	writeCertificate(t, cert, key, "second")
	_ = os.Chtimes(cert, time.Now(), time.Now().Add(time.Minute))
	if name := ask(); name != "second" {
		t.Errorf("after it was renewed: %s", name)
	}
}

// A server over TLS is known by its certificate's names, except wildcards.
func TestCertNames(t *testing.T) {
	dir := t.TempDir()
	cert, key := filepath.Join(dir, "cert.pem"), filepath.Join(dir, "key.pem")
	writeCertificate(t, cert, key, "box", "box.example.org", "*.example.org", "box.local")
	if got := CertNames(cert, key); !slices.Equal(got, []string{"box.example.org", "box.local", "localhost"}) {
		t.Errorf("%q", got)
	}
	if err := os.WriteFile(cert, []byte("nonsense"), 0o600); err != nil {
		t.Fatal(err)
	}
	if got := CertNames(cert, key); got != nil {
		t.Errorf("of what is none: %q", got)
	}
}

// writeCertificate makes a self-signed certificate.
func writeCertificate(t *testing.T, certFile, keyFile, name string, hosts ...string) {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := x509.Certificate{SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: name}, NotAfter: time.Now().Add(time.Hour), DNSNames: append(hosts, "localhost")}
	cert, err := x509.CreateCertificate(rand.Reader, &template, &template, &key.PublicKey, key)
	if err != nil {
		t.Fatal(err)
	}
	private, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		t.Fatal(err)
	}
	for file, block := range map[string]*pem.Block{certFile: {Type: "CERTIFICATE", Bytes: cert}, keyFile: {Type: "PRIVATE KEY", Bytes: private}} {
		if err := os.WriteFile(file, pem.EncodeToMemory(block), 0o600); err != nil {
			t.Fatal(err)
		}
	}
}
