package cache

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"
)

type record struct {
	Name string `json:"name"`
	Text string `json:"text"`
}

// files is a directory of files with a cache.
type files struct {
	t         *testing.T
	path, dir string
	names     []string
	reads     int // files read in the last look
}

// setup creates n files and makes the cache trust their stamps at once.
func setup(t *testing.T, n int) *files {
	if runtime.GOOS == "windows" {
		t.Skip("nothing is cached here")
	}
	f := &files{t: t, path: filepath.Join(t.TempDir(), "cache", "files"), dir: t.TempDir()}
	for i := range n {
		f.names = append(f.names, fmt.Sprintf("f%03d", i))
		f.write(i, "first")
	}
	trust(t, -time.Hour)
	return f
}

func trust(t *testing.T, d time.Duration) {
	was := settled
	settled = d
	t.Cleanup(func() { settled = was })
}

func (f *files) file(i int) string { return filepath.Join(f.dir, f.names[i]) }

func (f *files) write(i int, text string) {
	f.t.Helper()
	if err := os.WriteFile(f.file(i), []byte(text), 0o600); err != nil {
		f.t.Fatal(err)
	}
}

// look returns the contents as a view sees them that looks once and exits.
func (f *files) look() map[string]string {
	c := Open[string, record](f.path, f.dir, len(f.names))
	f.reads = 0
	seen := map[string]string{}
	for i, name := range f.names {
		var v record
		stamp, ok := c.Get(name, name, &v)
		if !ok {
			data, err := os.ReadFile(f.file(i))
			if err != nil {
				f.t.Fatal(err)
			}
			f.reads++
			v = record{name, string(data)}
			c.Put(name, &v, stamp)
		}
		if v.Name != name {
			f.t.Errorf("%s is taken for %s", name, v.Name)
		}
		seen[name] = v.Text
	}
	c.Close(f.names)
	return seen
}

// check looks, compares the result with the files themselves, and expects the number of reads.
func (f *files) check(reads int) {
	f.t.Helper()
	time.Sleep(20 * time.Millisecond) // so that the next change has another time even by a coarse clock
	for name, text := range f.look() {
		if data, err := os.ReadFile(filepath.Join(f.dir, name)); err != nil || string(data) != text {
			f.t.Errorf("%s: %q, %v; seen as %q", name, data, err, text)
		}
	}
	if f.reads != reads {
		f.t.Errorf("%d files were read, not %d", f.reads, reads)
	}
}

func TestCache(t *testing.T) {
	f := setup(t, 100)
	f.check(100)
	f.check(0)

	f.write(3, "longer than it was")
	f.check(1)

	// The size and the modification time stay the same, and only the change time differs.
	info, err := os.Stat(f.file(4))
	if err != nil {
		t.Fatal(err)
	}
	f.write(4, "again")
	if err := os.Chtimes(f.file(4), info.ModTime(), info.ModTime()); err != nil {
		t.Fatal(err)
	}
	f.check(2) // too few files have changed for the cache to be written

	// A file is replaced by another one.
	f.write(5, "moved")
	if err := os.Rename(f.file(5), f.file(6)); err != nil {
		t.Fatal(err)
	}
	f.write(5, "first")
	f.check(4)

	for i := range 20 {
		f.write(20+i, "changed")
	}
	f.check(24)
	f.check(0)

	// A removed file leaves nothing in the cache.
	f.write(7, "a secret")
	for i := range 20 {
		f.write(20+i, "changed again")
	}
	f.check(21)
	if err := os.Remove(f.file(7)); err != nil {
		t.Fatal(err)
	}
	f.names = append(f.names[:7:7], f.names[8:]...)
	f.check(0)
	if data, err := os.ReadFile(f.path); err != nil || strings.Contains(string(data), "a secret") {
		t.Errorf("%v, or what was gone is still there", err)
	}
	if info, err := os.Stat(f.path); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("mode %v, %v", info.Mode(), err)
	}

	// A few files are not cached.
	f.names = f.names[:least-1]
	f.check(least - 1)
	if _, err := os.Stat(f.path); !os.IsNotExist(err) {
		t.Errorf("the cache of few files is still there: %v", err)
	}
}

// A file that may change without a new time is not cached.
func TestYoungFilesAreRead(t *testing.T) {
	f := setup(t, 100)
	trust(t, time.Hour)
	f.check(100)
	f.check(100)
	if _, err := os.Stat(f.path); !os.IsNotExist(err) {
		t.Errorf("there is a cache: %v", err)
	}
	future := time.Now().Add(2 * time.Hour)
	trust(t, 0)
	if err := os.Chtimes(f.file(0), future, future); err != nil {
		t.Fatal(err)
	}
	f.check(100)
	f.check(1)
}

// A file that was young when it was read is not cached, however long the reader takes: it may
// have changed again within one tick of the file system's clock.
func TestSlowReader(t *testing.T) {
	f := setup(t, least)
	trust(t, 100*time.Millisecond)
	c := Open[string, record](f.path, f.dir, least)
	if c == nil {
		t.Skip("nothing is cached here")
	}
	f.write(0, "young")
	v := record{f.names[0], "young"}
	stamp, _ := c.Get(f.names[0], f.names[0], new(record))
	for stamp.YoungAt(time.Now(), settled) {
		time.Sleep(10 * time.Millisecond)
	}
	c.Put(f.names[0], &v, stamp)
	if c.Close(f.names); len(c.added) > 0 {
		t.Error("what was read before its file had settled is kept")
	}
}

// A file that is not a cache of these records is ignored.
func TestStrangeCache(t *testing.T) {
	f := setup(t, 100)
	f.check(100)
	good, err := os.ReadFile(f.path)
	if err != nil {
		t.Fatal(err)
	}
	header, lines, _ := strings.Cut(string(good), "\n")
	for name, text := range map[string]string{
		"empty":         "",
		"zeros":         strings.Repeat("\x00", len(good)),
		"another shape": strings.Replace(header, "text", "words", 1) + "\n" + lines,
		"no shape":      lines,
		"torn":          header + "\n" + strings.ReplaceAll(lines, `"}`, ``),
		"no records":    header + "\n" + strings.Join(f.names, "\n"),
	} {
		t.Run(name, func(t *testing.T) {
			if err := os.WriteFile(f.path, []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
			f.check(100)
			f.check(0)
		})
	}
	// The complete part of a cut cache is used.
	if err := os.WriteFile(f.path, good[:len(good)/2], 0o600); err != nil {
		t.Fatal(err)
	}
	f.check(51)
}

// A cache that cannot be written does no harm.
func TestCacheReadOnly(t *testing.T) {
	f := setup(t, 100)
	if err := os.WriteFile(filepath.Dir(f.path), nil, 0o600); err != nil { // a file in the place of its directory
		t.Fatal(err)
	}
	f.check(100)
	f.check(100)
}

// Files that another machine may change are read each time.
func TestNotLocal(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("needs /proc")
	}
	if c := Open[string, record](filepath.Join(t.TempDir(), "c"), "/proc", 100); c != nil {
		t.Error("/proc is taken for a directory of files that stay as they are")
	}
}
