package address

import (
	"context"
	"crypto/tls"
	"encoding/json"
	"io"
	"net"
	"net/http"
	"strings"
	"time"

	"beckon/render/web/peer"
)

// Health is what a server says of itself to anybody, at /healthz.
type Health struct {
	Status  string `json:"status"`
	Program string `json:"program"`
	Version string `json:"version"`
}

// Healthy is what a beckon of that version says.
func Healthy(version string) Health { return Health{"ok", program, version} }

// program identifies a beckon among servers.
const program = "beckon"

// Ask asks the server at url whether it is beckon, which version, and whose: another user may
// have the port, and give the same answer.
func Ask(url string) (version string, whose peer.Peer, ok bool) {
	return ask(url, new(net.Dialer).DialContext)
}

func ask(url string, by dialer) (version string, whose peer.Peer, ok bool) {
	var health Health
	_, whose, err := fetch(http.MethodGet, url, "/healthz", time.Second, by, &health)
	return health.Version, whose, err == nil && health.Program == program
}

type dialer = func(ctx context.Context, network, addr string) (net.Conn, error)

// Fetch parses the JSON response of the server at url into v. It uses no proxy, and sends
// nothing that a wrong server must not see.
func Fetch(method, url, path string, within time.Duration, v any) (status string, err error) {
	status, _, err = fetch(method, url, path, within, new(net.Dialer).DialContext, v)
	return status, err
}

// fetch is Fetch by a dialer; it also tells whose server it is.
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
