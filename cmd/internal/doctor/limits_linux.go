package doctor

import (
	"io/fs"
	"os"
	"path"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

func limitsHere() []limit {
	root := os.DirFS("/")
	all := []limit{descriptors(), {name: "address space (RLIMIT_AS)", max: rlimit(unix.RLIMIT_AS) >> 20,
		need: needMegabytes, unit: " MB"}}
	if uid := os.Getuid(); uid != 0 { // the kernel exempts root
		all = append(
			all,
			limit{
				name: "processes and threads of this user (RLIMIT_NPROC)",
				max:  rlimit(unix.RLIMIT_NPROC),
				used: threadsOf(root, uid),
				need: needThreads,
			},
		)
	}
	return append(all, groupLimits(root)...)
}

// threadsOf counts the threads of a user's processes that can be seen.
func threadsOf(root fs.FS, uid int) (n uint64) {
	files, _ := fs.Glob(root, "proc/[0-9]*/status")
	for _, f := range files {
		b, err := fs.ReadFile(root, f)
		if err != nil {
			continue // it ended
		}
		if real, _, _ := strings.Cut(member(string(b), "Uid:"), "\t"); real == strconv.Itoa(uid) {
			threads, _ := strconv.ParseUint(member(string(b), "Threads:"), 10, 64)
			n += threads
		}
	}
	return n
}

// member returns the value of name in a process's status file.
func member(status, name string) string {
	_, rest, _ := strings.Cut(status, "\n"+name)
	line, _, _ := strings.Cut(rest, "\n")
	return strings.TrimSpace(line)
}

// groupLimits returns the limits of this process's control group and its ancestors, of either
// version.
func groupLimits(root fs.FS) (all []limit) {
	b, _ := fs.ReadFile(root, "proc/self/cgroup")
	for line := range strings.Lines(string(b)) {
		part := strings.SplitN(strings.TrimSpace(line), ":", 3)
		if len(part) != 3 || part[1] != "" && part[1] != "pids" {
			continue
		}
		top := path.Join("sys/fs/cgroup", part[1])
		for dir := path.Join(top, part[2]); strings.HasPrefix(dir, top); dir = path.Dir(dir) {
			most, err := number(root, dir, "pids.max")
			used, failed := number(root, dir, "pids.current")
			if err == nil && failed == nil {
				all = append(
					all,
					limit{
						name: "processes and threads of the control group " + dir[len(top):] + " (pids.max)",
						max:  most,
						used: used,
						need: needThreads,
					},
				)
			}
		}
	}
	return all
}

// number reads a file of one number; "max" is an error.
func number(root fs.FS, dir, name string) (uint64, error) {
	b, err := fs.ReadFile(root, path.Join(dir, name))
	if err != nil {
		return 0, err
	}
	return strconv.ParseUint(strings.TrimSpace(string(b)), 10, 64)
}
