package plainfile

import "time"

// Version identifies a version of a file, even if its size and modification time were restored:
// nobody can set when its status changed. The zero value belongs to no file.
type Version struct {
	Size          int64 // bytes
	Time, Changed int64 // of the content, and of the content or name, in Unix ns
	Inode         uint64
}

// Young reports whether the file changed so recently that another change may leave the stamp
// equal: within the same tick of the file system's clock.
func (s Version) Young() bool { return s.YoungAt(time.Now(), 50*time.Millisecond) }

// YoungAt reports whether, at that time, the file had changed within d.
func (s Version) YoungAt(at time.Time, d time.Duration) bool {
	return at.Sub(time.Unix(0, max(s.Time, s.Changed))) <= d
}
