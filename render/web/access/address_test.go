package access

import (
	"net"
	"net/http"
	"net/netip"
	"slices"
	"strings"
	"testing"

	"beckon/event/typed"
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
	s := &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		JSON(w, http.StatusOK, new(Guard).Health(version))
	})}
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
	if typed.HintOf(err) == "" || !strings.Contains(err.Error(), "another beckon (v9) serves there already") {
		t.Errorf("error %v, hint %q", err, typed.HintOf(err))
	}
	_, port, err := net.SplitHostPort(addr)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := Listen("0.0.0.0:" + port); err == nil || !strings.Contains(err.Error(), "serves there already") {
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

func TestLocal(t *testing.T) {
	for addr, want := range map[string]string{"127.0.0.1:1": "http://127.0.0.1:1/", "[::1]:1": "http://[::1]:1/", "box.lan:1": "http://box.lan:1/", "[::]:1": "http://127.0.0.1:1/", ":1": "http://127.0.0.1:1/"} {
		if got := Local(addr); got != want {
			t.Errorf("%s: %s, want %s", addr, got, want)
		}
	}
}

// A phone uses the given name, or this machine's address.
func TestElsewhere(t *testing.T) {
	for _, c := range []struct {
		addr  string
		names []string
		want  string // empty: there is no such address
	}{
		{"127.0.0.1:7483", nil, ""},
		{"localhost:7483", nil, ""},
		{"[::1]:7483", nil, ""},
		{"127.0.0.1:7483", []string{"box.tail.ts.net"}, "https://box.tail.ts.net/"},
		{"0.0.0.0:7483", []string{"box.lan"}, "http://box.lan:7483/"},
		{"[::]:7483", []string{"box.example:443"}, "http://box.example:7483/"},
		{"192.0.2.7:7483", nil, "http://192.0.2.7:7483/"},
		{"[2001:db8::7]:7483", nil, "http://[2001:db8::7]:7483/"},
		{"box.lan:7483", nil, "http://box.lan:7483/"},
	} {
		got, err := Elsewhere(c.addr, c.names)
		if got != c.want || (err == nil) != (c.want != "") {
			t.Errorf("%s %v: %q, %v; want %q", c.addr, c.names, got, err, c.want)
		}
	}
	got, err := Elsewhere("0.0.0.0:7483", nil)
	known := slices.ContainsFunc(ownAddrs(), func(a netip.Addr) bool { return got == "http://"+net.JoinHostPort(a.String(), "7483")+"/" })
	if err == nil && !known {
		t.Errorf("%s is none of this machine's %v", got, ownAddrs())
	}
}
