package talk

import "os"

// startedBy reports whether process pid started this one. Nothing takes another
// process's place here, so an agent's shell is between its command and the client.
func startedBy(pid int) bool { return pid == os.Getppid() }
