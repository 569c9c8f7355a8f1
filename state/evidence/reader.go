package evidence

import (
	"cmp"
	"errors"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"beckon/event"
	"beckon/event/redact"
	"beckon/event/transcript"
	"beckon/state"
	"beckon/state/history"
	"beckon/state/store"
)

// Reader looks at sessions with everything this machine can tell of them.
// Every view goes through it, so all views agree.
type Reader struct {
	st       *store.Store
	registry string
	here     Machine
	staged   *Staged
	memory   *memory // of a reader that looks again and again; else nil

	// SkipMeters leaves out what status lines reported: one file a session, for
	// views that do not show it.
	SkipMeters bool
}

// NewReader returns a reader of the sessions in st. registry is the client's
// registry directory, empty for none. If the state directory holds a Staged
// file, it takes the place of the machine, the registry and the clock.
func NewReader(st *store.Store, registry string) *Reader {
	return &Reader{st: st, registry: registry, here: ThisMachine(), staged: readStaged(st.Dir)}
}

// Now returns the time to resolve at: wall unless the evidence is staged.
func (r *Reader) Now(wall time.Time) event.Millis {
	if r.memory != nil {
		r.staged = readStaged(r.st.Dir) // a replay under way writes it anew
	}
	if r.staged != nil {
		return r.staged.Now
	}
	return event.Millis(wall.UnixMilli())
}

// Look reads the live sessions, folds what the evidence tells beyond their
// hooks, and resolves them at now. Sessions that only the client's registry
// knows are added, with the registry as their source. With archived set the
// archive is read too.
func (r *Reader) Look(now event.Millis, archived bool) ([]state.Seen, []store.Problem, error) {
	registry := make(chan map[int]Reading, 1)
	go func() { registry <- r.readings() }() // both wait for the disk most of the time
	sessions, problems, err := r.live()
	readings := <-registry
	if err != nil {
		return nil, problems, err
	}
	if archived {
		old, more, e := r.st.Archived()
		sessions, problems, err = append(sessions, old...), append(problems, more...), errors.Join(err, e)
	}
	metered := map[store.Key]bool{}
	if !r.SkipMeters {
		metered = r.st.Metered()
	}
	seen := make([]state.Seen, len(sessions))
	store.Parallel(len(sessions), func(i int) {
		seen[i] = r.see(sessions[i], readings, now)
		seen[i].Meter = r.meter(&seen[i].Session, metered)
	})
	if !archived {
		seen = slices.DeleteFunc(seen, func(v state.Seen) bool { return r.archive(&v, now) })
	}
	if r.staged == nil {
		_ = r.st.Prune(time.UnixMilli(int64(now)))
	}
	return append(seen, r.unhooked(seen, readings, now)...), problems, err
}

// One looks at a single session.
func (r *Reader) One(s state.Session, now event.Millis) state.Seen {
	v := r.see(s, r.readings(), now)
	v.Meter = v.Session.Metered(r.st.Meter(store.KeyOf(s.Record())))
	return v
}

// meter reads what the status line reported of s, if it is among the metered.
func (r *Reader) meter(s *state.Session, metered map[store.Key]bool) event.Meter {
	k := store.KeyOf(s.Record())
	if !metered[k] {
		return s.Metered(nil)
	}
	return s.Metered(r.st.Meter(k))
}

// Glance is one reading of what many sessions are looked at with: the client's
// registry, and which sessions have a meter. A program that keeps sessions in
// memory takes one now and then.
type Glance struct {
	registry map[int]Reading
	metered  map[store.Key]bool
}

// Glance reads the registry and the directory of meters.
func (r *Reader) Glance() Glance {
	if r.memory != nil {
		r.memory.forget(time.Now())
	}
	return Glance{r.readings(), r.st.Metered()}
}

// See looks at one session, as Look does at each.
func (r *Reader) See(s state.Session, g Glance, now event.Millis) state.Seen {
	v := r.see(s, g.registry, now)
	v.Meter = r.meter(&v.Session, g.metered)
	return v
}

// Unhooked returns the sessions that only the registry knows, as Look does.
// seen are all live sessions.
func (r *Reader) Unhooked(seen []state.Seen, g Glance, now event.Millis) []state.Seen {
	return r.unhooked(seen, maps.Clone(g.registry), now)
}

// Archive moves a session that has been over long enough out of the live
// directory, as Look does, and reports whether it did.
func (r *Reader) Archive(v *state.Seen, now event.Millis) bool { return r.archive(v, now) }

// readings reads the client's registry, by pid. Without it, hooks lead.
func (r *Reader) readings() map[int]Reading {
	var list []Reading
	switch {
	case r.staged != nil:
		list = r.staged.Registry
	case r.registry == "":
	case r.memory != nil:
		list = r.memory.registry.read(r.registry)
	default:
		list, _ = Registry(r.registry)
	}
	byPid := make(map[int]Reading, len(list))
	for _, reading := range list {
		byPid[reading.Pid] = reading
	}
	return byPid
}

func (r *Reader) see(s state.Session, readings map[int]Reading, now event.Millis) state.Seen {
	ev := r.evidence(&s, readings, now)
	for _, o := range state.Observe(s, ev, now) {
		// A reader that cannot write still shows what it saw: Resolve gets the
		// same evidence.
		res, err := r.st.Fold(store.KeyOf(s.Record()), store.Update{Change: state.Change{At: o.At, Observation: &o}, Wait: 200 * time.Millisecond})
		if err == nil {
			s = res.After
		} else {
			s = state.Apply(s, state.Change{Seq: s.Seq, At: o.At, Observation: &o})
		}
	}
	if s.Wordless() && r.staged == nil {
		r.finalWords(&s, now)
	}
	s.Name = cmp.Or(ev.Registry.Given(), s.Name) // no hook is told of /rename
	return state.Seen{Session: s, Evidence: ev, Status: state.Resolve(s, ev, now)}
}

// finalWords has the transcript say what the Stop of s did not. It may be
// written a moment later; what it does not have after unwritten it never will.
func (r *Reader) finalWords(s *state.Session, now event.Millis) {
	const unwritten = 5000
	text, at := Words(&s.Origin, s.Transcript)
	k := store.KeyOf(s.Record())
	c := state.Change{Seq: s.Seq, At: at}
	switch {
	case at > max(s.Prompt.At, s.Start.At):
		t := state.FinalWords(text, at)
		if r.st.Said(k, []state.Turn{t}) == nil {
			if told, err := r.st.Load(k); err == nil {
				*s = told
				return
			}
		}
		c.Turn = &t
	case s.Transcript != "" && now > s.Stop.At+unwritten:
		o := state.Observed{Source: state.FromTranscript, What: state.SawNothing, At: s.Stop.At}
		c.At, c.Observation = o.At, &o
		if res, err := r.st.Fold(k, store.Update{Change: c, Wait: 200 * time.Millisecond}); err == nil {
			*s = res.After
			return
		}
	default:
		return
	}
	*s = state.Apply(*s, c)
}

// Words returns what the transcript at path tells that the agent said last, and
// when: nothing when it went on since, or when o is another machine, whose files
// are not this one's.
func Words(o *event.Origin, path string) (text string, at event.Millis) {
	if path == "" || o.Host != "" && o.Host != ThisMachine().Host {
		return "", 0
	}
	last, _ := transcript.LastWords(path) // one that cannot be read tells nothing
	return last.Text, last.At
}

func (r *Reader) evidence(s *state.Session, readings map[int]Reading, now event.Millis) state.Evidence {
	p := s.Origin.Process
	ev := state.Evidence{Process: r.presence(p, s.Activity)}
	if reading, ok := readings[p.Pid]; ok && reading.Usable() && Match(reading, p) {
		ev.Registry, ev.Job = fact(reading), reading.job()
		if reading.SessionID != s.ID {
			ev.Registry.Name = "" // of the session that took over the process
		}
	}
	if (ev.Registry.Status == "" || ev.Registry.Menu()) && ev.Process != state.Gone {
		ev.Transcript = r.transcript(s, now)
	}
	if s.Headless() && ev.Process != state.Gone {
		ev.Answer = r.answer(s, now)
	}
	return ev
}

// job returns the background session that r is of, zero when it is of none.
func (r Reading) job() state.Job {
	if r.Kind != "bg" || r.Job == "" {
		return state.Job{}
	}
	return state.Job{ID: r.Job, Name: redact.Text(r.Name)}
}

func fact(r Reading) state.Registry {
	return state.Registry{Status: r.Status, WaitingFor: r.WaitingFor, Needs: redact.Text(r.Needs), At: r.StatusUpdatedAt, Name: redact.Text(r.Name), Derived: r.NameSource == "derived"}
}

func (r *Reader) presence(p event.Process, heard event.Millis) state.Presence {
	switch {
	case r.staged != nil:
		return r.staged.presence(p)
	case r.memory != nil:
		return r.memory.presence(p, heard, r.here)
	}
	return presence(p, heard, r.here)
}

// quiet is how long a session must have been silent before its transcript is
// read for a halt, in milliseconds: while it works it is written all the time.
const quiet = 500

// refusal is how long, in milliseconds, a headless client may take to write
// into its transcript that it refused a call. It takes some 50.
const refusal = 1000

// answer looks in the transcript of a headless run whether the call that asked
// has come back.
func (r *Reader) answer(s *state.Session, now event.Millis) state.Answer {
	id, asked := s.Asking()
	if id == "" || s.Transcript == "" || now < asked+refusal || r.staged != nil {
		return state.AnswerUnread
	}
	switch made, answered, err := transcript.Call(s.Transcript, id); {
	case err != nil || !made:
		return state.AnswerUnread
	case answered:
		return state.AnswerGiven
	}
	return state.AnswerAwaited
}

// transcript reads the tail of a running session's transcript when the registry
// does not tell of the turn: an interrupt or refusal leaves a marker there.
func (r *Reader) transcript(s *state.Session, now event.Millis) state.Marker {
	if s.Transcript == "" || s.End.At != 0 || now < s.Activity+quiet || r.staged != nil {
		return state.Marker{}
	}
	if st := state.Resolve(*s, state.Evidence{}, now).State; st == state.Idle || st == state.Failed {
		return state.Marker{}
	}
	halt, err := transcript.LastHalt(s.Transcript)
	if err != nil || halt == 0 {
		return state.Marker{}
	}
	return state.Marker{At: halt, Kind: "interrupt"}
}

// archive moves a session that has been over long enough out of the live
// directory and reports whether it did.
func (r *Reader) archive(v *state.Seen, now event.Millis) bool {
	if v.Status.State.Live() && v.Session.Removed == 0 {
		return false
	}
	if now < max(v.Session.End.At, v.Session.Lost.At, v.Session.Removed)+event.Millis(store.ArchiveAfter.Milliseconds()) {
		return false
	}
	_ = history.Sweep(r.st, &v.Session) // the last chance: nobody looks at it again
	moved, _ := r.st.Archive(store.KeyOf(v.Session.Record()), now)
	return moved
}

// unhooked makes sessions of live registry records that no hooked session
// accounts for: clients that were started before the hooks were installed. A
// policy's own judge is none: it runs with hooks off, and for seconds.
func (r *Reader) unhooked(seen []state.Seen, readings map[int]Reading, now event.Millis) []state.Seen {
	known := make(map[string]bool, len(seen)) // session ids: true where the process is not known to be another one
	for i := range seen {
		s, p := &seen[i].Session, seen[i].Session.Origin.Process
		if Match(readings[p.Pid], p) {
			delete(readings, p.Pid)
		}
		known[s.ID] = known[s.ID] || p.Pid == 0 || !seen[i].Evidence.Process.Known()
	}
	var out []state.Seen
	for _, pid := range slices.Sorted(maps.Keys(readings)) {
		reading := readings[pid]
		judge := strings.HasPrefix(filepath.Base(reading.Cwd), event.JudgeDir)
		hidden, several := known[reading.SessionID]
		if hidden || !reading.Usable() || reading.SessionID == "" || judge {
			continue
		}
		v, ok := r.bare(reading, now)
		if !ok {
			continue
		}
		if several { // another process runs the same session
			v.Session.Part = store.PartOf(v.Session.Origin.Process)
		}
		known[reading.SessionID] = false
		out = append(out, v)
	}
	return out
}

// bare makes a session of nothing but a registry record.
func (r *Reader) bare(reading Reading, now event.Millis) (state.Seen, bool) {
	p, ok := event.Process{Pid: reading.Pid, Start: reading.ProcStart}, r.staged != nil
	if !ok {
		p, ok = Process(reading.Pid, r.here)
	}
	if !ok || !Match(reading, p) {
		return state.Seen{}, false
	}
	g := Git(reading.Cwd)
	s := state.Session{
		Schema: state.Schema, ID: reading.SessionID, Agent: "claude-code", Cwd: reading.Cwd, Name: fact(reading).Given(),
		Created: reading.StartedAt, Updated: reading.StatusUpdatedAt,
		Origin: event.Origin{Process: p, Host: r.here.Host, Entry: reading.Entrypoint, Git: g, Project: Project(reading.Cwd, g)},
	}
	ev := state.Evidence{Process: state.Alive, Registry: fact(reading), Job: reading.job()}
	st := state.Resolve(s, ev, now)
	st.Source, st.Confidence = state.FromRegistry, state.FromRegistry.Confidence()
	st.Since = reading.StatusUpdatedAt
	return state.Seen{Session: s, Evidence: ev, Status: st}, true
}
