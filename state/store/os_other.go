//go:build !linux

package store

import (
	"os"
	"time"
)

// replaceFile replaces the file to by the file from.
func replaceFile(from, to string) error { return os.Rename(from, to) }

// expire returns a channel that is closed after d, unless done is closed before.
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
