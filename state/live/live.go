// Package live shows the sessions of this machine as they are now: a Snapshot
// is all of them at one moment, each with its evidence and verdict; a Follower
// keeps one current and says what changed. Every view goes through it, so all
// views agree. What evidence tells beyond the hooks is folded into the store.
//
// It guarantees: a view that cannot write shows what it saw all the same; what
// cannot be read is told as a problem, not left out; a second look of a Follower
// costs what has changed since the first.
package live

import (
	"errors"
	"iter"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"beckon/event"
	"beckon/state"
	"beckon/state/evidence"
	"beckon/state/store"
)

// Snapshot is the sessions at one moment.
type Snapshot struct {
	Now      event.Millis
	Seen     []state.Seen    // in the order of their keys; those without hooks last
	Problems []store.Problem // the sessions that could not be read
	Staged   bool            // the evidence, and so the time, is a recording's
}

// Reader looks at sessions with everything this machine can tell of them.
type Reader struct {
	// Clock is time.Now unless it is set. It is not asked where the evidence is
	// staged.
	Clock func() time.Time
	// SkipMeters leaves out what status lines reported: one file a session, for
	// views that do not show it.
	SkipMeters bool

	st       *store.Store
	registry string
	here     evidence.Machine
	staged   *staged
	besides  besides
}

// NewReader returns a reader of the sessions in st. registry is the client's
// registry directory, empty for none. If the state directory holds a StagedFile,
// it takes the place of the machine, the registry and the clock.
func NewReader(st *store.Store, registry string) *Reader {
	return &Reader{Clock: time.Now, st: st, registry: registry, here: evidence.ThisMachine(), staged: readStaged(st.Dir)}
}

// Now returns the time to resolve at.
func (r *Reader) Now() event.Millis {
	if r.staged != nil {
		return r.staged.now
	}
	return event.MillisOf(r.Clock())
}

// Look reads the live sessions, folds what the evidence tells beyond their
// hooks, and resolves them. Sessions that only the client's registry knows are
// added, with the registry as their source. With archived set the archive is
// read too.
func (r *Reader) Look(archived bool) (Snapshot, error) {
	snap := Snapshot{Now: r.Now(), Staged: r.staged != nil}
	registry := make(chan readings, 1)
	go func() { registry <- r.readRegistry() }() // both wait for the disk most of the time
	sessions, problems, err := r.st.Live()
	known := <-registry
	if err != nil {
		return snap, err
	}
	if archived {
		old, more, e := r.st.Archived()
		sessions, problems, err = append(sessions, old...), append(problems, more...), errors.Join(err, e)
	}
	snap.Problems = problems
	var meters *store.Meters
	if !r.SkipMeters {
		meters = r.st.Meters()
	}
	snap.Seen = make([]state.Seen, len(sessions))
	store.Parallel(len(sessions), func(i int) {
		snap.Seen[i], _ = r.see(sessions[i], known, snap.Now)
		s := &snap.Seen[i].Session
		snap.Seen[i].Meter = s.Metered(meters.Of(store.KeyOf(s.Record())))
	})
	if !archived {
		snap.Seen = slices.DeleteFunc(snap.Seen, func(v state.Seen) bool { return r.archive(&v, snap.Now) })
	}
	if r.staged == nil {
		_ = r.st.Prune(snap.Now.Time())
	}
	for _, u := range unaccounted(pointers(snap.Seen), known) {
		if v, ok := r.unhooked(u, snap.Now); ok {
			snap.Seen = append(snap.Seen, v)
		}
	}
	return snap, err
}

// One looks at a single session.
func (r *Reader) One(s state.Session, now event.Millis) state.Seen {
	v, _ := r.see(s, r.readRegistry(), now)
	v.Meter = v.Session.Metered(r.st.Meter(store.KeyOf(s.Record())))
	return v
}

// readings are the client's registry, by pid.
type readings map[int]evidence.Reading

// readRegistry reads the client's registry. Without it, hooks lead.
func (r *Reader) readRegistry() readings {
	if r.staged != nil || r.registry == "" {
		return r.byPid(nil)
	}
	list, _ := evidence.Registry(r.registry)
	return r.byPid(list)
}

func (r *Reader) byPid(list []evidence.Reading) readings {
	if r.staged != nil {
		list = r.staged.registry
	}
	known := make(readings, len(list))
	for _, reading := range list {
		known[reading.Pid] = reading
	}
	return known
}

// of returns the record of process p, if there is one that can be used.
func (known readings) of(p event.Process) (evidence.Reading, bool) {
	reading, ok := known[p.Pid]
	return reading, ok && reading.Usable() && evidence.Match(reading, p)
}

func (r *Reader) presence(p event.Process, heard event.Millis) state.Presence {
	switch {
	case r.staged == nil:
		return r.here.Presence(p, heard)
	case p.Pid == 0:
		return state.Unread
	}
	// A process that has left the recorded registry is not known to be gone: the
	// client removes its record just before it exits.
	return state.Alive
}

// lone is a registry record that no hooked session accounts for.
type lone struct {
	reading evidence.Reading
	several bool // another process is known to run the same session
}

// unaccounted returns the records that no session of seen accounts for, in the
// order of their pids: clients that were started before the hooks were
// installed. A policy's own judge is none: it runs with hooks off, and for
// seconds.
func unaccounted(seen iter.Seq[*state.Seen], known readings) (list []lone) {
	if len(known) == 0 {
		return nil
	}
	accounted := make(map[int]bool, len(known))
	ids := map[string]bool{} // of sessions: true where the process is not known to be another one
	for v := range seen {
		s, p := &v.Session, v.Session.Origin.Process
		if evidence.Match(known[p.Pid], p) {
			accounted[p.Pid] = true
		}
		ids[s.ID] = ids[s.ID] || p.Pid == 0 || !v.Evidence.Process.Known()
	}
	for _, pid := range slices.Sorted(maps.Keys(known)) {
		reading := known[pid]
		judge := strings.HasPrefix(filepath.Base(reading.Cwd), event.JudgeDir)
		hidden, several := ids[reading.SessionID]
		if accounted[pid] || hidden || judge || !reading.Usable() || reading.SessionID == "" {
			continue
		}
		ids[reading.SessionID] = false
		list = append(list, lone{reading, several})
	}
	return list
}

func pointers(seen []state.Seen) iter.Seq[*state.Seen] {
	return func(yield func(*state.Seen) bool) {
		for i := range seen {
			if !yield(&seen[i]) {
				return
			}
		}
	}
}
