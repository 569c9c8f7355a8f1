// Package cache keeps in one file what was read of many. A view that looks once and
// goes opens that one, and of the others those that changed since.
//
// It guarantees: what it returns is what the files say. It takes a file for unchanged
// by its size, its times and its inode alone, so it remembers nothing of a file that
// changed in the seconds before it was read, nor of one that another machine may
// write. What the cache cannot read is as if it were not there.
package cache

import (
	"io"
	"os"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"
	"unsafe"

	"beckon/event/atomicfile"
	"beckon/event/jsonenc"
	"beckon/event/plainfile"
)

// Stamp tells a file from what it was before. The zero value is not a file's.
type Stamp struct {
	Size          int64 // bytes
	Time, Changed int64 // of the content, and of the content or name: Unix ns
	Inode         uint64
}

// Young reports whether the file has changed so lately that a further change may leave
// the stamp as it is: in the same tick of the file system's clock.
func (s Stamp) Young() bool { return s.youngAt(time.Now(), 50*time.Millisecond) }

// youngAt reports whether, at that time, the file had changed within d.
func (s Stamp) youngAt(at time.Time, d time.Duration) bool {
	return at.Sub(time.Unix(0, max(s.Time, s.Changed))) <= d
}

// least is how many files are worth a cache.
const least = 32

// settled is how long ago a file must have changed to be kept for other processes: more
// than the coarsest tick of a file system's clock, which is two seconds.
var settled = 3 * time.Second

// Cache is what was made of the files of one directory: a record (see jsonenc) by the
// name of each. A nil cache knows and keeps nothing. Get and Put may be called side by
// side.
type Cache[Name ~string, T any] struct {
	path  string
	at    time.Time // before any file was looked at
	dir   dir
	known map[Name]*line
	mu    sync.Mutex
	added map[Name]string // lines
}

// line is one of the cache file's: a name, the file's stamp, the record.
type line struct {
	stamp, record string
	text          string
	right         atomic.Bool
}

// Open reads the cache at path, of so many files in a directory. It is nil where they
// are few, or where another machine may write them.
func Open[Name ~string, T any](path, directory string, files int) *Cache[Name, T] {
	if files < least {
		_ = os.Remove(path) // it may hold what is gone
		return nil
	}
	dir, ok := openDir(directory)
	if !ok {
		return nil
	}
	c := &Cache[Name, T]{path: path, at: time.Now(), dir: dir, known: make(map[Name]*line, files), added: map[Name]string{}}
	header, text, _ := strings.Cut(read(path), "\n")
	if header != jsonenc.Shape(new(T)) {
		return c
	}
	for text := range strings.Lines(text) {
		name, rest, _ := strings.Cut(text, " ")
		stamp, record, _ := strings.Cut(rest, " ")
		c.known[Name(name)] = &line{stamp: stamp, record: record, text: text}
	}
	return c
}

// read returns the content of a file, nothing of one that cannot be read.
func read(path string) string {
	f, err := plainfile.Open(path, os.O_RDONLY, 0)
	if err != nil {
		return ""
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return ""
	}
	data := make([]byte, info.Size())
	n, _ := io.ReadFull(f, data)
	return unsafe.String(unsafe.SliceData(data), n) // nobody writes there any more
}

// Get puts the record of a file into v if the file is what it was, and reports whether
// it did. Otherwise stamp is for Put.
func (c *Cache[Name, T]) Get(name Name, file string, v *T) (stamp Stamp, ok bool) {
	if c == nil {
		return stamp, false
	}
	stamp, _ = c.dir.stamp(file)
	l := c.known[name]
	if l == nil || l.stamp != string(stamp.append(make([]byte, 0, 64))) {
		return stamp, false
	}
	if !jsonenc.Decode(l.record, v) {
		*v = *new(T)
		return stamp, false
	}
	l.right.Store(true)
	return stamp, true
}

// Put keeps v, which was made of a file after it had this stamp. That the file has
// settled by now would not do: it may have changed since it was read, in the tick of
// its stamp.
func (c *Cache[Name, T]) Put(name Name, v *T, stamp Stamp) {
	if c == nil || stamp == (Stamp{}) || stamp.youngAt(c.at, settled) {
		return
	}
	text := string(append(jsonenc.Append(append(stamp.append([]byte(name+" ")), ' '), v), '\n'))
	c.mu.Lock()
	defer c.mu.Unlock()
	c.added[name] = text
}

// append appends s as text without a space.
func (s Stamp) append(b []byte) []byte {
	for _, n := range [...]int64{s.Size, s.Time, s.Changed, int64(s.Inode)} {
		b = append(strconv.AppendInt(b, n, 36), '.')
	}
	return b
}

// Close writes the cache if enough was put into it, or if it has a name that is not
// among names any more.
func (c *Cache[Name, T]) Close(names []Name) {
	if c == nil {
		return
	}
	c.dir.close()
	gone := len(c.known)
	for _, n := range names {
		if c.known[n] != nil {
			gone--
		}
	}
	if gone == 0 && len(c.added) <= len(names)/8 {
		return
	}
	var b strings.Builder
	b.WriteString(jsonenc.Shape(new(T)) + "\n")
	for _, n := range names {
		if text := c.added[n]; text != "" {
			b.WriteString(text)
		} else if l := c.known[n]; l != nil && l.right.Load() {
			b.WriteString(l.text)
		}
	}
	_ = atomicfile.Write(c.path, []byte(b.String()), 0o600, false)
}
