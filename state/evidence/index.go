package evidence

import (
	"path/filepath"

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
	names, _ := registryNames(dir)
	fresh := make(map[string]record, len(names))
	for _, name := range names {
		path := filepath.Join(dir, name)
		file, ok := cache.StampOf(path)
		if !ok {
			continue
		}
		settled := !file.Young() // asked before the read: the file may change after it
		old := x.records[name]
		if old.file != file {
			var err error
			if old.reading, err = ReadRegistryFile(path); err != nil {
				continue
			}
			old.file = file
		}
		if settled && old.reading.Problem != ProblemTorn {
			fresh[name] = old
		}
		out = append(out, old.reading)
	}
	x.records = fresh
	return out
}
