package atomicfile

import (
	"os"
	"path/filepath"
	"runtime"
	"testing"
)

func TestWrite(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "f")
	for _, mode := range []os.FileMode{0o600, 0o644} {
		for _, sync := range []bool{false, true} {
			if err := Write(path, []byte("new"), mode, sync); err != nil {
				t.Fatal(err)
			}
			info, err := os.Stat(path)
			if err != nil || runtime.GOOS != "windows" && info.Mode() != mode {
				t.Errorf("mode %v, %v; want %v", info.Mode(), err, mode)
			}
		}
	}
	// A directory cannot be replaced; nothing is left beside it.
	if err := Write(dir, nil, 0o600, false); err == nil {
		t.Error("replaced a directory")
	}
	if err := os.MkdirAll(filepath.Join(dir, "d", "full"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := Write(filepath.Join(dir, "d"), nil, 0o600, false); err == nil {
		t.Error("replaced a directory")
	}
	if names, _ := filepath.Glob(filepath.Join(dir, ".new-*")); len(names) > 0 {
		t.Errorf("left %q", names)
	}
	if b, err := os.ReadFile(path); err != nil || string(b) != "new" {
		t.Errorf("%q, %v", b, err)
	}
}
