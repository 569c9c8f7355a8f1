package evidence

import (
	"bytes"
	"errors"
	"io/fs"
	"os"
	"strconv"
	"syscall"
	"time"

	"beckon/event"
	"beckon/event/plainfile"
	"beckon/state"

	"golang.org/x/sys/unix"
)

// maxStat exceeds the longest possible head of /proc/PID/stat: 22 numbers of 20 digits and a
// name of 64 bytes.
const maxStat = 1024

// parent returns the hook's parent. Linux gives orphans to a reaper, so the pid is always
// current and no start time needs to be checked.
func parent() (pid int, start string) { return os.Getppid(), "" }

// isParent reports whether p is the hook's parent, by pid alone. If the pid now belongs to
// another client, that client's session begins with SessionStart, which reads everything anew.
// The namespace is not compared: reading it costs every hook more than all the rest here.
func isParent(p event.Process) bool { return os.Getppid() == p.Pid }

// machineID is made once per installation; containers often have none.
func machineID() string {
	var buf [64]byte
	b, err := plainfile.Head("/etc/machine-id", buf[:], 0)
	if err != nil {
		b, _ = plainfile.Head("/var/lib/dbus/machine-id", buf[:], 0)
	}
	return string(bytes.TrimSpace(b))
}

// booted returns when the machine started, to about a second.
func booted() event.Millis {
	var si syscall.Sysinfo_t
	if syscall.Sysinfo(&si) != nil {
		return 0
	}
	return event.Millis(time.Now().UnixMilli() - int64(si.Uptime)*1000)
}

func bootID() string {
	var buf [64]byte
	b, err := plainfile.Head("/proc/sys/kernel/random/boot_id", buf[:], 0)
	if err != nil {
		return ""
	}
	return clean(string(bytes.TrimSpace(b)), event.MaxID)
}

func pidNamespace() string {
	ns, _ := os.Readlink("/proc/self/ns/pid")
	return clean(ns, event.MaxID)
}

// lookup reads one process. A missing file proves nothing by itself: /proc may hide other
// users' processes (hidepid), so the kernel is asked.
func lookup(pid int) (p proc, l state.Presence) {
	// A first thread that is being released has lost its parent: another one is about to take its
	// place and execute a new program, or the whole process is gone.
	for range 20 {
		if p, l = lookOnce(pid); !p.dead || p.ppid != 0 {
			break
		}
		time.Sleep(10 * time.Microsecond)
	}
	return p, l
}

func lookOnce(pid int) (proc, state.Presence) {
	var path [32]byte
	b := strconv.AppendInt(append(path[:0], "/proc/"...), int64(pid), 10)
	var buf [maxStat]byte
	stat, err := plainfile.Head(string(append(b, "/stat"...)), buf[:], 0)
	switch {
	case err == nil:
		if p, ok := parseStat(stat); ok {
			return p, state.Alive
		}
		return proc{}, state.Unread
	case errors.Is(err, syscall.ESRCH):
		return proc{}, state.Gone
	case errors.Is(err, fs.ErrNotExist):
		if syscall.Kill(pid, 0) == syscall.ESRCH {
			return proc{}, state.Gone
		}
	}
	return proc{}, state.Unread
}

// The fields of /proc/PID/stat that follow the name, counted from 0: proc(5)
// numbers them from 3.
const (
	statState    = 0  // field 3
	statPpid     = 1  // field 4
	statGroup    = 2  // field 5
	statTerminal = 4  // field 7
	statFront    = 5  // field 8
	statThreads  = 17 // field 20
	statStart    = 19 // field 22
)

// statFields splits a line of /proc/PID/stat. The name is in parentheses and may itself contain
// spaces and parentheses, so fields are counted from the last closing one. Missing
// fields are empty.
func statFields(b []byte) (name string, fields [statStart + 1][]byte, ok bool) {
	open, end := bytes.IndexByte(b, '('), bytes.LastIndexByte(b, ')')
	if open < 0 || end < open {
		return "", fields, false
	}
	rest := bytes.TrimRight(b[end+1:], "\n")
	for i := range fields {
		fields[i], rest, _ = bytes.Cut(bytes.TrimLeft(rest, " "), []byte(" "))
	}
	return string(b[open+1 : end]), fields, true
}

// parseStat parses a line of /proc/PID/stat.
func parseStat(b []byte) (proc, bool) {
	name, f, ok := statFields(b)
	status, start := f[statState], string(f[statStart])
	ppid, err := strconv.ParseUint(string(f[statPpid]), 10, strconv.IntSize-1)
	if !ok || err != nil || len(status) != 1 || !digits(start) {
		return proc{}, false
	}
	// The first thread of a program reads as a zombie from when it exits until the others do, and
	// while another thread executes a new program.
	dead := bytes.ContainsAny(status, "ZXx") && string(f[statThreads]) <= "1"
	return proc{ppid: int(ppid), comm: name, start: start, dead: dead}, true
}

// userHz is the unit of start times in /proc: 100 a second on every architecture of Go's on
// Linux.
const userHz = 100

// children returns when each child of a process started, by the wall clock.
func children(pid int) (began []event.Millis) {
	dir, err := os.Open("/proc")
	if err != nil {
		return nil
	}
	defer dir.Close()
	names, _ := dir.Readdirnames(maxProcesses)
	for _, name := range names {
		n, err := strconv.Atoi(name)
		if err != nil {
			continue
		}
		p, l := lookup(n)
		if at, ok := startWall(p.start); l == state.Alive && ok && p.ppid == pid && !p.dead {
			began = append(began, at)
		}
	}
	return began
}

// startWall returns when a process started, by the wall clock. It is off by whatever the clock
// was set since.
func startWall(start string) (event.Millis, bool) {
	ticks, err := strconv.ParseInt(start, 10, 64)
	var up unix.Timespec
	if err != nil || !digits(start) || unix.ClockGettime(unix.CLOCK_BOOTTIME, &up) != nil {
		return 0, false
	}
	return event.MillisOf(time.Now()) - event.Millis(up.Nano()/1e6-ticks*(1000/userHz)), true
}
