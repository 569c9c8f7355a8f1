package store

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"
)

// What comes through a cache is what the file holds, whatever the cache is like.
func TestCache(t *testing.T) {
	st := Open(t.TempDir())
	dir := t.TempDir()
	write := func(i int, text string) {
		t.Helper()
		path := filepath.Join(dir, fmt.Sprint(i))
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		old := time.Now().Add(-time.Duration(1+len(text)) * time.Second)
		if err := os.Chtimes(path, old, old); err != nil {
			t.Fatal(err)
		}
	}
	const files = 3 * FewFiles
	want := make([]string, files)
	for i := range want {
		want[i] = fmt.Sprintf("file %d\n", i)
		write(i, want[i])
	}
	// read reads all files and returns how many of them were opened.
	read := func(when string) int {
		t.Helper()
		c := st.OpenCache("c", dir, false)
		for i, text := range want {
			if got, err := c.Read(fmt.Sprint(i), 1000); err != nil || got != text {
				t.Errorf("%s: file %d is %q, %v", when, i, got, err)
			}
		}
		c.Save()
		return len(c.fresh)
	}
	if n := read("the first time"); n != files {
		t.Errorf("%d files were opened the first time", n)
	}
	if n := read("again"); n != 0 {
		t.Errorf("%d files were opened again", n)
	}
	want[3] += "more\n"
	write(3, want[3])
	if n := read("one changed"); n != 1 {
		t.Errorf("%d files were opened after one changed", n)
	}
	path := st.path(cacheDir, "c")
	whole, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for size := 0; size < len(whole); size += 37 { // torn, or a byte of it flipped
		if err := os.WriteFile(path, whole[:size], 0o600); err != nil {
			t.Fatal(err)
		}
		read("torn")
		bad := append([]byte(nil), whole...)
		bad[size] ^= 1
		if err := os.WriteFile(path, bad, 0o600); err != nil {
			t.Fatal(err)
		}
		read("damaged")
	}
	c := st.OpenCache("c", dir, false)
	if _, err := c.Read("none", 1000); !os.IsNotExist(err) {
		t.Error(err)
	}
}
