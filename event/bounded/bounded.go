// Package bounded keeps the beginning of a program's output.
package bounded

// Buffer keeps the first Max bytes that are written to it and discards the rest. It has no
// ReadFrom, which io.Copy would prefer to Write.
type Buffer struct {
	Max  int
	Kept []byte
	Cut  bool // there was more
}

// Write never fails.
func (b *Buffer) Write(p []byte) (int, error) {
	n := min(len(p), b.Max-len(b.Kept))
	b.Kept = append(b.Kept, p[:n]...)
	b.Cut = b.Cut || n < len(p)
	return len(p), nil
}
