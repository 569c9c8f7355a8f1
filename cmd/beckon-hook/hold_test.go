package main

import (
	"fmt"
	"os"
	"time"

	"github.com/gofrs/flock"
)

// holdOpen takes the lock at path until release is called.
func holdOpen(path string) (release func(), err error) {
	l := flock.New(path)
	return func() { _ = l.Unlock() }, l.Lock()
}

// hold takes the lock at path, prints that it has it, and keeps it until it is killed.
func hold(path string) {
	if err := flock.New(path).Lock(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	fmt.Print(".")
	time.Sleep(time.Hour)
}
