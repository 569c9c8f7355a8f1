//go:build !linux

package store

import "time"

// expire returns a channel that is closed when d has passed.
func expire(d time.Duration) <-chan struct{} {
	over := make(chan struct{})
	time.AfterFunc(d, func() { close(over) })
	return over
}
