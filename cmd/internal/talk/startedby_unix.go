//go:build unix

package talk

import (
	"os"

	"golang.org/x/sys/unix"
)

// startedBy reports whether process pid started this one as a client starts what its mod runs:
// in the same kernel session. An agent's shell or a hook runs in a session that the client
// made for it, and no process can join another's, not even a command that replaces the shell.
func startedBy(pid int) bool {
	own, err := unix.Getsid(0)
	if err != nil || pid != os.Getppid() {
		return false
	}
	its, err := unix.Getsid(pid)
	return err == nil && own == its
}
