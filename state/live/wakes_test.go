package live

import (
	"os"
	"path/filepath"
	"testing"
	"time"
)

// Changes are reported even while paths are added to the watcher; adding may block until the
// reports are read.
func TestWakesWhileAnotherBegins(t *testing.T) {
	dir := t.TempDir()
	k := Wakes{Log: func(err error) { t.Skip(err) }}
	changed, stop := k.Watch(dir)
	k.watching.Lock()
	if err := os.WriteFile(filepath.Join(dir, "a"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	select {
	case <-changed:
	case <-time.After(20 * time.Second):
		t.Error("nobody was woken")
	}
	k.watching.Unlock()
	stop()
}
