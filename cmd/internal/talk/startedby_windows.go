package talk

import "os"

// startedBy reports whether process pid started this one. A process cannot be replaced here,
// so an agent's shell is between its command and the client.
func startedBy(pid int) bool { return pid == os.Getppid() }
