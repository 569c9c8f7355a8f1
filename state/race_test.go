//go:build race

package state

func init() { raced = true }
