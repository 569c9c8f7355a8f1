package hook

import (
	"os"
	"sync/atomic"
	"syscall"
	"time"
)

// watch ends the process with code 0 after d, unless stop is called. It calls late before,
// with little time. It sleeps in the system call: for a process's first timer the runtime
// opens an epoll and an event descriptor, and if the system has none left, it ends the process
// with code 2, which the client takes for "block this call".
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
