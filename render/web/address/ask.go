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
	Name    string `json:"name"`  // of this machine, that only this server uses
	Token   string `json:"token"` // a fingerprint of the token that opens it
}

// Healthy is what a beckon of that version says.
func Healthy(version, name, token string) Health {
	return Health{Status: "ok", Program: program, Version: version, Name: name, Token: token}
}

// program identifies a beckon among servers.
const program = "beckon"

// Ask asks the server at url whether it is beckon, and whose: another user may have the port,
// and give the same answer.
func Ask(url string) (health Health, whose peer.Peer, ok bool) {
	return ask(url, new(net.Dialer).DialContext)
}

type dialer = func(ctx context.Context, network, addr string) (net.Conn, error)

// ask uses no proxy, and sends nothing that a wrong server must not see.
func ask(url string, by dialer) (health Health, whose peer.Peer, ok bool) {
	var conn net.Conn
	dial := func(ctx context.Context, network, addr string) (c net.Conn, err error) {
		conn, err = by(ctx, network, addr)
		return conn, err
	}
	transport := &http.Transport{DialContext: dial, TLSClientConfig: &tls.Config{InsecureSkipVerify: true}}
	client := http.Client{Timeout: time.Second, Transport: transport}
	defer client.CloseIdleConnections()
	res, err := client.Get(strings.TrimSuffix(url, "/") + "/healthz")
	if err != nil {
		return health, whose, false
	}
	defer res.Body.Close()
	whose = peer.Of(conn) // an answer proves that it has accepted the connection; before, no process owns it
	err = json.NewDecoder(io.LimitReader(res.Body, 4096)).Decode(&health)
	return health, whose, err == nil && health.Program == program
}
