package evidence

import (
	"bytes"
	"os"
	"strconv"

	"beckon/event/plainfile"
	"beckon/state"
)

const (
	maxProcesses = 4096     // examined in the search for a client
	maxEnviron   = 64 << 10 // of one
)

func procFile(pid int, name string, buf []byte) []byte {
	b, err := plainfile.Head("/proc/"+strconv.Itoa(pid)+"/"+name, buf, 0)
	if err != nil {
		return nil
	}
	return b
}

// servesOthers reports whether the arguments of pid make it a server.
func servesOthers(pid int) bool {
	var buf [1024]byte
	return bytes.Contains(procFile(pid, "cmdline", buf[:]), []byte("\x00app-server\x00"))
}

// onlyClient finds the client's process in the directory cwd, other than the daemon: its pid,
// start time and environment. pid is 0 if there is none, or more than one.
func onlyClient(c client, daemon int, cwd string) (pid int, start string, getenv env) {
	dir, err := os.Open("/proc")
	if err != nil {
		return 0, "", nil
	}
	defer dir.Close()
	names, _ := dir.Readdirnames(maxProcesses)
	for _, name := range names {
		n, err := strconv.Atoi(name)
		if err != nil || n == daemon {
			continue
		}
		p, l := lookup(n)
		if l != state.Alive || p.dead || !c.named(p.comm) || servesOthers(n) {
			continue
		}
		if at, err := os.Readlink("/proc/" + name + "/cwd"); err != nil || at != cwd {
			continue
		}
		if pid != 0 {
			return 0, "", nil
		}
		pid, start = n, p.start
	}
	if pid == 0 {
		return 0, "", nil
	}
	environ := procFile(pid, "environ", make([]byte, maxEnviron))
	return pid, start, func(name string) string {
		for _, v := range bytes.Split(environ, []byte{0}) {
			if value, ok := bytes.CutPrefix(v, []byte(name+"=")); ok {
				return string(value)
			}
		}
		return ""
	}
}
