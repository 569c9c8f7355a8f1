package store

import (
	"encoding/binary"
	"hash/crc32"
	"path/filepath"
	"sync"
	"time"
)

// Cache is the files of one directory as they were read last, with the size,
// time and inode of each, in one file: a program that runs for a moment reads
// only what has changed since another did. It holds nothing that those files do
// not.
type Cache struct {
	st        *Store
	name, dir string
	listed    Stamp // of dir, zero when it is too young
	same      bool  // nothing was renamed into dir since the files were read
	old       map[string]*cached

	mu    sync.Mutex
	fresh []cached // read anew
}

// cached is one file. A file that was read within racy of its own time is not
// kept: a change in the same tick of the file system's clock would not show.
type cached struct {
	name  string
	stamp Stamp
	data  string
	used  bool
}

// Stamp tells a file from what it was before.
type Stamp struct {
	Size, Time int64 // bytes, Unix ns
	Inode      uint64
}

const (
	maxCache = 64 << 20
	// FewFiles is how many files are read rather than kept.
	FewFiles = 32
	// racy is how young a file's time may be for it not to be trusted.
	racy = 50 * time.Millisecond
)

// OpenCache returns what is kept, under name, of the files in dir. It may be
// nothing. Where files change by rename alone, the directory's own time tells
// that none has.
func (st *Store) OpenCache(name, dir string, renamed bool) *Cache {
	c := &Cache{st: st, name: name, dir: dir}
	if listed, ok := StampOf(dir); ok && renamed && !young(listed) {
		c.listed = listed
	}
	data, err := readFile(st.path(cacheDir, name), maxCache)
	if err == nil {
		c.parse(string(data))
	}
	return c
}

// Read returns the content of a file of at most limit bytes. Calls for different
// files may come at once.
func (c *Cache) Read(name string, limit int) (string, error) {
	e := c.old[name]
	if e != nil && c.same {
		e.used = true
		return e.data, nil
	}
	path := c.dir + string(filepath.Separator) + name
	stamp, known := StampOf(path)
	if e != nil && known && e.stamp == stamp {
		e.used = true
		return e.data, nil
	}
	data, err := readFile(path, limit)
	if err != nil {
		return "", err
	}
	anew := cached{name: name, stamp: stamp, data: string(data)}
	if known && !young(stamp) {
		c.mu.Lock()
		c.fresh = append(c.fresh, anew)
		c.mu.Unlock()
	}
	return anew.data, nil
}

// young reports whether a further change of the file may not show.
func young(s Stamp) bool { return time.Since(time.Unix(0, s.Time)) <= racy }

// Save keeps what was read, if that is worth it: else the next one reads the same
// few files again. A cache that cannot be written is nobody's trouble.
func (c *Cache) Save() {
	used := 0
	for _, e := range c.old {
		if e.used {
			used++
		}
	}
	if len(c.fresh) < FewFiles/2+used/8 {
		return
	}
	b := c.listed.append([]byte(cacheHead))
	for _, e := range c.old {
		if e.used {
			b = e.append(b)
		}
	}
	for i := range c.fresh {
		b = c.fresh[i].append(b)
	}
	b = append(binary.LittleEndian.AppendUint32(b, crc32.ChecksumIEEE(b)), '\n')
	_ = c.st.write("cache-"+unique(), cacheDir, c.name, b)
}

const cacheHead = "beckon cache 1\n"

func (s Stamp) append(b []byte) []byte {
	b = binary.AppendVarint(b, s.Size)
	b = binary.AppendVarint(b, s.Time)
	return binary.AppendUvarint(b, s.Inode)
}

func (e *cached) append(b []byte) []byte {
	b = binary.AppendUvarint(b, uint64(len(e.name)))
	b = append(b, e.name...)
	b = e.stamp.append(b)
	b = binary.AppendUvarint(b, uint64(len(e.data)))
	return append(b, e.data...)
}

// parse reads what Save wrote. What is not whole is as if it were not there.
func (c *Cache) parse(s string) {
	body := len(s) - len("sum_\n")
	if body < len(cacheHead) || s[:len(cacheHead)] != cacheHead {
		return
	}
	b := []byte(s)
	if crc32.ChecksumIEEE(b[:body]) != binary.LittleEndian.Uint32(b[body:]) {
		return
	}
	c.old = make(map[string]*cached, 1+body/1024)
	at := len(cacheHead)
	unsigned := func() uint64 {
		v, n := binary.Uvarint(b[at:body])
		at += max(n, 1)
		return v
	}
	signed := func() int64 {
		v, n := binary.Varint(b[at:body])
		at += max(n, 1)
		return v
	}
	stamp := func() Stamp { return Stamp{Size: signed(), Time: signed(), Inode: unsigned()} }
	text := func() string {
		n := min(int(unsigned()), max(body-at, 0))
		at += n
		return s[at-n : at]
	}
	listed := stamp()
	c.same = listed != Stamp{} && listed == c.listed
	for at < body {
		e := &cached{name: text(), stamp: stamp(), data: text()}
		c.old[e.name] = e
	}
}

// pruneCache removes what has not been written for a while: it is about sessions
// that are gone.
func (st *Store) pruneCache(name string, _ time.Time) error {
	return removeIfThere(st.path(cacheDir, name))
}
