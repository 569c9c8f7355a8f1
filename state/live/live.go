// Package live shows the sessions of this machine as they are now: a Snapshot is all of them
// at one moment, each with its evidence and verdict; a Follower keeps one current and reports
// what changed. Every view uses it, so all views agree. What evidence shows beyond the hooks
// is folded into the store.
//
// It guarantees: a view that cannot write still shows what it saw; what cannot be read is
// reported as a problem, not left out; a Follower's second look costs what has changed since
// the first.
package live

import (
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"beckon/event"
	"beckon/state"
	"beckon/state/evidence"
	"beckon/state/store"
)

// Snapshot is the sessions at one moment.
type Snapshot struct {
	Now      event.Millis
	Seen     []state.Seen    // sorted by key; those without hooks last
	Problems []store.Problem // the sessions that could not be read
	Staged   bool            // the evidence, and so the time, is from a recording
}

// Reader looks at sessions with everything this machine knows about them.
type Reader struct {
	// Clock is time.Now by default. It is not used if the evidence is staged.
	Clock func() time.Time
	// SkipMeters leaves out what status lines reported, which is one file per session, for
	// views that do not show it.
	SkipMeters bool

	st       *store.Store
	registry string
	here     evidence.Machine
	staged   *staged
	titles   sync.Map // of a tmux server's panes, by its socket: see title
}

// NewReader returns a reader of the sessions in st. registry is the client's registry
// directory, empty for none. If the state directory contains a StagedFile, it replaces the
// machine, the registry and the clock.
func NewReader(st *store.Store, registry string) *Reader {
	return &Reader{Clock: time.Now, st: st, registry: registry, here: evidence.ThisMachine(), staged: readStaged(st.Dir)}
}

// Now returns the time at which to resolve.
func (r *Reader) Now() event.Millis {
	if r.staged != nil {
		return r.staged.now
	}
	return event.MillisOf(r.Clock())
}

// Look looks at the live sessions once, as the first round of a Follower does. If archived is
// set it adds the archive, and archives nothing.
func (r *Reader) Look(archived bool) (Snapshot, error) {
	f := NewFollower(r, Options{})
	f.keep, f.once = archived, true
	_, _, err := f.look(everything)
	snap := Snapshot{Now: f.now, Seen: f.seen, Problems: f.problems, Staged: r.staged != nil}
	if len(f.entries) != len(f.seen) {
		snap.Seen = seenOf(f.entries)
	}
	if err != nil || !archived {
		snap.Seen = append(snap.Seen, seenOf(f.unhooked)...)
		return snap, err
	}
	l, err := r.st.ListArchived()
	old, problems := store.ReadAll(l, func(i int, v *state.Seen) error {
		err := l.Load(i, &v.Session)
		if err == nil {
			r.seeAlone(v, f.known, f.now)
		}
		return err
	})
	snap.Problems = append(snap.Problems, problems...)
	snap.Seen = append(snap.Seen, old...)
	for _, v := range seenOf(f.unhooked) {
		if !slices.ContainsFunc(old, func(o state.Seen) bool { return o.Session.ID == v.Session.ID }) {
			snap.Seen = append(snap.Seen, v)
		}
	}
	return snap, err
}

// One looks at a single session.
func (r *Reader) One(s state.Session, now event.Millis) state.Seen {
	r.begin()
	v := state.Seen{Session: s}
	r.seeAlone(&v, r.readRegistry(), now)
	return v
}

// seeAlone is see, with what the session's status line reported.
func (r *Reader) seeAlone(v *state.Seen, known readings, now event.Millis) {
	r.see(v, known, now)
	if !r.SkipMeters {
		v.Meter = v.Session.Metered(r.st.Meter(store.KeyOf(v.Session.Record())))
	}
}

// begin begins a look: what may be read once for all sessions is read anew.
func (r *Reader) begin() {
	r.staged = readStaged(r.st.Dir) // a running replay rewrites it
	r.titles.Clear()
}

// readings is the client's registry, sorted by pid.
type readings []evidence.Reading

// readRegistry reads the client's registry. Without it, hooks decide.
func (r *Reader) readRegistry() readings {
	switch {
	case r.staged != nil:
		return r.staged.registry
	case r.registry == "":
		return nil
	}
	list, _ := evidence.Registry(r.registry)
	for _, reading := range evidence.Unrecorded(r.registry) {
		if readings(list).at(reading.Pid) == nil {
			list = append(list, reading)
		}
	}
	slices.SortStableFunc(list, func(a, b evidence.Reading) int { return a.Pid - b.Pid })
	return list
}

// at returns the record of that pid, nil if there is none.
func (known readings) at(pid int) *evidence.Reading {
	if pid == 0 {
		return nil
	}
	i, ok := slices.BinarySearchFunc(known, pid, func(r evidence.Reading, pid int) int { return r.Pid - pid })
	if !ok {
		return nil
	}
	return &known[i]
}

// of returns the usable record of process p, if there is one.
func (known readings) of(p event.Process) (evidence.Reading, bool) {
	r := known.at(p.Pid)
	if r == nil || !r.Usable() || !evidence.Match(*r, p) {
		return evidence.Reading{}, false
	}
	return *r, true
}

func (r *Reader) presence(p event.Process, heard event.Millis) state.Presence {
	switch {
	case r.staged == nil:
		return r.here.Presence(p, heard)
	case p.Pid == 0:
		return state.Unread
	}
	// A process that has left the recorded registry may still run: the client removes its
	// record just before it exits.
	return state.Alive
}

// unmatched is a registry record that belongs to no hooked session.
type unmatched struct {
	reading evidence.Reading
	several bool // another process is known to run the same session
}

// unaccounted returns the records that belong to no session in entries, in order of pid: clients
// that were started before the hooks were installed. The client that a policy uses as a judge
// is left out: it runs without hooks, and for seconds.
func unaccounted(entries map[store.Key]*entry, known readings) (list []unmatched) {
	if len(known) == 0 {
		return nil
	}
	accounted := make(map[int]bool, len(known))
	ids := make(map[string]bool, len(known)) // of sessions: true if the process may be the same one
	for _, e := range entries {
		v := e.seen
		s, p := &v.Session, v.Session.Origin.Process
		if r := known.at(p.Pid); r != nil && evidence.Match(*r, p) {
			accounted[p.Pid] = true
		}
		ids[s.ID] = ids[s.ID] || p.Pid == 0 || !v.Evidence.Process.Known()
	}
	for _, reading := range known {
		ofModel := strings.HasPrefix(filepath.Base(reading.Cwd), event.ModelDir)
		hidden, several := ids[reading.SessionID]
		if accounted[reading.Pid] || hidden || ofModel || !reading.Usable() && reading.Status != evidence.Starting || reading.SessionID == "" {
			continue
		}
		ids[reading.SessionID] = false
		list = append(list, unmatched{reading, several})
	}
	return list
}
