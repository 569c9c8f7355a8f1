package peer

import (
	"net"
	"runtime"
	"testing"
)

// connection returns both ends of a connection.
func connection(t *testing.T, listen, dial string) (served, client net.Conn) {
	t.Helper()
	l, err := net.Listen("tcp", listen)
	if err != nil {
		t.Skipf("this machine has no %s: %v", listen, err)
	}
	defer l.Close()
	_, port, _ := net.SplitHostPort(l.Addr().String())
	if client, err = net.Dial("tcp", net.JoinHostPort(dial, port)); err != nil {
		t.Fatal(err)
	}
	if served, err = l.Accept(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _, _ = served.Close(), client.Close() })
	return served, client
}

func TestOf(t *testing.T) {
	switch runtime.GOOS {
	case "linux", "darwin":
	default:
		t.Skip("this system does not tell")
	}
	for _, c := range []struct{ listen, dial string }{{"127.0.0.1:0", "127.0.0.1"}, {"[::1]:0", "::1"}, {":0", "127.0.0.1"}} {
		served, client := connection(t, c.listen, c.dial)
		for end, conn := range map[string]net.Conn{"the server's": served, "the client's": client} {
			if p := Of(conn); p.Who != Owner || p.Name == "" {
				t.Errorf("%v, %s end: %+v", c, end, p)
			}
		}
	}
}

// A closed socket belongs to nobody, whatever the system says about it.
func TestOfClosed(t *testing.T) {
	served, client := connection(t, "127.0.0.1:0", "127.0.0.1")
	_ = client.Close()
	if p := Of(served); p.Who != Unknown {
		t.Errorf("after it was closed: %+v", p)
	}
}
