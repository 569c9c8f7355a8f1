package evidence

// deepest bounds the walk up from a process that an agent may have started: it
// must not get past by having many parents.
const deepest = 1 << 16

// InClient reports whether a client of any known agent is among the processes
// that this one comes from. An environment can be cleared and is inherited;
// who started whom cannot be told otherwise by a command's words.
func InClient() bool {
	pid, _ := parent()
	for range deepest {
		p, l := lookup(pid)
		if pid <= 1 || l != Running {
			return false
		}
		for _, c := range clients {
			if c.named(p.comm) {
				return true
			}
		}
		pid = p.ppid
	}
	return false
}
