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
	"beckon/state"

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
	lines []int64 // sequence numbers in its journal
}

// apply applies one journal line.
func (m *modelSession) apply(c state.Change) {
	past := over(&m.s)
	c.Seq = m.s.Seq + 1
	var turns []state.Turn
	m.s, turns = state.ApplyTurns(m.s, c)
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
		m.sessions[id] = &modelSession{}
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
	e.Prompt = rapid.SampledFrom([]string{"", "do it", "\x00 caf\xe9", "<task-notification>"}).Draw(t, "prompt")
	e.Notification = rapid.SampledFrom([]string{"", "idle_prompt", "permission_prompt"}).Draw(t, "notification")
	e.Origin = &event.Origin{Host: "h", Process: p, Seat: "seat " + id, Part: part} // given, since a new seat is random
	return e
}

// written returns the change as its journal line stores it.
func written(t *rapid.T, c state.Change) state.Change {
	c.Seq = 1
	b := appendLine(nil, Line{Change: c})
	l, err := parseLine(b[:len(b)-1])
	if err != nil {
		t.Fatal(err)
	}
	return l.Change
}

func (m *model) anyID(t *rapid.T) string { return rapid.SampledFrom(modelIDs).Draw(t, "session") }

// fold spools some events, then folds a change.
func (m *model) fold(t *rapid.T) {
	id := m.anyID(t)
	s := m.sessions[id]
	isNew := s.s.Seq == 0
	session, part, p := runs(id)
	if first := &m.sessions[session].s; part != "" && isNew && (first.Seq == 0 || over(first)) {
		return // the second process would take over the session's own record
	}
	m.spool(t, id)
	c := m.anyChange(t, id)
	if s.s.Seq == 0 && c.Event == nil {
		return // readers and users only know sessions that exist
	}
	known := known(&s.s, c.Observation)
	w := written(t, c)
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
	if sansOffset(res.After) != sansOffset(s.s) || res.New != isNew {
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
		if err := m.st.spool(KeyOf(id), c); err != nil {
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
	old, problems, err := all(m.st.ListArchived())
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
			if w := m.sessions[s.Record()]; w == nil || sansOffset(w.s) != sansOffset(s) {
				t.Fatalf("a reader sees %s", text(s))
			}
		}
	}
}

func (m *model) archive(t *rapid.T) {
	id := m.anyID(t)
	s := m.sessions[id]
	now := m.now + event.Millis(rapid.SampledFrom([]time.Duration{0, ArchiveAfter, time.Hour}).Draw(t, "later").Milliseconds())
	want := s.dir == sessionsDir && over(&s.s) && now >= overSince(&s.s)+after
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
	if !exists(m.st.path(archiveDir, "")) {
		return
	}
	parted := m.sessions[modelIDs[3]].s.Seq > 0
	for id, s := range m.sessions {
		switch {
		case s.dir != archiveDir:
		case id == modelIDs[0] && parted: // stays because of its part
		case days == 500:
			*s = modelSession{}
		case days == 15:
			s.dir = ""
		}
	}
}

// touch sets the time of every file.
func (m *model) touch(t *rapid.T, then time.Time) {
	for _, dir := range []string{sessionsDir, archiveDir, journalDir, locksDir} {
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

// damage damages a session's files as kills, power cuts and users do.
func (m *model) damage(t *rapid.T) {
	id := m.anyID(t)
	s := m.sessions[id]
	if s.s.Seq == 0 {
		return
	}
	file := m.st.path(s.dir, string(KeyOf(id))+".json")
	journal := m.st.journal(KeyOf(id))
	how := rapid.SampledFrom([]string{
		"session gone", "session garbage", "session empty", "torn tail", "zeros", "behind", "tmp", "locks", "journal gone", "last newline gone",
	}).Draw(t, "damage")
	switch how {
	case "session gone":
		m.do(t, os.Remove(file))
		s.dir = ""
	case "session garbage":
		m.do(t, os.WriteFile(file, []byte("garbage"), fileMode))
	case "session empty":
		m.do(t, os.Truncate(file, 0))
	case "torn tail":
		m.append(t, journal, `{"seq":77,"at":17500000`)
	case "zeros":
		m.append(t, journal, string(make([]byte, 700)))
	case "behind":
		old, err := os.ReadFile(file)
		m.do(t, err)
		dir := s.dir
		m.spool(t, id)
		m.do(t, m.st.Heal(KeyOf(id)))
		if s.dir == dir { // otherwise the file has moved, and this would be another fault
			m.do(t, os.WriteFile(file, old, fileMode))
		}
	case "tmp":
		m.do(t, os.RemoveAll(m.st.path(tmpDir, "")))
	case "locks":
		m.do(t, os.RemoveAll(m.st.path(locksDir, "")))
	case "journal gone":
		m.do(t, os.Remove(journal))
		segs, err := m.st.segments(KeyOf(id))
		m.do(t, err)
		for _, n := range segs {
			m.do(t, os.Remove(m.st.path(journalDir, n)))
		}
		s.lines = nil
	case "last newline gone":
		info, err := os.Stat(journal)
		m.do(t, err)
		m.do(t, os.Truncate(journal, info.Size()-1))
	}
}

func (m *model) do(t *rapid.T, err error) {
	if err != nil {
		t.Fatal(err)
	}
}

func (m *model) append(t *rapid.T, path, data string) {
	f, err := os.OpenFile(path, os.O_APPEND|os.O_WRONLY, fileMode)
	m.do(t, err)
	_, err = f.WriteString(data)
	m.do(t, err)
	m.do(t, f.Close())
}

// rebuild runs fsck --rebuild.
func (m *model) rebuild(t *rapid.T) {
	findings, err := m.st.Check(true, nil)
	m.do(t, err)
	for _, f := range findings {
		if !f.Mended {
			t.Fatalf("fsck did not mend %s: %s", f.Key, f.Problem)
		}
	}
}

// compare reads everything as readers and fsck do, and compares it with the model.
func (m *model) compare(t *rapid.T) {
	for id, want := range m.sessions {
		s, err := m.st.Load(KeyOf(id))
		if want.s.Seq == 0 {
			if !errors.Is(err, fs.ErrNotExist) {
				t.Fatalf("Load(%q): %v, %v", id, text(s), err)
			}
			continue
		}
		if err != nil || sansOffset(s) != sansOffset(want.s) {
			t.Fatalf("Load(%q): %v\ngot  %s\nwant %s", id, err, text(s), text(want.s))
		}
		m.do(t, m.st.Heal(KeyOf(id)))
		want.settle(over(&want.s))
		if got := where(m.st, id); !slices.Equal(got, []string{want.dir}) {
			t.Fatalf("session %q is in %q, want %q", id, got, want.dir)
		}
		var lines []int64
		m.do(t, m.st.Lines(KeyOf(id), 0, func(l Line) {
			if l.Snapshot == nil {
				lines = append(lines, l.Change.Seq)
			}
		}))
		if kept := want.lines[max(0, len(want.lines)-len(lines)):]; !slices.Equal(lines, kept) || len(lines) < min(len(want.lines), 20) {
			t.Fatalf("journal of %q has lines %v, want %v", id, lines, want.lines)
		}
	}
	findings, err := m.st.Check(false, nil)
	if err != nil || len(findings) > 0 {
		t.Fatalf("Check: %v, %v", findings, err)
	}
	for _, dir := range []string{spoolDir, tmpDir} {
		if names, _ := readNames(m.st.path(dir, "")); len(names) > 0 {
			t.Fatalf("%s holds %q", dir, names)
		}
	}
}

var modelTime = flag.Duration("model", 8*time.Second, "how long to hold the store against its model")

// TestModel compares the store, its readers and fsck with a model in memory.
func TestModel(t *testing.T) {
	setSegment(t, 10<<10)
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
			"rebuild": m.rebuild,
			"":        m.compare,
		})
		failed = tried
	})
}
