package access

import (
	"io"
	"net"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"
)

// dialEnv makes the test binary connect to an address and stay.
const dialEnv = "BECKON_PEER_TEST_DIAL"

// resetEnv makes it connect from a port to an address, and reset the connection: "PORT ADDR".
const resetEnv = "BECKON_PEER_TEST_RESET"

func TestMain(m *testing.M) {
	if addr := os.Getenv(dialEnv); addr != "" {
		c, err := net.Dial("tcp", addr)
		if err != nil {
			os.Exit(1)
		}
		_, _ = io.Copy(io.Discard, c)
		os.Exit(0)
	}
	if from, addr, ok := strings.Cut(os.Getenv(resetEnv), " "); ok {
		c, err := dialFrom(from, addr)
		if err != nil {
			os.Exit(1)
		}
		_, _ = io.WriteString(c, "POST")
		_ = c.(*net.TCPConn).SetLinger(0)
		_ = c.Close()
		os.Exit(0)
	}
	os.Exit(m.Run())
}

// dialFrom connects from a port of 127.0.0.1.
func dialFrom(port, addr string) (net.Conn, error) {
	local, err := net.ResolveTCPAddr("tcp", net.JoinHostPort("127.0.0.1", port))
	if err != nil {
		return nil, err
	}
	return (&net.Dialer{LocalAddr: local}).Dial("tcp", addr)
}

// Who posts, resets the connection, and leaves its port to a process of this user is not
// taken for that process.
func TestPortOfAnother(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("only root can be somebody else")
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	for range 3 {
		free, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		_, port, _ := net.SplitHostPort(free.Addr().String())
		_ = free.Close()
		cmd := exec.Command("/proc/self/exe")
		cmd.Dir, cmd.Env = "/", []string{resetEnv + "=" + port + " " + l.Addr().String()}
		cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: 64321, Gid: 64321}}
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("%v %s", err, out)
		}
		own, err := dialFrom(port, l.Addr().String())
		if err != nil {
			t.Fatal(err)
		}
		for i, want := range []Peer{"", owner} {
			served, err := l.Accept()
			if err != nil {
				t.Fatal(err)
			}
			if p := peerAt(served); p != want {
				t.Errorf("connection %d from port %s: %+v", i, port, p)
			}
			_ = served.Close()
		}
		_ = own.Close()
	}
}

// The kernel knows the socket of each connection, and none of a closed one.
func TestOwner(t *testing.T) {
	for _, c := range []struct{ listen, dial string }{{"127.0.0.1:0", "127.0.0.1"}, {"[::1]:0", "::1"}, {":0", "127.0.0.1"}} {
		served, client := connection(t, c.listen, c.dial)
		there, here, _ := addresses(served)
		if s, err := find(there, here); err != nil || int(s.uid) != os.Geteuid() || s.inode == 0 {
			t.Errorf("%v: %+v, %v", c, s, err)
		}
		_ = client.Close()
		if s, err := find(there, here); err == nil {
			t.Errorf("%v, closed: %+v", c, s)
		}
	}
}

// An IPv6 socket that connects to an IPv4 address is found as well.
func TestMappedSocket(t *testing.T) {
	l, err := net.Listen("tcp4", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	fd, err := syscall.Socket(syscall.AF_INET6, syscall.SOCK_STREAM|syscall.SOCK_CLOEXEC, 0)
	if err != nil {
		t.Skipf("no IPv6: %v", err)
	}
	defer syscall.Close(fd)
	mapped := syscall.SockaddrInet6{Port: l.Addr().(*net.TCPAddr).Port, Addr: [16]byte(net.IPv4(127, 0, 0, 1))}
	if err := syscall.Connect(fd, &mapped); err != nil {
		t.Skipf("no IPv6: %v", err)
	}
	served, err := l.Accept()
	if err != nil {
		t.Fatal(err)
	}
	defer served.Close()
	if p := peerAt(served); p != owner {
		t.Errorf("%+v", p)
	}
}

// Another user is recognised, even if the server does not run as root.
func TestAnotherUser(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("only root can be somebody else")
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	cmd := exec.Command("/proc/self/exe") // whatever directory it is in
	cmd.Dir, cmd.Env = "/", []string{dialEnv + "=" + l.Addr().String()}
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: 64321, Gid: 64321}}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	served, err := l.Accept()
	if err != nil {
		t.Fatal(err)
	}
	if p := peerAt(served); p != "64321" || !p.IsAnother() {
		t.Errorf("%+v", p)
	}
	_ = served.Close()
	if err := cmd.Wait(); err != nil {
		t.Error(err)
	}
}

// The lookup that each connection needs costs little.
func BenchmarkOf(b *testing.B) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		b.Fatal(err)
	}
	defer l.Close()
	c, err := net.Dial("tcp", l.Addr().String())
	if err != nil {
		b.Fatal(err)
	}
	defer c.Close()
	served, err := l.Accept()
	if err != nil {
		b.Fatal(err)
	}
	defer served.Close()
	for b.Loop() {
		if p := peerAt(served); p != owner {
			b.Fatalf("%+v", p)
		}
	}
}
