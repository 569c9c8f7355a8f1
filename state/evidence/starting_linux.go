package evidence

import (
	"os"
	"strings"

	"beckon/event"
	"beckon/event/plainfile"
	"beckon/state"
)

// Unrecorded returns a reading, with the status Starting, of each client that has a key in the
// registry (PID.HEX.key, of which the name alone is read) but no record: it writes the record
// when the dialogs at its start are answered. Only a client in the foreground of a terminal can
// ask.
func Unrecorded(dir string) (list []Reading) {
	f, err := plainfile.OpenDir(dir)
	if err != nil {
		return nil
	}
	defer f.Close()
	names, _ := f.Readdirnames(2 * maxRegistry) // those that it gave
	recorded := map[string]bool{}
	for _, n := range names {
		recorded[n] = true
	}
	for _, n := range names {
		base, _, _ := strings.Cut(n, ".")
		pid, ok := registryPid(base + ".json")
		if !ok || !strings.HasSuffix(n, ".key") || recorded[base+".json"] {
			continue
		}
		p, l := lookup(pid)
		inFront := p.terminal != 0 && p.front == p.group
		if l != state.Alive || p.dead || !inFront || !clientOf(event.ClaudeCode).named(p.comm) {
			continue
		}
		began, _ := startWall(p.start)
		cwd, _ := os.Readlink(procPath(pid, "cwd"))
		list = append(list, Reading{
			Pid:             pid,
			ProcStart:       p.start,
			SessionID:       base,
			Cwd:             event.Cut(cwd, event.MaxPath),
			Status:          Starting,
			StartedAt:       began,
			StatusUpdatedAt: began,
		})
	}
	return list
}

// TerminalOf returns the terminal of another process.
func TerminalOf(pid int) event.Terminal { return Terminal(environ(pid)) }
