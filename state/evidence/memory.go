package evidence

import (
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"beckon/event"
	"beckon/state"
	"beckon/state/store"
)

// Keep makes r a reader that looks again and again: what has not changed since
// the last look is not read again. It is for programs that stay (watch, serve).
// Such a reader must not be used from two goroutines at once, and its sessions
// share memory with those of earlier looks.
func (r *Reader) Keep() *Reader {
	r.memory = &memory{sessions: r.st.Loader(), registry: records{}, processes: map[event.Process]checked{}}
	return r
}

// Staged reports whether the evidence, and so the time, is a recording's.
func (r *Reader) Staged() bool { return r.staged != nil }

// live reads the live sessions.
func (r *Reader) live() ([]state.Session, []store.Problem, error) {
	if r.memory == nil {
		return r.st.Live()
	}
	r.memory.forget(time.Now())
	return r.memory.sessions.Live()
}

// memory is what a reader knows from its looks before.
type memory struct {
	sessions  *store.Loader
	registry  records
	mu        sync.Mutex // of processes: sessions are seen side by side
	processes map[event.Process]checked
}

// checked is what was found of a process, and when.
type checked struct {
	is state.Presence
	at time.Time
}

// processAge is how long it is believed that a process runs. It is under the
// second in which watch and serve recheck; what is gone
// stays gone, and is asked again all the same.
const processAge = 700 * time.Millisecond

func (m *memory) presence(p event.Process, heard event.Millis, here Machine) state.Presence {
	if l, ok := place(p, heard, here); !ok && l != Running { // nothing to look up
		return presence(p, heard, here)
	}
	m.mu.Lock()
	c, ok := m.processes[p]
	m.mu.Unlock()
	if ok {
		return c.is
	}
	c = checked{presence(p, heard, here), time.Now()}
	m.mu.Lock()
	defer m.mu.Unlock()
	m.processes[p] = c
	return c.is
}

// forget drops what is too old to be believed.
func (m *memory) forget(now time.Time) {
	for p, c := range m.processes {
		if now.Sub(c.at) >= processAge {
			delete(m.processes, p)
		}
	}
}

// records are the registry's files as they were read, by name.
type records map[string]record

type record struct {
	reading Reading
	file    fs.FileInfo
}

// racy is how young a file's time may be for it not to be trusted: a write
// within the same tick of the file system's clock would not show.
const racy = 50 * time.Millisecond

// read is Registry, but opens only the files that changed.
func (m *records) read(dir string) []Reading {
	entries, err := os.ReadDir(dir)
	if err != nil {
		*m = records{}
		return nil
	}
	now, fresh := time.Now(), make(records, len(entries))
	buf := make([]byte, 0)
	var out []Reading
	for _, e := range entries {
		pid, ok := registryPid(e.Name())
		if !ok || len(out) == maxRegistry {
			continue
		}
		path := filepath.Join(dir, e.Name())
		file, err := os.Stat(path)
		if err != nil {
			continue
		}
		old, known := (*m)[e.Name()]
		if !known || !sameFile(old.file, file) {
			if len(buf) == 0 {
				buf = make([]byte, maxRegistryFile+1)
			}
			if old.reading, err = readRegistry(path, pid, buf); err != nil {
				continue
			}
			old.file = file
		}
		if now.Sub(file.ModTime()) > racy && old.reading.Problem != ProblemTorn {
			fresh[e.Name()] = old
		}
		out = append(out, old.reading)
	}
	*m = fresh
	slices.SortFunc(out, func(a, b Reading) int { return a.Pid - b.Pid })
	return out
}

func sameFile(a, b fs.FileInfo) bool {
	return a.Size() == b.Size() && a.ModTime().Equal(b.ModTime()) && os.SameFile(a, b)
}
