package event

// Cut returns the head of s that fits in max bytes, ending on a rune boundary.
func Cut(s string, max int) string { return cut(s, max) }

// CutTail returns the tail of s that fits in max bytes, starting on a rune
// boundary.
func CutTail(s string, max int) string { return cutTail(s, max) }
