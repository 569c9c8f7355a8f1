package request

import (
	"time"

	"golang.org/x/sys/unix"
)

const (
	watchRequest = unix.IN_CREATE | unix.IN_MOVED_TO | unix.IN_DELETE_SELF | unix.IN_MOVE_SELF
	watchFile    = unix.IN_MODIFY | unix.IN_CLOSE_WRITE | unix.IN_ATTRIB | unix.IN_MOVE_SELF | unix.IN_DELETE_SELF
)

// wait sleeps in one system call until a file that matters changes, the client exits, or a
// look is due. Without inotify (a user may have few instances left) it looks more often.
func (w *waiter) wait() (answered bool, why string) {
	notify, err := unix.InotifyInit1(unix.IN_CLOEXEC | unix.IN_NONBLOCK)
	most := slow
	if err != nil { // without it nothing is watched
		most = 200 * time.Millisecond
	}
	fds := []unix.PollFd{{Fd: int32(notify), Events: unix.POLLIN}, {Fd: 1}, {Fd: -1, Events: unix.POLLIN}}
	if w.Client.Pid > 0 {
		if fd, err := unix.PidfdOpen(w.Client.Pid, 0); err == nil {
			fds[2].Fd = int32(fd)
			defer unix.Close(fd)
		} else if err == unix.ESRCH {
			return false, WhyClient
		}
		if w.clientGone() { // what was opened is another process
			return false, WhyClient
		}
	}
	// The kernel takes some 15 ms to close a descriptor that watches something, at exit, too, and
	// the client waits for the exit. So nothing is watched from the answer on.
	defer func() {
		for _, watch := range w.watches {
			_, _ = unix.InotifyRmWatch(notify, uint32(watch)) // the file may be gone
		}
	}()
	buf := make([]byte, 4096)
	for {
		w.watch(notify)
		var next time.Duration
		if answered, why, next = w.look(time.Now()); answered || why != "" {
			return answered, why
		}
		next = min(next, most)
		for i := range fds {
			fds[i].Revents = 0
		}
		if _, err := unix.Poll(fds, int(next.Milliseconds())+1); err != nil && err != unix.EINTR {
			time.Sleep(next)
		}
		if fds[1].Revents&(unix.POLLERR|unix.POLLHUP|unix.POLLNVAL) != 0 || fds[2].Revents != 0 {
			return false, WhyClient
		}
		for {
			if n, err := unix.Read(notify, buf); n <= 0 || err != nil {
				break
			}
		}
	}
}

// watch watches the files by name: a file that was replaced is another one.
func (w *waiter) watch(notify int) {
	w.watches = w.watches[:0]
	add := func(path string, events uint32) {
		if watch, err := unix.InotifyAddWatch(notify, path, events); err == nil {
			w.watches = append(w.watches, watch)
		}
	}
	add(w.dir, watchRequest)
	add(w.st.SessionFile(w.key()), unix.IN_MOVE_SELF|unix.IN_DELETE_SELF)
	if w.registry != "" && w.Kind != Reply {
		add(w.registry, watchFile)
	}
}
