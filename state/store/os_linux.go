package store

import (
	"os"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// replaceFile replaces the file to by the file from. It exchanges the two and removes the old
// one. On a plain rename onto a file, ext4 assumes a writer that forgot to sync, and writes
// the new file out at once, which is most of the cost of a hook's files (85 us against 6). A
// kill in between leaves the old file at from.
func replaceFile(from, to string) error {
	if unix.Renameat2(unix.AT_FDCWD, from, unix.AT_FDCWD, to, unix.RENAME_EXCHANGE) != nil {
		return os.Rename(from, to) // there is no old file, or the file system has no exchange
	}
	_ = unix.Unlink(from)
	return nil
}

// nap is the longest sleep of a thread whose wait may be over already.
const nap = 10 * time.Millisecond

// expire returns a channel that is closed after d, or soon after done is closed. It sleeps in
// the system call: the first timer of a process makes the runtime open two descriptors, and
// ends the process when none are left (see hook's watchdog).
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
