package web

import (
	"context"
	"fmt"
	"io"
	"net"
	"os"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"
)

const (
	forgedPosts   = 100_000
	forgedWorkers = 8  // of either user
	forgedPorts   = 64 // from forgedFirst on
	forgedFirst   = 21_300
)

// fromPort connects to addr from a port, sends text and resets the connection.
func fromPort(port int, addr, text string) bool {
	d := net.Dialer{LocalAddr: &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1), Port: port}, Timeout: time.Second, Control: func(_, _ string, c syscall.RawConn) error {
		return c.Control(func(fd uintptr) { _ = syscall.SetsockoptInt(int(fd), syscall.SOL_SOCKET, syscall.SO_REUSEADDR, 1) })
	}}
	c, err := d.DialContext(context.Background(), "tcp", addr)
	if err != nil {
		return false
	}
	_, _ = io.WriteString(c, text)
	_ = c.(*net.TCPConn).SetLinger(0)
	_ = c.Close()
	return true
}

// Posts of another user are never taken for this user's, though the same ports are this user's
// a moment later.
func TestForgedPosts(t *testing.T) {
	if testing.Short() {
		t.Skip("takes most of a minute")
	}
	if os.Geteuid() != 0 {
		t.Skip("only root can be somebody else")
	}
	x := serve(t, Options{Token: testToken})
	addr := strings.TrimPrefix(x.URL, "http://")
	ctx, cancel := context.WithCancel(t.Context())
	var work sync.WaitGroup
	for i := range forgedWorkers {
		work.Go(func() {
			for n := 0; ctx.Err() == nil; n++ {
				fromPort(forgedFirst+(n*forgedWorkers+i)%forgedPorts, addr, "")
			}
		})
	}
	said := x.asAnother("TestForgedPostsByAnother")
	cancel()
	work.Wait()
	t.Logf("%s posts", said["posts"])
	if n, err := strconv.Atoi(said["posts"]); err != nil || n < forgedPosts {
		t.Errorf("%s posts of %d, %v", said["posts"], forgedPosts, err)
	}
	keys, _, err := x.st.Live()
	if err != nil || len(keys) > 0 {
		t.Errorf("the other user's events made sessions %v, %v", keys, err)
	}
}

// TestForgedPostsByAnother is the part of TestForgedPosts that runs as another user.
func TestForgedPostsByAnother(t *testing.T) {
	url := os.Getenv(anotherEnv)
	if url == "" {
		return // TestForgedPosts runs this
	}
	addr := strings.TrimPrefix(url, "http://")
	body := `{"event":"Stop","hookInput":{"session_id":"forged","cwd":"/tmp"}}`
	post := fmt.Sprintf("%sContent-Length: %d\r\n\r\n%s", hookHead, len(body), body)
	var made atomic.Int64
	var work sync.WaitGroup
	for i := range forgedWorkers {
		work.Go(func() {
			for k := 0; made.Load() < forgedPosts && t.Context().Err() == nil; k++ {
				if fromPort(forgedFirst+(k*forgedWorkers+i)%forgedPorts, addr, post) {
					made.Add(1)
				}
			}
		})
	}
	work.Wait()
	fmt.Printf("%sposts\t%d\n", anotherSays, made.Load())
}
