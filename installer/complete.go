package installer

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"slices"
)

// ChosenFor returns the oldest client that the events of any install with a record in keep
// were chosen for, and whether there is such an install. An unknown version is the oldest. A
// file without entries of ours does not count.
func ChosenFor(keep string) (oldest Version, installed bool) {
	for _, r := range records(keep) {
		if len(r.entries()) == 0 {
			continue
		}
		if v := ParseVersion(r.Client); !installed || v.Compare(oldest) < 0 {
			oldest, installed = v, true
		}
	}
	return oldest, installed
}

// Recorded returns the settings files that beckon was installed in and that have its hooks.
func Recorded(keep string) (paths []string) {
	for _, r := range records(keep) {
		if len(r.entries()) > 0 {
			paths = append(paths, r.Settings)
		}
	}
	return paths
}

// records returns the records in keep that name their client. Those of earlier versions of
// this program do not.
func records(keep string) (all []record) {
	for _, f := range filesLike(keep, "settings-*.record.json") {
		var r record
		data, err := os.ReadFile(f)
		if err == nil && json.Unmarshal(data, &r) == nil && r.Schema == recordSchema && r.Client != "" {
			all = append(all, r)
		}
	}
	return all
}

// Complete adds to every settings file with a record in keep the entries for events that a
// client of version v knows, if its own were chosen for an older client. Nothing else in the
// file changes: entries stay as they are, and a file without entries of ours is left alone. As
// with Install, an uninstall restores the bytes that were there before. It may run many times,
// and concurrently. The error joins those of all files.
func Complete(ctx context.Context, keep string, v Version) (changed []Change, err error) {
	for _, r := range records(keep) {
		if v.Compare(ParseVersion(r.Client)) <= 0 {
			continue
		}
		spec, ok := r.completed(v)
		if !ok {
			continue
		}
		c, e := Apply(ctx, Target{Scope: User, Path: r.Settings, Keep: keep}, Install(spec))
		if e == nil && !c.Noop() {
			changed = append(changed, c)
		}
		err = errors.Join(err, e)
	}
	return changed, err
}

// entries returns our entries in the settings file of r.
func (r record) entries() []Entry { return readFile(r.Settings, "", false).Entries }

// completed returns the entries that the settings file of r needs for a client of version v:
// those that it has, and those for the events of its set that v knows.
func (r record) completed(v Version) (Spec, bool) {
	entries := r.entries()
	if len(entries) == 0 {
		return Spec{}, false
	}
	first := entries[0]
	spec := Spec{Command: first.Program, Shell: !first.Exec, Client: v, Set: r.Set}
	for _, e := range entries {
		spec.Answers = spec.Answers || e.Answers()
		if !slices.Contains(spec.Events, e.Event) {
			spec.Events = append(spec.Events, e.Event)
		}
	}
	for _, name := range Events(v, r.Set) {
		if !slices.Contains(spec.Events, name) {
			spec.Events = append(spec.Events, name)
		}
	}
	return spec, true
}
