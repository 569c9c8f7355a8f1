package fleet

import (
	"bufio"
	"io"
	"net"
	"strings"
	"testing"

	"github.com/nats-io/nkeys"
)

// Tokens of earlier versions name no public key: it is that of their seed.
func TestTokenOfEarlierVersion(t *testing.T) {
	pair, err := nkeys.CreateUser()
	if err != nil {
		t.Fatal(err)
	}
	key, _ := pair.PublicKey()
	seed, _ := pair.Seed()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	said := make(chan string, 1)
	go func() {
		c, err := l.Accept()
		if err != nil {
			said <- err.Error()
			return
		}
		defer c.Close()
		_, _ = io.WriteString(c, `INFO {"server_id":"x","version":"2.12.0","proto":1,"nonce":"n","auth_required":true,"headers":true,"max_payload":65536}`+"\r\n")
		line, _ := bufio.NewReader(c).ReadString('\n')
		said <- line
	}()
	a, err := ReadToken(Credential{URL: "nats://" + l.Addr().String(), User: "ann", Seed: string(seed)}.Token())
	if err != nil {
		t.Fatal(err)
	}
	if nc, err := DialOnce(a); err == nil {
		nc.Close()
	}
	if line := <-said; !strings.Contains(line, `"nkey":"`+key+`"`) || !strings.Contains(line, `"sig":"`) {
		t.Errorf("the server gets %q", line)
	}
}
