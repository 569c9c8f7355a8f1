package evidence

import (
	"bytes"
	"os"
	"strconv"
	"unsafe"

	"beckon/event"
	"beckon/state"

	"golang.org/x/sys/unix"
)

// parent returns the hook's parent. Launchd adopts orphans at once, so no start time needs to
// be checked.
func parent() (pid int, start string) { return os.Getppid(), "" }

// isParent reports whether p is the hook's parent; as on Linux, by its number.
func isParent(p event.Process) bool { return os.Getppid() == p.Pid }

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

// bootID is a random id of this boot; kern.boottime is no substitute, since it changes when
// the clock is set.
func bootID() string {
	id, err := unix.Sysctl("kern.bootsessionuuid")
	if err != nil {
		return ""
	}
	return clean(id, event.MaxID)
}

// pidNamespace is empty: macOS has no pid namespaces.
func pidNamespace() string { return "" }

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
	comm := k.Proc.P_comm[:]
	if i := bytes.IndexByte(comm, 0); i >= 0 {
		comm = comm[:i]
	}
	return proc{
		ppid:  int(k.Eproc.Ppid),
		comm:  string(comm),
		start: startOf(k.Proc.P_starttime),
		dead:  k.Proc.P_stat == szomb,
	}, state.Alive
}

// children returns when each child of a process started.
func children(pid int) (began []event.Millis) {
	all, _ := unix.SysctlKinfoProcSlice("kern.proc.all") // none: nothing is known
	for i := range all {
		if k := &all[i]; int(k.Eproc.Ppid) == pid && k.Proc.P_stat != szomb {
			t := k.Proc.P_starttime
			began = append(began, event.Millis(int64(t.Sec)*1000+int64(t.Usec)/1000))
		}
	}
	return began
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
