package web

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"beckon/testdata/need"
)

// flooded is how many connections another account holds half open.
const flooded = 2700

// flood keeps half-open connections to the server at url until stdin ends, and says when each of
// them has been open once. A connection that the server closes is made again after a while.
func flood(t *testing.T, url string) {
	var opened atomic.Int32
	for range flooded {
		go func() {
			for ; ; time.Sleep(3 * time.Second) {
				c, err := net.Dial("tcp", strings.TrimPrefix(url, "http://"))
				if err != nil {
					continue
				}
				if _, err := io.WriteString(c, "POST /hook HTTP/1.1\r\nHost: loc"); err == nil {
					opened.Add(1)
				}
				_, _ = io.Copy(io.Discard, c)
				_ = c.Close()
			}
		}()
	}
	for opened.Load() < flooded {
		time.Sleep(10 * time.Millisecond)
	}
	fmt.Println(anotherSays + "flooding")
	_, _ = io.Copy(io.Discard, os.Stdin)
}

// 2,700 half-open connections of another account cost the real program less than 150 MB, and its
// owner is served meanwhile.
func TestAnotherAccountsConnections(t *testing.T) {
	if url := os.Getenv(anotherEnv); url != "" {
		flood(t, url)
		return
	}
	if os.Geteuid() != 0 {
		need.Missing(t, "this test needs root, to be another account")
	}
	var limit syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_NOFILE, &limit); err != nil || limit.Max < flooded+100 {
		need.Missing(t, "this test needs %d open files, the limit is %d", flooded+100, limit.Max)
	}
	home := t.TempDir()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	addr := l.Addr().String()
	_ = l.Close()
	serve := exec.Command(builtProgram(t, "beckon"), "serve", "--addr", addr)
	serve.Env = []string{"HOME=" + home, "PATH=" + os.Getenv("PATH"), "BECKON_STATE_DIR=" + filepath.Join(home, "state")}
	if err := os.MkdirAll(filepath.Join(home, "state"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(home, "state", "token"), []byte(testToken), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := serve.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = serve.Process.Kill(); _ = serve.Wait() })
	owner := client{T: t, URL: "http://" + addr, Key: testToken}
	owner.Until("it listens", func() bool {
		res, err := http.Get(owner.URL + "/healthz")
		if err == nil {
			_ = res.Body.Close()
		}
		return err == nil
	})

	other := exec.Command("/proc/self/exe", "-test.run=^TestAnotherAccountsConnections$")
	other.Dir, other.Env = "/", []string{anotherEnv + "=" + owner.URL}
	other.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: another, Gid: another}}
	in, err := other.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := other.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := other.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = in.Close(); _ = other.Wait() })
	if line, err := bufio.NewReader(out).ReadString('\n'); strings.TrimSpace(line) != anotherSays+"flooding" {
		t.Fatalf("the other account says %q, %v", line, err)
	}
	proc := filepath.Join("/proc", strconv.Itoa(serve.Process.Pid))
	for i := range 20 {
		session := fmt.Sprint("session", i)
		if r := owner.Do("POST", "/hook", `{"event":"UserPromptSubmit","hookInput":{"session_id":"`+session+`","cwd":"/tmp"}}`, noKey); r.Status != http.StatusOK {
			t.Errorf("the owner's event: %d %s", r.Status, r.Body)
		}
		if r := owner.Get("/api/sessions/" + session); r.Status != http.StatusOK {
			t.Errorf("the owner's session: %d %s", r.Status, r.Body)
		}
		files, err := os.ReadDir(filepath.Join(proc, "fd"))
		if err != nil || len(files) > 600 {
			t.Errorf("the server has %d open files, %v", len(files), err)
		}
		time.Sleep(100 * time.Millisecond)
	}
	status, err := os.ReadFile(filepath.Join(proc, "status"))
	if err != nil {
		t.Fatal(err)
	}
	_, peak, _ := strings.Cut(string(status), "VmHWM:")
	kib, err := strconv.Atoi(strings.Fields(peak)[0])
	if err != nil || kib > 150_000 {
		t.Errorf("the server took %d KiB, %v", kib, err)
	}
	t.Logf("the server took %d KiB", kib)
}
