package access

import (
	"net"
	"os"
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
			if p := peerAt(conn); p != owner {
				t.Errorf("%v, %s end: %q", c, end, p)
			}
		}
	}
}

// A closed socket belongs to nobody, whatever the system says about it.
func TestOfClosed(t *testing.T) {
	served, client := connection(t, "127.0.0.1:0", "127.0.0.1")
	_ = client.Close()
	if p := peerAt(served); p != "" {
		t.Errorf("after it was closed: %+v", p)
	}
}

// A closed connection belongs to no process; an open one belongs to its own.
func TestProcesses(t *testing.T) {
	needsPeers(t)
	if runtime.GOOS == "windows" {
		t.Skip("whose program asks is not told here")
	}
	l, err := Listen("127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	client, err := net.Dial("tcp", l.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	served, err := l.Accept()
	if err != nil {
		t.Fatal(err)
	}
	defer served.Close()
	if pids, sure, own := processes(served); !sure || !own || len(pids) == 0 || pids[0] != os.Getpid() {
		t.Errorf("open: %v, %t", pids, sure)
	}
	_ = client.Close()
	if pids, sure, _ := processes(served); sure || len(pids) != 0 {
		t.Errorf("closed: %v, %t", pids, sure)
	}
}
