package evidence

import (
	"bytes"
	"iter"
	"strconv"
	"unsafe"

	"beckon/event"
	"beckon/state"

	"golang.org/x/sys/unix"
)

// machineID is the id of the hardware.
func machineID() string {
	var id [16]byte
	wait := unix.Timespec{Sec: 1}
	_, _, errno := unix.Syscall(unix.SYS_GETHOSTUUID, uintptr(unsafe.Pointer(&id)), uintptr(unsafe.Pointer(&wait)), 0)
	if errno != 0 || id == [16]byte{} {
		return ""
	}
	return string(id[:])
}

func booted() event.Millis {
	t, err := unix.SysctlTimeval("kern.boottime")
	if err != nil {
		return 0
	}
	return event.Millis(int64(t.Sec)*1000 + int64(t.Usec)/1000)
}

// bootID is a random id of this boot; kern.boottime is no substitute, since it changes when the clock is set.
func bootID() string {
	id, err := unix.Sysctl("kern.bootsessionuuid")
	if err != nil {
		return ""
	}
	return clean(id, event.MaxID)
}

// szomb is P_stat of a zombie in <sys/proc.h>.
const szomb = 5

// lookup reads one process with sysctl kern.proc.pid. For a pid that does not exist it returns
// no data, which the package reports as EIO.
func lookup(pid int) (proc, state.Presence) {
	k, err := unix.SysctlKinfoProc("kern.proc.pid", pid)
	switch {
	case err == unix.EIO || err == unix.ESRCH:
		return proc{}, state.Gone
	case err != nil || int(k.Proc.P_pid) != pid:
		return proc{}, state.Unread
	}
	return procOf(k), state.Alive
}

func procOf(k *unix.KinfoProc) proc {
	comm, _, _ := bytes.Cut(k.Proc.P_comm[:], []byte{0})
	dead := k.Proc.P_stat == szomb
	return proc{ppid: int(k.Eproc.Ppid), comm: string(comm), start: startOf(k.Proc.P_starttime), dead: dead}
}

// processes returns the processes of this machine.
func processes(int) iter.Seq2[int, proc] {
	return func(yield func(int, proc) bool) {
		all, _ := unix.SysctlKinfoProcSlice("kern.proc.all") // none: nothing is known
		for i := range all {
			if !yield(int(all[i].Proc.P_pid), procOf(&all[i])) {
				return
			}
		}
	}
}

// startOf returns a start time in microseconds since 1970. The kernel sets it once, when the
// process is created.
func startOf(t unix.Timeval) string {
	return strconv.FormatInt(int64(t.Sec)*1_000_000+int64(t.Usec), 10)
}

// startWall returns when a process started, by the wall clock.
func startWall(start string) (event.Millis, bool) {
	us, err := strconv.ParseInt(start, 10, 64)
	return event.Millis(us / 1000), err == nil && us > 0
}
