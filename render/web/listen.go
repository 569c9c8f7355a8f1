package web

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
	"strings"
	"syscall"
	"time"
)

// Advised is an error with what to do about it.
type Advised struct {
	Err    error
	Advice string
}

func (e *Advised) Error() string { return e.Err.Error() }

// Unwrap returns the error without the advice.
func (e *Advised) Unwrap() error { return e.Err }

// Hint returns the advice.
func (e *Advised) Hint() string { return e.Advice }

// Listen opens the TCP address addr ("host:port"). Beyond loopback it wants a
// token: whoever can reach the port could read what agents do. A port that
// another beckon has is an error that says so.
func Listen(addr, token string) (net.Listener, error) {
	host, _, err := net.SplitHostPort(addr)
	if err != nil {
		return nil, &Advised{fmt.Errorf("address %q: want host:port", addr), "for example " + DefaultAddr}
	}
	if !loopbackName(host) && token == "" {
		return nil, &Advised{fmt.Errorf("address %q is reachable from other machines", addr), "set BECKON_TOKEN to a secret that every request must give, or listen on " + DefaultAddr}
	}
	l, err := net.Listen("tcp", addr)
	if errors.Is(err, syscall.EADDRINUSE) {
		return nil, taken(addr)
	}
	if err != nil {
		return nil, fmt.Errorf("listening on %q: %w", addr, err)
	}
	return l, nil
}

// taken says who has the port.
func taken(addr string) error {
	url := URL(addr)
	client := http.Client{Timeout: time.Second, Transport: &http.Transport{}} // no proxy stands between
	defer client.CloseIdleConnections()
	if version, ok := askBeckon(&client, strings.TrimSuffix(url, "/")); ok {
		return &Advised{fmt.Errorf("another beckon (%s) serves there already", version), "open " + url}
	}
	return &Advised{fmt.Errorf("address %q is taken by another program", addr), "give another one with --addr"}
}

// URL is where a server that listens on addr ("host:port") is asked from this
// machine. All addresses are no address, and no server is known by that name.
func URL(addr string) string {
	host, port, err := net.SplitHostPort(addr)
	if ip, e := netip.ParseAddr(host); err == nil && (host == "" || e == nil && ip.IsUnspecified()) {
		addr = net.JoinHostPort("127.0.0.1", port)
	}
	return "http://" + addr + "/"
}

// askBeckon asks what listens at url whether it is beckon, and which version.
func askBeckon(client *http.Client, url string) (version string, ok bool) {
	res, err := client.Get(url + "/healthz")
	if err != nil {
		return "", false
	}
	defer res.Body.Close()
	var health health
	err = json.NewDecoder(io.LimitReader(res.Body, 4096)).Decode(&health)
	return health.Version, err == nil && health.Program == program
}

// ListenUnix opens a unix socket at path with mode 0600. A socket that a killed
// server left is replaced; anything else at path is an error.
func ListenUnix(path string) (net.Listener, error) {
	l, err := listenPrivate(path)
	if err == nil || !errors.Is(err, syscall.EADDRINUSE) {
		return l, err
	}
	info, statErr := os.Lstat(path)
	if statErr != nil || info.Mode().Type() != os.ModeSocket {
		return nil, fmt.Errorf("socket %q: something else is there", path)
	}
	client := http.Client{Timeout: time.Second, Transport: dialSocket(path)}
	defer client.CloseIdleConnections()
	if version, ok := askBeckon(&client, "http://localhost"); ok {
		return nil, fmt.Errorf("socket %q: another beckon (%s) serves there already", path, version)
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

func dialSocket(path string) http.RoundTripper {
	return &http.Transport{DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
		var d net.Dialer
		return d.DialContext(ctx, "unix", path)
	}}
}

// loopbackName reports whether host can only mean this machine.
func loopbackName(host string) bool {
	host = strings.TrimSuffix(strings.ToLower(host), ".")
	if host == "localhost" || strings.HasSuffix(host, ".localhost") {
		return true
	}
	ip, err := netip.ParseAddr(host)
	return err == nil && ip.Unmap().IsLoopback()
}
