//go:build unix

package plainfile

import (
	"os"
	"path/filepath"
	"syscall"
	"testing"
	"time"
)

// A FIFO, a device or a directory in a file's place is an error at once.
func TestReadFileNeverHangs(t *testing.T) {
	fifo := filepath.Join(t.TempDir(), "fifo")
	if err := syscall.Mkfifo(fifo, 0o600); err != nil {
		t.Skip(err)
	}
	for _, path := range []string{fifo, "/dev/zero", t.TempDir()} {
		done := make(chan error, 1)
		go func() {
			_, err := ReadFile(path)
			done <- err
		}()
		select {
		case err := <-done:
			if err == nil {
				t.Errorf("%s: read", path)
			}
		case <-time.After(5 * time.Second):
			t.Errorf("%s: still reading", path)
		}
	}
	plain := filepath.Join(t.TempDir(), "plain")
	if err := os.WriteFile(plain, []byte("x"), 0o600); err != nil {
		t.Fatal(err)
	}
	if b, err := ReadFile(plain); err != nil || string(b) != "x" {
		t.Errorf("%q, %v", b, err)
	}
}
