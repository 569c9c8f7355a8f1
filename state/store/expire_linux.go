package store

import (
	"syscall"
	"time"
)

// nap is the longest a thread sleeps for a wait that may be over already.
const nap = 10 * time.Millisecond

// expire returns a channel that is closed when d has passed, or soon after
// done was closed. It sleeps in the system call: the first timer of a process
// has the runtime open two descriptors, and end the process when there are
// none (see hook's watchdog).
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
