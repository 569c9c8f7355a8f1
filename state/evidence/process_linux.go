package evidence

import (
	"bytes"
	"errors"
	"io/fs"
	"iter"
	"os"
	"strconv"
	"syscall"
	"time"

	"beckon/event"
	"beckon/event/plainfile"
	"beckon/state"

	"golang.org/x/sys/unix"
)

// maxStat exceeds the longest head of /proc/PID/stat: 22 numbers of 20 digits and a name.
const maxStat = 1024

// machineID is made once per installation; containers often have none.
func machineID() string {
	var buf [64]byte
	b, err := plainfile.Head("/etc/machine-id", buf[:])
	if err != nil {
		b, _ = plainfile.Head("/var/lib/dbus/machine-id", buf[:])
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
	b, err := plainfile.Head("/proc/sys/kernel/random/boot_id", buf[:])
	if err != nil {
		return ""
	}
	return clean(string(bytes.TrimSpace(b)), event.MaxID)
}

func pidNamespace() string {
	ns, _ := os.Readlink("/proc/self/ns/pid")
	return clean(ns, event.MaxID)
}

// lookup reads one process. A first thread that is being released has lost its parent: another one is
// about to take its place and execute a new program, or the whole process is gone.
func lookup(pid int) (p proc, l state.Presence) {
	for range 20 {
		if p, l = lookOnce(pid); !p.dead || p.ppid != 0 {
			break
		}
		time.Sleep(10 * time.Microsecond)
	}
	return p, l
}

func lookOnce(pid int) (proc, state.Presence) {
	var buf [maxStat]byte
	stat, err := plainfile.Head(procPath(pid, "stat"), buf[:])
	switch {
	case err == nil:
		if p, ok := parseStat(stat); ok {
			return p, state.Alive
		}
	// /proc may hide other users' processes (hidepid), so the kernel is asked.
	case errors.Is(err, syscall.ESRCH), errors.Is(err, fs.ErrNotExist) && syscall.Kill(pid, 0) == syscall.ESRCH:
		return proc{}, state.Gone
	}
	return proc{}, state.Unread
}

func procPath(pid int, name string) string { return "/proc/" + strconv.Itoa(pid) + "/" + name }

// procLink returns where one of a process's links leads; "" if that cannot be read.
func procLink(pid int, name string) string {
	to, _ := os.Readlink(procPath(pid, name))
	return to
}

// procFile returns the first most bytes of one of a process's files; "" if it cannot be read.
func procFile(pid int, name string, most int) string {
	b, _ := plainfile.Head(procPath(pid, name), make([]byte, most))
	return string(b)
}

// processes returns the processes of this machine, at most most of them; all if it is -1.
func processes(most int) iter.Seq2[int, proc] {
	return func(yield func(int, proc) bool) {
		dir, err := os.Open("/proc")
		if err != nil {
			return
		}
		defer dir.Close()
		names, _ := dir.Readdirnames(most) // those that it gave
		for _, name := range names {
			pid, err := strconv.Atoi(name)
			if err != nil {
				continue
			}
			if p, l := lookup(pid); l == state.Alive && !yield(pid, p) {
				return
			}
		}
	}
}

// parseStat parses a line of /proc/PID/stat. The name is in parentheses and may itself contain
// spaces and parentheses, so fields are counted from the last closing one.
func parseStat(b []byte) (proc, bool) {
	open, end := bytes.IndexByte(b, '('), bytes.LastIndexByte(b, ')')
	if open < 0 || end < open {
		return proc{}, false
	}
	const ppidAt, groupAt, terminalAt, frontAt, threadsAt, startAt = 4, 5, 7, 8, 20, 22 // of proc(5)
	var f [startAt + 1][]byte
	rest := bytes.TrimRight(b[end+1:], "\n")
	for i := 3; i < len(f); i++ {
		f[i], rest, _ = bytes.Cut(bytes.TrimLeft(rest, " "), []byte(" "))
	}
	number := func(field int) int { n, _ := strconv.Atoi(string(f[field])); return n }
	ppid, err := strconv.ParseUint(string(f[ppidAt]), 10, strconv.IntSize-1)
	status, start := f[3], string(f[startAt])
	if err != nil || len(status) != 1 || !digits(start) {
		return proc{}, false
	}
	return proc{
		ppid: int(ppid), comm: string(b[open+1 : end]), start: start,
		// The first thread of a program reads as a zombie from when it exits until the others do, and
		// while another thread executes a new program.
		dead:  bytes.ContainsAny(status, "ZXx") && string(f[threadsAt]) <= "1",
		group: number(groupAt), terminal: number(terminalAt), front: number(frontAt),
	}, true
}

// userHz is the unit of start times in /proc: 100 a second on every architecture of Go's on Linux.
const userHz = 100

// startWall returns when a process started, by the wall clock. It is off by whatever the clock was set since.
func startWall(start string) (event.Millis, bool) {
	ticks, err := strconv.ParseInt(start, 10, 64)
	var up unix.Timespec
	if err != nil || !digits(start) || unix.ClockGettime(unix.CLOCK_BOOTTIME, &up) != nil {
		return 0, false
	}
	return event.MillisOf(time.Now()) - event.Millis(up.Nano()/1e6-ticks*(1000/userHz)), true
}

// OwnTerminal returns an error unless this process runs in the foreground of a terminal that has no agent.
// What an agent starts has no controlling terminal, or its client's, even when its parents are gone,
// unless it makes a terminal of its own.
func OwnTerminal() error {
	self, _ := lookup(os.Getpid())
	if self.terminal == 0 || self.front != self.group {
		return errNoTerminal
	}
	for pid, p := range processes(-1) {
		if p.terminal == self.terminal && p.group == self.front && runsAgent(pid, p.comm) {
			return errors.New("its terminal is an agent's")
		}
	}
	return nil
}
