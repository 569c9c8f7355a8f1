package evidence

import (
	"errors"
	"os"
	"strconv"

	"beckon/event/plainfile"
)

// OwnTerminal returns an error unless this process runs in the foreground of a terminal that
// has no agent. What an agent starts has no controlling terminal, or its client's, even when
// its parents are gone.
//
// It does not stop a program that an agent started, that has left all its parents and made a
// terminal of its own.
func OwnTerminal() error {
	self := seatOf(strconv.Itoa(os.Getpid()))
	if self.terminal == 0 || self.front != self.group {
		return errNoTerminal
	}
	dir, err := os.Open("/proc")
	if err != nil {
		return errNoTerminal
	}
	defer dir.Close()
	names, _ := dir.Readdirnames(-1) // those that it gave
	for _, name := range names {
		if !digits(name) {
			continue
		}
		p := seatOf(name)
		if p.terminal != self.terminal || p.group != self.front {
			continue
		}
		if pid, _ := strconv.Atoi(name); isClient(p.name) || runsAgent(pid) {
			return errors.New("its terminal is an agent's")
		}
	}
	return nil
}

// seat is where a process sits: its name, process group, controlling terminal, and that
// terminal's foreground group.
type seat struct {
	name                   string
	group, terminal, front int
}

// seatOf returns where a process sits; nothing if it is gone.
func seatOf(pid string) (s seat) {
	var buf [maxStat]byte
	b, err := plainfile.Head("/proc/"+pid+"/stat", buf[:], 0)
	name, f, ok := statFields(b)
	if err != nil || !ok {
		return seat{}
	}
	number := func(field int) int { n, _ := strconv.Atoi(string(f[field])); return n }
	return seat{name, number(statGroup), number(statTerminal), number(statFront)}
}
