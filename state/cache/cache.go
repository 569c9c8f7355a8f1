// Package cache keeps in one file what was read from many. A view that looks once and exits
// opens that file, and of the others only those that have changed since.
//
// It guarantees that what it returns is what the files contain. It recognises an unchanged
// file by its size, times and inode alone, so it remembers no file that changed in the seconds
// before it was read, and none that another machine may write. A cache that cannot be read
// counts as empty.
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

// least is the number of files that are worth a cache.
const least = 32

// settled is how long ago a file must have changed to be cached for other processes: more than
// the coarsest tick of a file system's clock, two seconds.
var settled = 3 * time.Second

// Cache holds what was made of the files of one directory: a record (see jsonenc) by each
// file's name. A nil cache is empty and keeps nothing. Get and Put may be called concurrently.
type Cache[Name ~string, T any] struct {
	path  string
	at    time.Time // before any file was read
	dir   dir
	known map[Name]*line
	mu    sync.Mutex
	added map[Name]string // lines
}

// line is a line of the cache file: a name, the file's stamp, the record.
type line struct {
	stamp, record string
	text          string
	right         atomic.Bool
}

// Open reads the cache at path, for that many files in a directory. It is nil if they are few,
// or if another machine may write them.
func Open[Name ~string, T any](path, directory string, files int) *Cache[Name, T] {
	if files < least {
		_ = os.Remove(path) // it may contain what is gone
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

// read returns the content of a file; empty if it cannot be read.
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
	return unsafe.String(unsafe.SliceData(data), n) // nothing writes to it any more
}

// Get puts the record of a file into v if the file is unchanged, and reports whether it did.
// Otherwise pass stamp to Put.
func (c *Cache[Name, T]) Get(name Name, file string, v *T) (stamp plainfile.Stamp, ok bool) {
	if c == nil {
		return stamp, false
	}
	stamp, _ = c.dir.stamp(file)
	l := c.known[name]
	if l == nil || l.stamp != string(appendStamp(make([]byte, 0, 64), stamp)) {
		return stamp, false
	}
	if !jsonenc.Decode(l.record, v) {
		*v = *new(T)
		return stamp, false
	}
	l.right.Store(true)
	return stamp, true
}

// Put keeps v, which was made of a file after it had this stamp. It is not enough that the
// file has settled by now: it may have changed since it was read, within the tick of its
// stamp.
func (c *Cache[Name, T]) Put(name Name, v *T, stamp plainfile.Stamp) {
	if c == nil || stamp == (plainfile.Stamp{}) || stamp.YoungAt(c.at, settled) {
		return
	}
	text := string(append(jsonenc.Append(append(appendStamp([]byte(name+" "), stamp), ' '), v), '\n'))
	c.mu.Lock()
	defer c.mu.Unlock()
	c.added[name] = text
}

// appendStamp appends s as text without spaces.
func appendStamp(b []byte, s plainfile.Stamp) []byte {
	for _, n := range [...]int64{s.Size, s.Time, s.Changed, int64(s.Inode)} {
		b = append(strconv.AppendInt(b, n, 36), '.')
	}
	return b
}

// Close writes the cache if enough was put into it, or if it has a name that is not among
// names.
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
