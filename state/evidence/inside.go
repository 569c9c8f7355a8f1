package evidence

// deepest bounds the walk up from a process that an agent may have started: it
// must not get past by having many parents.
const deepest = 1 << 16

// InClient reports whether a client of any known agent is among the processes
// that this one comes from. An environment can be cleared and is inherited;
// who started whom cannot be told otherwise by a command's words.
func InClient() bool {
	pid, _ := parent()
	within, _ := FromClient(pid)
	return within
}

// FromClient reports whether process pid is a client of any known agent, or comes
// from one, and the name that the process has; that is empty when there is no
// such process, or it cannot be looked at.
func FromClient(pid int) (within bool, name string) {
	for range deepest {
		p, l := lookup(pid)
		if pid <= 1 || l != Running {
			return false, name
		}
		if name == "" {
			name = p.comm
		}
		for _, c := range clients {
			if c.named(p.comm) {
				return true, name
			}
		}
		if runsAgent(pid) {
			return true, name
		}
		pid = p.ppid
	}
	return false, name
}
