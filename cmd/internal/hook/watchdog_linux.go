package hook

import (
	"os"
	"sync/atomic"
	"syscall"
	"time"
)

// watch ends the process, with code 0, when d has passed, unless stop is
// called. late is called before, and gets little time. It sleeps in the system call: the first timer of a process has the
// runtime open an epoll and an event descriptor, and when the system has none
// left the runtime ends the process with code 2, which the client takes for
// "block this call".
func watch(d time.Duration, late func()) (stop func()) {
	var stopped atomic.Bool
	go func() {
		sleep(d)
		if stopped.Load() {
			return
		}
		go func() {
			late()
			os.Exit(0)
		}()
		sleep(lateTime)
		os.Exit(0)
	}()
	return func() { stopped.Store(true) }
}

func sleep(d time.Duration) {
	end := time.Now().Add(d)
	for left := d; left > 0; left = time.Until(end) { // signals interrupt it
		t := syscall.NsecToTimespec(int64(left))
		_ = syscall.Nanosleep(&t, nil)
	}
}
