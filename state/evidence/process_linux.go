package evidence

import (
	"bytes"
	"errors"
	"io/fs"
	"iter"
	"os"
	"path"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"beckon/event"
	"beckon/event/agents"
	"beckon/event/plainfile"
	"beckon/state"

	"golang.org/x/sys/unix"
)

// maxStat exceeds the longest possible head of /proc/PID/stat: 22 numbers of 20 digits and a
// name of 64 bytes.
const maxStat = 1024

const (
	maxProcesses = 4096     // examined in a search
	maxArguments = 4 << 10  // of one process
	maxEnviron   = 64 << 10 // of one process
)

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
	var buf [maxStat]byte
	stat, err := plainfile.Head(procPath(pid, "stat"), buf[:], 0)
	switch {
	case err == nil:
		if p, ok := parseStat(stat); ok {
			return p, state.Alive
		}
	case errors.Is(err, syscall.ESRCH), errors.Is(err, fs.ErrNotExist) && syscall.Kill(pid, 0) == syscall.ESRCH:
		return proc{}, state.Gone
	}
	return proc{}, state.Unread
}

func procPath(pid int, name string) string { return "/proc/" + strconv.Itoa(pid) + "/" + name }

// procFile returns the first most bytes of one of a process's files; "" if it cannot be read.
func procFile(pid int, name string, most int) string {
	b, _ := plainfile.Head(procPath(pid, name), make([]byte, most), 0)
	return string(b)
}

// arguments returns a process's command line; each word ends with a zero byte.
func arguments(pid int) string { return procFile(pid, "cmdline", maxArguments) }

// environ returns the environment of another process.
func environ(pid int) env {
	return func(name string) string {
		for v := range strings.SplitSeq(procFile(pid, "environ", maxEnviron), "\x00") {
			if value, ok := strings.CutPrefix(v, name+"="); ok {
				return value
			}
		}
		return ""
	}
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

// parseStat parses a line of /proc/PID/stat. The name is in parentheses and may itself contain
// spaces and parentheses, so fields are counted from the last closing one.
func parseStat(b []byte) (proc, bool) {
	open, end := bytes.IndexByte(b, '('), bytes.LastIndexByte(b, ')')
	if open < 0 || end < open {
		return proc{}, false
	}
	var f [statStart + 1][]byte
	rest := bytes.TrimRight(b[end+1:], "\n")
	for i := range f {
		f[i], rest, _ = bytes.Cut(bytes.TrimLeft(rest, " "), []byte(" "))
	}
	number := func(field int) int { n, _ := strconv.Atoi(string(f[field])); return n }
	ppid, err := strconv.ParseUint(string(f[statPpid]), 10, strconv.IntSize-1)
	status, start := f[statState], string(f[statStart])
	if err != nil || len(status) != 1 || !digits(start) {
		return proc{}, false
	}
	return proc{
		ppid: int(ppid), comm: string(b[open+1 : end]), start: start,
		// The first thread of a program reads as a zombie from when it exits until the others do, and
		// while another thread executes a new program.
		dead:  bytes.ContainsAny(status, "ZXx") && string(f[statThreads]) <= "1",
		group: number(statGroup), terminal: number(statTerminal), front: number(statFront),
	}, true
}

// userHz is the unit of start times in /proc: 100 a second on every architecture of Go's on
// Linux.
const userHz = 100

// children returns when each child of a process started, by the wall clock.
func children(pid int) (began []event.Millis) {
	for _, p := range processes(maxProcesses) {
		if at, ok := startWall(p.start); ok && p.ppid == pid && !p.dead {
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

// servesOthers reports whether the arguments of pid make it a server.
func servesOthers(pid int) bool { return server(arguments(pid)) }

func server(args string) bool { return strings.Contains(args, "\x00app-server\x00") }

// clientsIn returns the client's processes in the directory cwd, without its daemon.
func clientsIn(cwd string, c client, daemon int) (all []sitting) {
	for pid, p := range processes(maxProcesses) {
		if pid == daemon || p.dead || !c.named(p.comm) {
			continue
		}
		args := arguments(pid)
		if at, err := os.Readlink(procPath(pid, "cwd")); err != nil || at != cwd || server(args) {
			continue
		}
		began, _ := startWall(p.start)
		all = append(all, sitting{pid, p.start, began, args, environ(pid)})
	}
	return all
}

// interpreters run the agents that are scripts.
var interpreters = []string{"node", "bun", "deno"}

// runsAgent reports whether a process is an agent whose name in the kernel does not show it:
// an interpreter that runs the agent, or a program that renames its threads.
func runsAgent(pid int) bool {
	return startsAgent(strings.Split(arguments(pid), "\x00"))
}

// programs returns the files that a process may run: its program, and the script that an
// interpreter was given.
func programs(pid int) (list []string) {
	if exe, err := os.Readlink(procPath(pid, "exe")); err == nil {
		list = append(list, exe)
	}
	for word := range strings.SplitSeq(arguments(pid), "\x00") {
		if path.IsAbs(word) {
			list = append(list, word)
		}
	}
	return list
}

// startsAgent reports whether a command line starts an agent.
func startsAgent(words []string) bool {
	words = slices.DeleteFunc(words, func(w string) bool { return w == "" || w[0] == '-' })
	if len(words) > 1 && slices.Contains(interpreters, path.Base(words[0])) {
		words = words[1:]
	}
	return len(words) > 0 && slices.ContainsFunc(event.Agents(), func(a *agents.Agent) bool {
		name := strings.TrimSuffix(path.Base(words[0]), ".js")
		return name == a.Install.Program || a.Package != "" && strings.Contains(words[0], "/"+a.Package+"/")
	})
}

// OwnTerminal returns an error unless this process runs in the foreground of a terminal that
// has no agent. What an agent starts has no controlling terminal, or its client's, even when
// its parents are gone.
//
// It does not stop a program that an agent started, that has left all its parents and made a
// terminal of its own.
func OwnTerminal() error {
	self, _ := lookup(os.Getpid())
	if self.terminal == 0 || self.front != self.group {
		return errNoTerminal
	}
	for pid, p := range processes(-1) {
		if p.terminal == self.terminal && p.group == self.front && (isClient(p.comm) || runsAgent(pid)) {
			return errors.New("its terminal is an agent's")
		}
	}
	return nil
}
