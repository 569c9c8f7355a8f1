//go:build unix

package talk

import (
	"os"

	"golang.org/x/sys/unix"
)

// startedBy reports whether process pid started this one as a client starts what its
// mod runs: in its own session, as the kernel counts them. What an agent's shell
// or a hook runs is in a session that the client made for it, which nothing leaves for
// another's, not even a command that takes the shell's place.
func startedBy(pid int) bool {
	own, err := unix.Getsid(0)
	if err != nil || pid != os.Getppid() {
		return false
	}
	its, err := unix.Getsid(pid)
	return err == nil && own == its
}
