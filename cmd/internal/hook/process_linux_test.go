package hook

import (
	"bytes"
	"io"
	"os"
	"runtime"
	"strconv"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// A user whose programs have many pipes open gets smaller ones, two pages each: what was read
// of stdin does not fit, and a hook that writes it there never ends.
func TestHandWhenPipesAreSmall(t *testing.T) {
	type result struct {
		pipe int // size of a new pipe; 0 if none could be made
		got  []byte
	}
	given := bytes.Repeat([]byte("x"), maxGiven)
	done := make(chan result, 1)
	go func() {
		runtime.LockOSThread() // never unlocked: the thread ends with its capabilities
		withoutCapabilities(t)
		for range 2000 {
			var p [2]int
			if unix.Pipe2(p[:], unix.O_CLOEXEC) != nil {
				break
			}
			defer unix.Close(p[0])
			defer unix.Close(p[1])
			if size, err := unix.FcntlInt(uintptr(p[0]), unix.F_GETPIPE_SZ, 0); err == nil && size < maxGiven {
				out := result{pipe: size}
				if args := hand(given, []string{"PreToolUse"}); len(args) == 3 {
					fd, _ := strconv.Atoi(args[2])
					f := os.NewFile(uintptr(fd), "given")
					out.got, _ = io.ReadAll(f)
					_ = f.Close()
				}
				done <- out
				return
			}
		}
		done <- result{}
	}()
	select {
	case out := <-done:
		if out.pipe == 0 {
			t.Skip("new pipes stay large here")
		}
		if !bytes.Equal(out.got, given) {
			t.Errorf("%d of %d bytes arrive, where a pipe holds %d", len(out.got), len(given), out.pipe)
		}
	case <-time.After(20 * time.Second):
		t.Error("hand waits for a reader")
	}
}

// withoutCapabilities drops this thread's capabilities: root is exempt from the limit on pipes.
func withoutCapabilities(t *testing.T) {
	header := unix.CapUserHeader{Version: unix.LINUX_CAPABILITY_VERSION_3}
	var none [2]unix.CapUserData
	if err := unix.Capset(&header, &none[0]); err != nil {
		t.Error("capset:", err)
	}
}
