package evidence

import (
	"bytes"
	"os"
	"strconv"
	"strings"

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
func servesOthers(pid int) bool { return server(arguments(pid)) }

func server(args string) bool { return strings.Contains(args, "\x00app-server\x00") }

func arguments(pid int) string {
	var buf [1024]byte
	return string(procFile(pid, "cmdline", buf[:]))
}

// clientsIn returns the client's processes in the directory cwd, without its daemon.
func clientsIn(cwd string, c client, daemon int) (all []sitting) {
	dir, err := os.Open("/proc")
	if err != nil {
		return nil
	}
	defer dir.Close()
	names, _ := dir.Readdirnames(maxProcesses)
	for _, name := range names {
		n, err := strconv.Atoi(name)
		if err != nil || n == daemon {
			continue
		}
		p, l := lookup(n)
		if l != state.Alive || p.dead || !c.named(p.comm) {
			continue
		}
		args := arguments(n)
		if at, err := os.Readlink("/proc/" + name + "/cwd"); err != nil || at != cwd || server(args) {
			continue
		}
		began, _ := startWall(p.start)
		all = append(all, sitting{n, p.start, began, args, environ(n)})
	}
	return all
}

// environ returns the environment of another process.
func environ(pid int) env {
	return func(name string) string {
		for v := range bytes.SplitSeq(procFile(pid, "environ", make([]byte, maxEnviron)), []byte{0}) {
			if value, ok := bytes.CutPrefix(v, []byte(name+"=")); ok {
				return string(value)
			}
		}
		return ""
	}
}
