package store

import (
	"syscall"
	"time"
)

// expire returns a channel that is closed when d has passed. It sleeps in the
// system call: the first timer of a process has the runtime open two
// descriptors, and end the process when there are none (see hook's watchdog).
func expire(d time.Duration) <-chan struct{} {
	end, over := time.Now().Add(d), make(chan struct{})
	go func() {
		defer close(over)
		for left := d; left > 0; left = time.Until(end) { // signals interrupt it
			t := syscall.NsecToTimespec(int64(left))
			_ = syscall.Nanosleep(&t, nil)
		}
	}()
	return over
}
