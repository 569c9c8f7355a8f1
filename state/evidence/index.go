package evidence

import (
	"os"
	"path/filepath"
	"slices"

	"beckon/state/cache"
)

// Index is the registry's files as they were read last, with the size, time and
// inode of each: Registry opens only those that changed. It is for a program
// that stays, and not safe for concurrent use.
type Index struct{ records map[string]record }

type record struct {
	reading Reading
	file    cache.Stamp
}

// Registry is the function Registry. A directory that cannot be read is empty.
func (x *Index) Registry(dir string) (out []Reading) {
	entries, _ := os.ReadDir(dir)
	fresh := make(map[string]record, len(entries))
	var buf []byte
	for _, e := range entries {
		pid, ok := registryPid(e.Name())
		if !ok || len(out) == maxRegistry {
			continue
		}
		path := filepath.Join(dir, e.Name())
		file, ok := cache.StampOf(path)
		if !ok {
			continue
		}
		old := x.records[e.Name()]
		if old.file != file {
			if buf == nil {
				buf = make([]byte, maxRegistryFile+1)
			}
			var err error
			if old.reading, err = readRegistry(path, pid, buf); err != nil {
				continue
			}
			old.file = file
		}
		if !file.Young() && old.reading.Problem != ProblemTorn {
			fresh[e.Name()] = old
		}
		out = append(out, old.reading)
	}
	x.records = fresh
	slices.SortFunc(out, func(a, b Reading) int { return a.Pid - b.Pid })
	return out
}
