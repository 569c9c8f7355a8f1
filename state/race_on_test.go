//go:build race

package state

// raced says that the race detector makes everything ten times slower.
const raced = true
