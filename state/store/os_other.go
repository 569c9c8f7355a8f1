//go:build !linux

package store

import (
	"os"
	"time"
)

// replaceFile replaces the file to by the file from.
func replaceFile(from, to string) error { return os.Rename(from, to) }

func sleep(d time.Duration) { time.Sleep(d) }
