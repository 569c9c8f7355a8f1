// Package live shows the sessions of this machine as they are now: a Snapshot is all of them at one moment,
// each with its evidence and verdict; a Follower keeps one current and reports what changed. Every view uses
// it, so all views agree. What evidence shows beyond the hooks is folded into the store.
//
// It guarantees: a view that cannot write still shows what it saw; what cannot be read is reported as a
// problem; a Follower's second look costs what has changed since the first.
package live

import (
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"beckon/event"
	"beckon/event/jsonenc"
	"beckon/event/plainfile"
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
	Clock      func() time.Time // time.Now by default; not used if the evidence is staged
	SkipMeters bool             // leave out what status lines reported, which is one file for each session

	st       *store.Store
	registry string
	here     evidence.Machine
	staged   *staged
	titles   sync.Map // of a tmux server's panes, by its socket: see title
}

// NewReader returns a reader of the sessions in st. registry is the client's registry directory, empty for
// none. A StagedFile in the state directory replaces the machine, the registry and the clock.
func NewReader(st *store.Store, registry string) *Reader {
	return &Reader{Clock: time.Now, st: st, registry: registry, here: evidence.ThisMachine(), staged: readStaged(st.Dir)}
}

// Now returns the time at which to resolve.
func (r *Reader) Now() event.Millis {
	if r.staged != nil {
		return r.staged.Now
	}
	return event.MillisOf(r.Clock())
}

// Look is the first look of a Follower. If archived is set it adds the archive, and archives nothing.
func (r *Reader) Look(archived bool) (Snapshot, error) {
	f := NewFollower(r)
	f.archived, f.once = archived, true
	_, _, err := f.look(everything)
	snap := Snapshot{Now: f.now, Seen: f.seen, Problems: f.problems, Staged: r.staged != nil}
	hookless := f.list(true)
	if len(f.entries) != len(f.seen)+len(hookless) {
		snap.Seen = f.list(false)
	}
	snap.Seen = append(snap.Seen, hookless...)
	return snap, err
}

// One looks at a single session.
func (r *Reader) One(s state.Session, now event.Millis) state.Seen {
	r.begin()
	v := state.Seen{Session: s}
	r.see(&v, r.readRegistry(), now)
	if !r.SkipMeters {
		v.Meter = v.Session.Metered(r.st.Meter(store.KeyOf(v.Session.Record())))
	}
	return v
}

// begin begins a look: what may be read once for all sessions is read anew.
func (r *Reader) begin() {
	r.staged = readStaged(r.st.Dir) // a running replay rewrites it
	r.titles.Clear()
}

// readings is the client's registry, by pid.
type readings map[int]state.Registry

// readRegistry reads the client's registry. Without it, hooks decide.
func (r *Reader) readRegistry() readings {
	var list []state.Registry
	if r.staged != nil {
		list = r.staged.Registry
	} else if r.registry != "" {
		list, _ = evidence.Registry(r.registry)
	}
	known := make(readings, len(list))
	for _, reading := range list {
		known[reading.Pid] = reading
	}
	return known
}

// of returns the usable record of process p, if there is one.
func (known readings) of(p event.Process) (state.Registry, bool) {
	r := known[p.Pid]
	if !r.Usable() || !evidence.Match(r, p) {
		return state.Registry{}, false
	}
	return r, true
}

func (r *Reader) presence(p event.Process, heard event.Millis) state.Presence {
	if r.staged != nil && p.Pid != 0 {
		return state.Alive // one that has left the recorded registry may still run for a moment
	}
	return r.here.Presence(p, heard)
}

// unaccounted returns the records that belong to no session in entries, in order of pid: clients that were
// started before the hooks were installed. The client that a policy uses as a judge is left out.
func unaccounted(entries map[store.Key]*entry, known readings) (list []*entry) {
	if len(known) == 0 {
		return nil
	}
	accounted := make(map[int]bool, len(known))
	ids := make(map[string]bool, len(known)) // of sessions: true if the process may be the same one
	for _, e := range entries {
		v := e.seen
		s, p := &v.Session, v.Session.Origin.Process
		if evidence.Match(known[p.Pid], p) {
			accounted[p.Pid] = true
		}
		ids[s.ID] = ids[s.ID] || p.Pid == 0 || v.Evidence.Process == state.Unread
	}
	for _, pid := range slices.Sorted(maps.Keys(known)) {
		reading := known[pid]
		ofModel := strings.HasPrefix(filepath.Base(reading.Cwd), event.ModelDir)
		hidden, several := ids[reading.SessionID]
		shown := reading.Usable() || reading.Status == evidence.Starting
		if accounted[reading.Pid] || hidden || ofModel || !shown || reading.SessionID == "" {
			continue
		}
		ids[reading.SessionID] = false
		list = append(list, &entry{hookless: true, reading: reading, several: several})
	}
	return list
}

// StagedFile is the name, in a scratch state directory, of the evidence that demo uses instead of the
// machine's: the recording's time, its registry and its processes.
const StagedFile = "staged.json"

// staged is evidence from a recording.
type staged struct {
	Now      event.Millis     `json:"now"`
	Registry []state.Registry `json:"registry"`
}

func readStaged(dir string) *staged {
	var s staged
	b, err := plainfile.ReadFile(filepath.Join(dir, StagedFile))
	if err != nil || !jsonenc.Decode(string(b), &s) {
		return nil
	}
	return &s
}
