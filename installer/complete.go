package installer

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
)

// Recorded returns the settings files with a record in keep that have beckon's hooks, and the oldest
// client that the events of any were chosen for. An unknown version is the oldest.
func Recorded(keep string) (paths []string, oldest Version) {
	for _, r := range records(keep) {
		if v := ParseVersion(r.Client); len(paths) == 0 || v.Older(oldest) {
			oldest = v
		}
		paths = append(paths, r.Settings)
	}
	return paths, oldest
}

// records returns the records in keep that name their client, of files that have entries of ours.
// Those of earlier versions of this program do not name it.
func records(keep string) (all []record) {
	names, _ := fs.Glob(os.DirFS(keep), "settings-*.record.json")
	for _, name := range names {
		r, ok := loadRecord(filepath.Join(keep, name))
		r.entries = readFile(r.Settings, "", nil).Entries
		if ok && r.Client != "" && len(r.entries) > 0 {
			all = append(all, r)
		}
	}
	return all
}

// Complete adds to every settings file with a record in keep the entries for events that a
// client of version v knows, if its own were chosen for an older client. Nothing else in the
// file changes. It may run many times, and concurrently. The error joins those of all files.
func Complete(keep string, v Version) (err error) {
	for _, r := range records(keep) {
		if !ParseVersion(r.Client).Older(v) {
			continue
		}
		spec := Spec{Command: r.entries[0].Program, Events: Events(v, r.Set), Client: v, Set: r.Set, KeepAnswers: true}
		for _, e := range r.entries {
			if !slices.Contains(spec.Events, e.Event) {
				spec.Events = append(spec.Events, e.Event)
			}
		}
		_, e := Apply(Target{Scope: User, Path: r.Settings, Keep: keep}, Install(spec))
		err = errors.Join(err, e)
	}
	return err
}
