package address

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"syscall"

	"beckon/render"
)

// Listen listens on the TCP address addr ("host:port"). If another beckon has the port, the
// error says so (ErrServed).
func Listen(addr string) (net.Listener, error) {
	l, err := net.Listen("tcp", addr)
	if err == nil {
		return l, nil
	}
	if !errors.Is(err, syscall.EADDRINUSE) {
		return nil, fmt.Errorf("listening on %q: %w", addr, err)
	}
	if health, _, ok := Ask(URL("http", addr)); ok {
		return nil, render.Advise(fmt.Errorf("another beckon (%s) %w", health.Version, ErrServed),
			"beckon serve url prints how to open it")
	}
	return nil, render.Advise(fmt.Errorf("address %q is taken by another program", addr), "give another one with --addr")
}

// ErrServed means that another beckon has the port.
var ErrServed = errors.New("serves there already")

// ListenUnix listens on a unix socket at path with mode 0600. A socket left by a killed server
// is replaced; anything else at path is an error.
func ListenUnix(path string) (net.Listener, error) {
	l, err := listenPrivate(path)
	if err == nil || !errors.Is(err, syscall.EADDRINUSE) {
		return l, err
	}
	info, statErr := os.Lstat(path)
	if statErr != nil || info.Mode().Type() != os.ModeSocket {
		return nil, fmt.Errorf("socket %q: something else is there", path)
	}
	if health, _, ok := ask("http://localhost", dialSocket(path)); ok {
		return nil, fmt.Errorf("socket %q: another beckon (%s) %w", path, health.Version, ErrServed)
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

func dialSocket(path string) dialer {
	return func(ctx context.Context, _, _ string) (net.Conn, error) {
		return new(net.Dialer).DialContext(ctx, "unix", path)
	}
}
