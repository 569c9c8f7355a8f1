package state

import (
	"cmp"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"beckon/event"
	"beckon/event/recording"
)

// track is one recording of the real client.
type track struct {
	version, name string
	steps         []recording.Step
	ever          []recording.Registry // every registry record in it, to identify processes
}

// tracks reads all recordings, in order of name and version.
func tracks(t testing.TB) []track {
	t.Helper()
	files, err := filepath.Glob(filepath.Join("..", "testdata", "recordings", "*", "*.jsonl"))
	if err != nil || len(files) == 0 {
		t.Fatalf("no recordings: %v", err)
	}
	var all []track
	for _, file := range files {
		all = append(all, readTrack(t, file))
	}
	return all
}

func readTrack(t testing.TB, file string) track {
	t.Helper()
	f, err := os.Open(file)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	steps, err := recording.Read(f)
	if err != nil {
		t.Fatalf("%s: %v", file, err)
	}
	slices.SortStableFunc(steps, func(a, b recording.Step) int { return cmp.Compare(a.T, b.T) })
	tr := track{version: filepath.Base(filepath.Dir(file)), name: strings.TrimSuffix(filepath.Base(file), ".jsonl"), steps: steps}
	for _, s := range steps {
		tr.ever = append(tr.ever, s.Registry...)
	}
	return tr
}

func (tr track) String() string { return tr.version + "/" + tr.name }

// event returns the event of a hook step as the hook passes it to Apply. Every event has an
// origin; Apply decides which parts count.
func (tr track) event(t testing.TB, s recording.Step) event.Event {
	t.Helper()
	e, err := event.Parse("", s.Kind, s.Payload)
	if err != nil {
		t.Fatalf("%s at %d ms: %v", tr, s.T, err)
	}
	e.At = s.At
	e.Origin = s.Origin(tr.ever, e.Cwd)
	return e
}

// events returns the recording's hook events, one list per session, in the order in which the
// sessions first appear.
func (tr track) events(t testing.TB) [][]event.Event {
	t.Helper()
	var out [][]event.Event
	for _, s := range tr.steps {
		if !s.Hook() {
			continue
		}
		e := tr.event(t, s)
		i := slices.IndexFunc(out, func(es []event.Event) bool { return es[0].SessionID == e.SessionID })
		if i < 0 {
			out = append(out, nil)
			i = len(out) - 1
		}
		out[i] = append(out[i], e)
	}
	return out
}

// lookAgain is the delay, in milliseconds, before a second look at a registry status. It is
// longer than dwell, the time that Resolve requires a status to last.
const lookAgain = 250

// player replays a track for a reader that looks at every step.
type player struct {
	t        testing.TB
	tr       track
	evidence bool // with the client's registry and process, not on hooks alone
	core     bool // only events that an installation registers by default
	lazy     bool // folds no observation
	said     func([]Turn)

	registry []recording.Registry
	rows     []*row
	names    map[string]int // number of events by name
}

// row is one seat: the sessions of one process, and the processes that ran one session.
type row struct {
	ids      []string // its sessions, the newest last
	sessions map[string]*Session
	statuses map[string]int // how often the registry changed to each status
	reading  Registry
}

func (r *row) now() *Session { return r.sessions[r.ids[len(r.ids)-1]] }

// sight is the verdict on a row at one look.
type sight struct {
	row    int
	at     event.Millis
	anchor string
	Status
}

// play calls each for every row, at every step and at the extra moments.
func (p *player) play(extra []moment, each func(sight)) {
	p.names, p.rows, p.registry = map[string]int{}, nil, nil
	for _, m := range p.moments(extra) {
		anchor := m.anchor
		switch {
		case m.step == nil:
		case m.step.Hook():
			anchor = p.hook(*m.step)
		case !m.again:
			p.registry = m.step.Registry
		}
		for i, r := range p.rows {
			st, word := p.look(r, m.at)
			each(sight{row: i + 1, at: m.at, anchor: cmp.Or(anchor, word), Status: st})
		}
	}
}

// moment is when a reader looks: at a step, or at a separate time.
type moment struct {
	at     event.Millis
	step   *recording.Step
	again  bool   // a second look at a registry step
	anchor string // set if there is no step
}

func (p *player) moments(extra []moment) []moment {
	all := slices.Clone(extra)
	for i := range p.tr.steps {
		s := &p.tr.steps[i]
		switch {
		case s.Kind == "registry" && p.evidence:
			all = append(all, moment{at: s.At, step: s}, moment{at: s.At + lookAgain, step: s, again: true})
		case s.Hook():
			all = append(all, moment{at: s.At, step: s})
		}
	}
	slices.SortStableFunc(all, func(a, b moment) int { return cmp.Compare(a.at, b.at) })
	return all
}

// hook folds a step and returns its name, with its tool and its number.
func (p *player) hook(s recording.Step) string {
	e := p.tr.event(p.t, s)
	name := e.Name
	if e.Tool.Name != "" {
		name += "(" + e.Tool.Name + ")"
	}
	p.names[name]++
	name = numbered(name, p.names[name])
	if info, _ := event.Lookup(e.Kind); p.core && info.Register != event.Core {
		return name
	}
	r := p.rowOf(&e)
	x := r.sessions[e.SessionID]
	var turns []Turn
	*x, turns = ApplyTurns(*x, Change{Seq: x.Seq + 1, At: e.At, Event: &e})
	if p.said != nil {
		p.said(turns)
	}
	return name
}

func numbered(name string, n int) string {
	if n == 1 {
		return name
	}
	return name + "#" + strconv.Itoa(n)
}

// rowOf finds the row of e by session, or else by process.
func (p *player) rowOf(e *event.Event) *row {
	for _, r := range p.rows {
		if r.sessions[e.SessionID] != nil {
			return r
		}
	}
	for _, r := range p.rows {
		if r.now().Origin.Process == e.Origin.Process {
			r.ids = append(r.ids, e.SessionID)
			r.sessions[e.SessionID] = &Session{}
			return r
		}
	}
	r := &row{ids: []string{e.SessionID}, sessions: map[string]*Session{e.SessionID: {}}, statuses: map[string]int{}}
	p.rows = append(p.rows, r)
	return r
}

// look does what live.Reader does for one session, and returns the verdict and the registry's
// status.
func (p *player) look(r *row, now event.Millis) (Status, string) {
	s := r.now()
	ev, word := Evidence{}, ""
	if p.evidence {
		ev, word = p.read(r, s.Origin.Process)
	}
	for _, o := range Observe(*s, ev, now) {
		if p.lazy {
			break
		}
		*s = Apply(*s, Change{Seq: s.Seq + 1, At: o.At, Observation: &o})
	}
	return Resolve(*s, ev, now), word
}

func (p *player) read(r *row, proc event.Process) (Evidence, string) {
	ev := Evidence{Process: Alive}
	for _, x := range p.registry {
		if x.Pid == proc.Pid && x.ProcStart == proc.Start && x.Status != "" {
			ev.Registry = Registry{Status: x.Status, WaitingFor: x.WaitingFor, At: x.StatusUpdatedAt}
		}
	}
	word := cmp.Or(ev.Registry.Status, "none")
	if ev.Registry != r.reading {
		r.reading = ev.Registry
		r.statuses[word]++
	}
	return ev, "registry:" + numbered(word, r.statuses[word])
}
