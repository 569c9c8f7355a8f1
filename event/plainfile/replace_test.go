package plainfile

import (
	"errors"
	"io/fs"
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
	// A directory cannot be replaced, and no temporary file stays next to it.
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

// If several create the same file, one succeeds and leaves nothing else in the directory.
func TestCreate(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "answer")
	if err := Create(path, []byte("one")); err != nil {
		t.Fatal(err)
	}
	if err := Create(path, []byte("two")); !errors.Is(err, fs.ErrExist) {
		t.Errorf("a second time: %v", err)
	}
	if b, err := os.ReadFile(path); err != nil || string(b) != "one" {
		t.Errorf("%q, %v", b, err)
	}
	if files, err := os.ReadDir(dir); err != nil || len(files) != 1 {
		t.Errorf("%v, %v", files, err)
	}
	if err := Create(filepath.Join(dir, "none", "answer"), nil); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("without its directory: %v", err)
	}
}
