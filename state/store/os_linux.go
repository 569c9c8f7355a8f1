package store

import (
	"os"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// replaceFile puts the file from in the place of to. The two change places, and
// the old one is removed: ext4 takes a rename onto a file for a writer that
// forgot to sync, and writes the new one out there and then, which is most of
// what a hook's files cost (85 us against 6). A kill between the two leaves the
// old file at from.
func replaceFile(from, to string) error {
	if unix.Renameat2(unix.AT_FDCWD, from, unix.AT_FDCWD, to, unix.RENAME_EXCHANGE) != nil {
		return os.Rename(from, to) // there is no old one, or the file system cannot
	}
	_ = unix.Unlink(from)
	return nil
}

// nap is the longest a thread sleeps for a wait that may be over already.
const nap = 10 * time.Millisecond

// expire returns a channel that is closed when d has passed, or soon after done was
// closed. It sleeps in the system call: the first timer of a process makes the
// runtime open two descriptors, and ends the process when none are left (see hook's
// watchdog).
func expire(d time.Duration, done <-chan struct{}) <-chan struct{} {
	end, over := time.Now().Add(d), make(chan struct{})
	go func() {
		defer close(over)
		for left := d; left > 0; left = time.Until(end) {
			select {
			case <-done:
				return
			default:
			}
			t := syscall.NsecToTimespec(int64(min(left, nap)))
			_ = syscall.Nanosleep(&t, nil)
		}
	}()
	return over
}
