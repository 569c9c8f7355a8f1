package doctor

import (
	"os"

	"golang.org/x/sys/unix"
)

func limitsHere() []limit {
	all := []limit{descriptors()}
	if mine, err := unix.SysctlKinfoProcSlice("kern.proc.ruid", os.Getuid()); err == nil {
		all = append(
			all,
			limit{
				name: "processes of this user (RLIMIT_NPROC)",
				max:  rlimit(unix.RLIMIT_NPROC),
				used: uint64(len(mine)),
				need: needThreads,
			},
		)
	}
	return all
}
