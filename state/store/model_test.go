package store

import (
	"cmp"
	"errors"
	"flag"
	"io/fs"
	"os"
	"slices"
	"strconv"
	"testing"
	"time"

	"beckon/event"
	"beckon/event/plainfile"
	"beckon/state"
	"beckon/state/stats"

	"pgregory.net/rapid"
)

// model is the expected content of the store, kept in memory. After every step, the store and
// its files are compared with it.
type model struct {
	st       *Store
	sessions map[string]*modelSession
	now      event.Millis
	made     int           // number of calls, for their names
	pruned   time.Duration // how far the clock was moved forward to prune
}

type modelSession struct {
	s     state.Session
	dir   string  // directory of its file
	lines []int64 // numbers of its lines of history
	st    *Store
}

// apply applies one change.
func (m *modelSession) apply(c state.Change) {
	past := over(&m.s)
	c.Seq = m.s.Seq + 1
	if m.s.Seq == 0 {
		c.Seq = m.st.setAsideAt() + 1
	}
	var turns []state.Turn
	before := m.s
	m.s, turns = state.ApplyTurns(m.s, c)
	stats.Of(&before, &m.s, c)
	m.lines = append(m.lines, c.Seq)
	for i := range turns {
		turn := state.Change{Seq: m.s.Seq + 1, At: turns[i].At, Turn: &turns[i]}
		m.s = state.Apply(m.s, turn)
		m.lines = append(m.lines, turn.Seq)
	}
	m.settle(past)
}

// settle updates the directory of the file after the session was locked. past reports whether
// the session was over before that.
func (m *modelSession) settle(past bool) {
	switch {
	case m.dir == sessionsDir:
	case past && over(&m.s):
		m.dir = archiveDir
	default:
		m.dir = sessionsDir
	}
}

// modelIDs lists the records. Two processes run session "one".
var modelIDs = []string{"one", "two", "../../three", state.Record("one", PartOf(process1(2)))}

// runs returns the session of a record and the process that runs it.
func runs(record string) (id, part string, p event.Process) {
	id, part, second := cutPart(record)
	if second {
		return id, part, process1(2)
	}
	return id, part, process1(1)
}

func newModel(t testing.TB, dir string) *model {
	m := &model{st: Open(dir), sessions: map[string]*modelSession{}, now: t0}
	for _, id := range modelIDs {
		m.sessions[id] = &modelSession{st: m.st}
	}
	return m
}

// anyChange draws an event, an observation or an action for session id.
func (m *model) anyChange(t *rapid.T, id string) state.Change {
	m.now += event.Millis(rapid.IntRange(0, 2000).Draw(t, "ms"))
	switch rapid.IntRange(0, 9).Draw(t, "change") {
	case 0:
		what := rapid.SampledFrom([]state.Seeing{state.SawHalt, state.SawApproved, state.SawGone, state.SawAlive}).Draw(t, "what")
		at := m.now - event.Millis(rapid.IntRange(0, 3000).Draw(t, "ago"))
		return state.Change{At: at, Observation: &state.Observed{Source: state.FromRegistry, What: what, At: at}}
	case 1:
		act := rapid.SampledFrom([]state.ActionKind{state.ActSeen, state.ActBackburner, state.ActBackburnerOff, state.ActRemove}).Draw(t, "act")
		return state.Change{At: m.now, Action: &state.Action{Kind: act}}
	}
	e := m.anyEvent(t, id)
	return state.Change{At: e.At, Event: e}
}

func (m *model) anyEvent(t *rapid.T, id string) *event.Event {
	k := rapid.SampledFrom([]event.Kind{
		event.PreToolUse, event.PreToolUse, event.PostToolUse, event.PermissionRequest, event.UserPromptSubmit, event.Stop,
		event.SessionStart, event.SessionEnd, event.SubagentStart, event.SubagentStop, event.Notification,
	}).Draw(t, "kind")
	m.made++
	id, part, p := runs(id)
	e := tool(id, "c"+strconv.Itoa(m.made-rapid.IntRange(0, 2).Draw(t, "call")), m.now-event.Millis(rapid.IntRange(0, 100).Draw(t, "late")))
	e.Kind, e.Name = k, string(k)
	e.AgentID = rapid.SampledFrom([]string{"", "", "sub"}).Draw(t, "agent")
	e.Prompt = rapid.SampledFrom([]string{"", "do it", "\x00 café", "<task-notification>"}).Draw(t, "prompt")
	e.Notification = rapid.SampledFrom([]string{"", "idle_prompt", "permission_prompt"}).Draw(t, "notification")
	e.Origin = &event.Origin{Host: "h", Process: p, Seat: "seat " + id, Part: part} // given, since a new seat is random
	return e
}

// written returns the change as its line of history stores it.
func written(t *rapid.T, c state.Change) state.Change {
	c.Seq = 1
	line := newLine("", c)
	b := appendLine(nil, &line)
	l, ok := parseLine(b[:len(b)-1])
	if !ok {
		t.Fatalf("%q", b)
	}
	return l.Change()
}

func (m *model) anyID(t *rapid.T) string { return rapid.SampledFrom(modelIDs).Draw(t, "session") }

// fold spools some events, then folds a change.
func (m *model) fold(t *rapid.T) {
	id := m.anyID(t)
	s := m.sessions[id]
	isNew := s.s.Seq == 0
	session, part, p := runs(id)
	if first := &m.sessions[session].s; part != "" && (first.Seq == 0 || isNew && over(first)) {
		return // the second process would take over the session's own record
	}
	m.spool(t, id)
	c := m.anyChange(t, id)
	if s.s.Seq == 0 && c.Event == nil {
		return // readers and users only know sessions that exist
	}
	o := c.Observation
	known := o != nil && s.s.Saw(o.Source, o.What) >= o.At
	counted := c
	if a := c.Action; a != nil && (a.Kind == state.ActBackburner || a.Kind == state.ActBackburnerOff) {
		counted.At = max(c.At, s.s.Backburner.At+1, s.s.Backburner.Off+1) // the later of two marks within a millisecond
	}
	w := written(t, counted)
	k := KeyOf(id)
	if c.Event != nil {
		k = KeyOf(session) // a hook knows only the session's id
	}
	res, err := m.st.Fold(k, Update{Change: c,
		Alive: func(event.Process, event.Millis) state.Presence { return state.Alive },
		Other: sit{pid: p.Pid}.unlike,
	})
	if err != nil {
		t.Fatalf("Fold: %v", err)
	}
	if !known {
		s.apply(w)
	}
	if text(res.After) != text(s.s) || res.New != isNew {
		t.Fatalf("Fold gives\n%s, want\n%s", text(res.After), text(s.s))
	}
}

// spool spools up to three events. The next holder of the session folds them in the order of
// their times.
func (m *model) spool(t *rapid.T, id string) {
	var pending []state.Change
	for range rapid.IntRange(0, 3).Draw(t, "spooled") {
		e := m.anyEvent(t, id)
		e.At += event.Millis(len(pending)) * 1000 * event.Millis(rapid.SampledFrom([]int{-1, 1}).Draw(t, "order")) // so that all differ
		c := state.Change{At: e.At, Event: e}
		if slices.ContainsFunc(pending, func(p state.Change) bool { return p.At == c.At }) {
			continue
		}
		if err := m.st.postponeFile(KeyOf(id), c); err != nil {
			t.Fatalf("spool: %v", err)
		}
		pending = append(pending, written(t, c))
	}
	slices.SortFunc(pending, func(a, b state.Change) int { return cmp.Compare(a.At, b.At) })
	for _, c := range pending {
		m.sessions[id].apply(c)
	}
}

// drain acts as a reader that finds something in the spool.
func (m *model) drain(t *rapid.T) {
	m.spool(t, modelIDs[0])
	m.spool(t, modelIDs[1])
	live, problems, err := m.st.Live()
	if err != nil || len(problems) > 0 {
		t.Fatalf("Live: %v, %v", problems, err)
	}
	old, problems, err := archivedOf(m.st)
	if err != nil || len(problems) > 0 {
		t.Fatalf("Archived: %v, %v", problems, err)
	}
	for dir, got := range map[string][]state.Session{sessionsDir: live, archiveDir: old} {
		want := 0
		for _, s := range m.sessions {
			if s.s.Seq > 0 && s.dir == dir {
				want++
			}
		}
		if len(got) != want {
			t.Fatalf("%d sessions in %s, want %d", len(got), dir, want)
		}
		for _, s := range got {
			if w := m.sessions[s.Record()]; w == nil || text(w.s) != text(s) {
				t.Fatalf("a reader sees %s", text(s))
			}
		}
	}
}

func (m *model) archive(t *rapid.T) {
	id := m.anyID(t)
	s := m.sessions[id]
	now := m.now + event.Millis(rapid.SampledFrom([]time.Duration{0, ArchiveAfter, time.Hour}).Draw(t, "later").Milliseconds())
	want := s.dir == sessionsDir && over(&s.s) && now >= ArchiveAt(&s.s)
	moved, err := m.st.Archive(KeyOf(id), now)
	if err != nil || moved != want {
		t.Fatalf("Archive: %v, %v, want %v", moved, err, want)
	}
	if moved {
		s.dir = archiveDir
	}
}

// prune prunes after some days, at a time later than all before.
func (m *model) prune(t *rapid.T) {
	days := rapid.SampledFrom([]time.Duration{1, 15, 500}).Draw(t, "days")
	m.pruned += 1000 * 24 * time.Hour
	// From here on files are as old as the step demands; the clock itself goes on.
	then := time.Now().Add(m.pruned)
	m.touch(t, then.Add(-days*24*time.Hour))
	if err := m.st.Prune(then); err != nil {
		t.Fatalf("Prune: %v", err)
	}
	if !plainfile.Exists(m.st.path(archiveDir, "")) {
		return
	}
	parted := m.sessions[modelIDs[3]].s.Seq > 0
	for id, s := range m.sessions {
		s.lines = nil // its days are long ago by then
		switch {
		case s.dir != archiveDir:
		case id == modelIDs[0] && parted: // stays because of its part
		case days >= 15:
			*s = modelSession{st: m.st}
		}
	}
}

// touch sets the time of every file.
func (m *model) touch(t *rapid.T, then time.Time) {
	for _, dir := range []string{sessionsDir, archiveDir, locksDir} {
		names, err := readNames(m.st.path(dir, ""))
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			t.Fatal(err)
		}
		for _, n := range names {
			if err := os.Chtimes(m.st.path(dir, n), then, then); err != nil {
				t.Fatal(err)
			}
		}
	}
}

// damage damages files as kills, power cuts and users do.
func (m *model) damage(t *rapid.T) {
	id := m.anyID(t)
	s := m.sessions[id]
	if s.s.Seq == 0 {
		return
	}
	file := m.st.path(s.dir, string(KeyOf(id))+".json")
	switch rapid.SampledFrom([]string{"gone", "garbage", "empty", "flipped", "tmp", "locks"}).Draw(t, "damage") {
	case "gone":
		m.do(t, os.Remove(file))
		s.s, s.dir = state.Session{}, ""
	case "garbage":
		m.do(t, os.WriteFile(file, []byte("garbage"), fileMode))
		m.found(t, id)
	case "empty":
		m.do(t, os.Truncate(file, 0))
		m.found(t, id)
	case "flipped":
		b, err := os.ReadFile(file)
		m.do(t, err)
		b[rapid.IntRange(1, len(b)/2).Draw(t, "place")] ^= 1
		m.do(t, os.WriteFile(file, b, fileMode))
		m.found(t, id)
	case "tmp":
		m.do(t, os.RemoveAll(m.st.path(tmpDir, "")))
	case "locks":
		m.do(t, os.RemoveAll(m.st.path(locksDir, "")))
	}
}

// found has a reader find a damaged file, which is reported once.
func (m *model) found(t *rapid.T, id string) {
	if _, err := m.st.Load(KeyOf(id)); err == nil || errors.Is(err, fs.ErrNotExist) {
		t.Fatalf("Load(%q) of a damaged file: %v", id, err)
	}
	s := m.sessions[id]
	s.s, s.dir = state.Session{}, ""
	if first, last := m.st.setAsideAt(), slices.Max(append(s.lines, 0)); first <= last {
		t.Fatalf("the numbers go on from %d, after %d", first, last)
	}
}

func (m *model) do(t *rapid.T, err error) {
	if err != nil {
		t.Fatal(err)
	}
}

// compare reads everything as readers do, and compares it with the model.
func (m *model) compare(t *rapid.T) {
	for id, want := range m.sessions {
		s, err := m.st.Load(KeyOf(id))
		if want.s.Seq == 0 {
			if !errors.Is(err, fs.ErrNotExist) {
				t.Fatalf("Load(%q): %v, %v", id, text(s), err)
			}
			continue
		}
		if err != nil || text(s) != text(want.s) {
			t.Fatalf("Load(%q): %v\ngot  %s\nwant %s", id, err, text(s), text(want.s))
		}
		want.settle(over(&want.s))
		if got := where(m.st, id); !slices.Equal(got, []string{want.dir}) {
			t.Fatalf("session %q is in %q, want %q", id, got, want.dir)
		}
		n := 0
		m.do(t, m.st.Lines(Select{Key: KeyOf(id)}, func(*Line) { n++ }))
		if n != len(want.lines) {
			t.Fatalf("history of %q has %d lines, want %d", id, n, len(want.lines))
		}
	}
	for _, dir := range []string{lateDir, tmpDir} {
		if names, _ := readNames(m.st.path(dir, "")); len(names) > 0 {
			t.Fatalf("%s holds %q", dir, names)
		}
	}
}

var modelTime = flag.Duration("model", 8*time.Second, "how long to hold the store against its model")

// TestModel compares the store and its readers with a model in memory.
func TestModel(t *testing.T) {
	begin := time.Now()
	failed := false // rapid then repeats and shrinks the run, however long that takes
	rapid.Check(t, func(rt *rapid.T) {
		if time.Since(begin) > *modelTime && !failed {
			return
		}
		tried := failed
		failed = true
		m := newModel(t, t.TempDir())
		rt.Repeat(map[string]func(*rapid.T){
			"fold":    m.fold,
			"fold 2":  m.fold, // the most frequent step
			"fold 3":  m.fold,
			"drain":   m.drain,
			"archive": m.archive,
			"prune":   m.prune,
			"damage":  m.damage,
			"":        m.compare,
		})
		failed = tried
	})
}
