package transcript

import (
	"bufio"
	"cmp"
	"encoding/hex"
	"errors"
	"hash/fnv"
	"io"
	"os"

	"beckon/event/plainfile"
)

// Cursor is how far a transcript was read. It is small and comparable; its zero value is the
// beginning of any file.
type Cursor struct {
	// Offset is where reading continues: at the start of a line, unless Inside.
	Offset int64
	// Mark is a hash of the up to 512 bytes before Offset. Other bytes there mean another
	// file, or a rewritten one. Empty: not checked.
	Mark string
	// Inside: Offset is within a line that is skipped, because it is too long or began before
	// what is read.
	Inside bool

	Malformed int64 // lines skipped because they are not JSON objects
	Long      int64 // lines skipped because they are longer than Limits.Line
	Restarts  int64 // times the file was not the one read before
}

// Limits bound one reading. A zero field means its default.
type Limits struct {
	// Text is how many bytes of an entry's text are kept (MaxText).
	Text int
	// Line is the longest line that is parsed, in bytes (defaultLine).
	Line int64
	// Bytes is how much one Read reads (DefaultBytes), give or take a line.
	Bytes int64
	// Back is how far before its end reading starts if the file turns out to be another one
	// (defaultBack).
	Back int64

	buffer int64 // how much is read at once; tests make it small
}

// Defaults of Limits, and the sizes of reads.
const (
	defaultLine  = 16 << 20 // a message with a few pasted images
	DefaultBytes = 4 << 20
	defaultBack  = 1 << 20

	firstWindow = 64 << 10 // how far back a search from the end begins
	bufferSize  = 2 * maxDirect
	markSize    = 512
)

func (l Limits) orDefaults() Limits {
	return Limits{
		cmp.Or(l.Text, MaxText), cmp.Or(l.Line, defaultLine), cmp.Or(l.Bytes, DefaultBytes), cmp.Or(l.Back, defaultBack),
		cmp.Or(l.buffer, bufferSize),
	}
}

// Read returns what was appended to the transcript at path since c, in the order of the file,
// and the cursor for the next call. It reads whole lines only: what follows the last line
// break is left for later. It is done when the cursor no longer moves; Limits.Bytes splits a
// long file over several calls.
//
// If the file is shorter than c says, or other bytes precede c.Offset, it is another file:
// Read counts a restart and begins at its beginning, or at the first line in its last
// Limits.Back bytes, whichever is later. So entries may come twice; their UUIDs identify them.
// (A file replaced by one of exactly c.Offset bytes is noticed when that one grows.)
//
// Memory stays below 1 MiB, without the entries. On an error of opening or reading the file,
// entries and cursor hold what was read before.
func Read(path string, c Cursor, limit Limits) ([]Entry, Cursor, error) {
	fi, err := stat(path)
	if err != nil || fi.Size() == c.Offset {
		return nil, c, err
	}
	f, size, err := open(path)
	if err != nil {
		return nil, c, err
	}
	defer f.Close()
	return readFrom(f, size, c, limit.orDefaults())
}

// Recent returns the entries of the last bound bytes of the transcript at path (64 KiB if that
// is more), and the cursor from which Read continues. Use it for a file whose past does not
// matter: its cost does not depend on the file's size. The first line is skipped if it begins
// before those bytes.
func Recent(path string, bound int64, limit Limits) ([]Entry, Cursor, error) {
	f, size, err := open(path)
	if err != nil {
		return nil, Cursor{}, err
	}
	defer f.Close()
	return recent(f, size, max(bound, firstWindow), limit.orDefaults())
}

func open(path string) (*os.File, int64, error) {
	f, err := plainfile.Open(path, os.O_RDONLY, 0)
	if err != nil {
		return nil, 0, err
	}
	fi, err := f.Stat()
	if err != nil {
		_ = f.Close()
		return nil, 0, err
	}
	return f, fi.Size(), nil
}

// stat checks the file before it is opened: opening a pipe would block.
func stat(path string) (os.FileInfo, error) {
	fi, err := os.Stat(path)
	if err == nil && !fi.Mode().IsRegular() {
		err = errors.New("reading transcript: not a regular file")
	}
	return fi, err
}

// recent reads the last bound bytes. It goes further back if they are all part of one line
// that is still being written, which must not be lost.
func recent(src io.ReaderAt, size, bound int64, lim Limits) ([]Entry, Cursor, error) {
	for {
		lim.Bytes = bound + 1
		entries, c, err := readFrom(src, size, tailOf(size, bound), lim)
		if err != nil || !c.Inside || bound >= size || bound > lim.Line {
			return entries, c, err
		}
		bound *= 4
	}
}

// tailOf returns a cursor at the first line that begins in the last bound bytes: one inside
// the line of the byte before them, which ends there if that byte is a line break.
func tailOf(size, bound int64) Cursor {
	if bound >= size {
		return Cursor{}
	}
	return Cursor{Offset: size - bound - 1, Inside: true}
}

// readFrom is Read for a source of that size.
func readFrom(src io.ReaderAt, size int64, c Cursor, lim Limits) ([]Entry, Cursor, error) {
	r := reader{src: src, size: size, lim: lim, c: c}
	if same, err := r.same(); err != nil {
		return nil, c, err
	} else if !same {
		r.restart()
	}
	start := r.c.Offset
	r.in = bufio.NewReaderSize(io.NewSectionReader(src, start, size-start), int(min(lim.buffer, size-start)))
	var err error
	for err == nil && r.c.Offset-start < lim.Bytes {
		err = r.line()
	}
	if err == io.EOF {
		err = nil
	}
	if r.c.Offset != c.Offset {
		mark, e := r.mark(r.c.Offset)
		r.c.Mark, err = mark, errors.Join(err, e)
	}
	return r.out, r.c, err
}

// reader is the state of Read.
//
// Invariant: c.Offset only moves over whole lines that were read or counted, and over bytes of
// a skipped line (c.Inside). So the result depends on the file's bytes alone, not on when and
// how often it is read.
type reader struct {
	src  io.ReaderAt
	size int64
	lim  Limits
	in   *bufio.Reader
	c    Cursor
	out  []Entry
}

// same reports whether the file is the one that the cursor belongs to.
func (r *reader) same() (bool, error) {
	if r.c.Offset > r.size || r.c.Offset < 0 {
		return false, nil
	}
	if r.c.Mark == "" {
		return true, nil
	}
	mark, err := r.mark(r.c.Offset)
	return mark == r.c.Mark, err
}

func (r *reader) restart() {
	c := tailOf(r.size, r.lim.Back)
	c.Malformed, c.Long, c.Restarts = r.c.Malformed, r.c.Long, r.c.Restarts+1
	r.c = c
}

// mark hashes the bytes before offset.
func (r *reader) mark(offset int64) (string, error) {
	if offset <= 0 {
		return "", nil
	}
	var b [markSize]byte
	n, err := readAt(r.src, b[:min(markSize, offset)], max(0, offset-markSize))
	return hashOf(b[:n]), err
}

// readAt reads up to len(b) bytes; the end of the file is not an error.
func readAt(src io.ReaderAt, b []byte, off int64) (int, error) {
	n, err := src.ReadAt(b, off)
	if err == io.EOF {
		err = nil
	}
	return n, err
}

// next reads n bytes, up to the next line break, or more than a line may have. They are b,
// if they fit in the buffer.
func (r *reader) next() (b []byte, n int64, err error) {
	b, err = r.in.ReadSlice('\n')
	n = int64(len(b))
	for err == bufio.ErrBufferFull && !r.c.Inside && n <= r.lim.Line {
		b, err = r.in.ReadSlice('\n')
		n += int64(len(b))
	}
	return b, n, err
}

// line reads the line at Offset, or what follows of it if it is skipped. The error is io.EOF
// if its end is not in the file yet.
func (r *reader) line() error {
	b, n, err := r.next()
	if err != nil && err != io.EOF && err != bufio.ErrBufferFull {
		return err
	}
	text := n // its length without the line break
	if err == nil {
		text--
	}
	switch {
	case r.c.Inside:
	case text > r.lim.Line:
		r.c.Long++
	case err != nil:
		return err
	case n == int64(len(b)):
		r.add(parse(b[:text], r.lim.Text))
	default:
		if err := r.long(text); err != nil {
			return err
		}
	}
	r.c.Offset += n
	r.c.Inside = err != nil
	if err == bufio.ErrBufferFull {
		err = nil // more of it can be skipped
	}
	return err
}

// long reads the line of n bytes at Offset, which did not fit in the buffer.
func (r *reader) long(n int64) error {
	line := io.NewSectionReader(r.src, r.c.Offset, n)
	if n > maxDirect {
		e, v, err := parseLong(line, r.lim.Text)
		if err == nil {
			r.add(e, v)
		}
		return err
	}
	b := make([]byte, n)
	if _, err := io.ReadFull(line, b); err != nil {
		return err
	}
	r.add(parse(b, r.lim.Text))
	return nil
}

func (r *reader) add(e Entry, v verdict) {
	switch v {
	case found:
		r.out = append(r.out, e)
	case malformed:
		r.c.Malformed++
	}
}

// hashOf returns the 64-bit FNV-1a hash in hexadecimal digits.
func hashOf(b []byte) string {
	h := fnv.New64a()
	_, _ = h.Write(b)
	return hex.EncodeToString(h.Sum(nil))
}
