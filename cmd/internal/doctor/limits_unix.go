//go:build unix

package doctor

import (
	"math"

	"golang.org/x/sys/unix"
)

// rlimit returns a limit of this process. Go raises the limit on descriptors to its maximum at
// start, here as in the hook.
func rlimit(resource int) uint64 {
	var r unix.Rlimit
	if unix.Getrlimit(resource, &r) != nil {
		return math.MaxUint64
	}
	return uint64(r.Cur)
}

func descriptors() limit {
	return limit{name: "open files (RLIMIT_NOFILE)", max: rlimit(unix.RLIMIT_NOFILE), need: needDescriptors}
}
