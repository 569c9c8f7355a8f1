//go:build race

package state

// raced is set under the race detector, which makes everything ten times slower.
const raced = true
