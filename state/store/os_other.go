//go:build !linux

package store

import (
	"os"
	"time"
)

// replaceFile puts the file from in the place of to.
func replaceFile(from, to string) error { return os.Rename(from, to) }

// expire returns a channel that is closed when d has passed, or never if done
// is closed before.
func expire(d time.Duration, done <-chan struct{}) <-chan struct{} {
	over := make(chan struct{})
	timer := time.AfterFunc(d, func() { close(over) })
	go func() {
		select {
		case <-done:
			timer.Stop()
		case <-over:
		}
	}()
	return over
}
