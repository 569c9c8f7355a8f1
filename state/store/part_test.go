package store

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"beckon/event"
	"beckon/event/plainfile"
	"beckon/state"
)

// send folds an event as a hook of the process s.pid does.
func (m *machine) send(e *event.Event, s sit) Result {
	m.t.Helper()
	m.now += 1000
	e.At = m.now
	res, err := m.st.Fold(KeyOf(e.SessionID), m.from(e, s))
	if err != nil {
		m.t.Fatal(err)
	}
	return res
}

// from returns the update of an event from s.
func (m *machine) from(e *event.Event, s sit) Update {
	u := folding(e)
	u.Origin, u.Alive, u.Other = s.origin, m.alive, s.unlike
	return u
}

// unlike returns the process of s, or none if that is owner.
func (s sit) unlike(owner event.Process) event.Process {
	if owner == process1(s.pid) {
		return event.Process{}
	}
	return process1(s.pid)
}

func (m *machine) source(id, source string, s sit) Result {
	e := kind(event.SessionStart, id, 0)
	e.Source = source
	return m.send(e, s)
}

// states returns the state of every live record, by the pid of its process.
func (m *machine) states() map[int]state.State {
	m.t.Helper()
	sessions, problems, err := m.st.Live()
	if err != nil || len(problems) > 0 {
		m.t.Fatal(problems, err)
	}
	out := map[int]state.State{}
	for _, s := range sessions {
		if r := KeyOf(s.Record()); !plainfile.Exists(m.st.session(r)) {
			m.t.Errorf("record %q has no file", r)
		}
		ev := state.Evidence{Process: m.alive(s.Origin.Process, 0)}
		out[s.Origin.Process.Pid] = state.Resolve(s, ev, m.now).State
	}
	return out
}

func (m *machine) expect(what string, want map[int]state.State) {
	m.t.Helper()
	got := m.states()
	if len(got) != len(want) {
		m.t.Fatalf("%s: %v, want %v", what, got, want)
	}
	for pid, st := range want {
		if got[pid] != st {
			m.t.Fatalf("%s: %v, want %v", what, got, want)
		}
	}
}

func ask(id, call string) *event.Event {
	e := tool(id, call, 0)
	e.Kind, e.Name = event.PermissionRequest, "PermissionRequest"
	return e
}

var first, second = sit{pid: 10, pane: "%1"}, sit{pid: 20, pane: "%2"}

// twins returns a machine with a session that two processes run.
func twins(t *testing.T) *machine {
	m := newMachine(t)
	m.source("a", "startup", first)
	m.send(kind(event.UserPromptSubmit, "a", 0), first)
	m.source("a", "resume", second)
	return m
}

// Two processes that run one session have two records, and each end or wait concerns only one.
func TestTwoProcessesOfOneSession(t *testing.T) {
	m := twins(t)
	m.expect("both live", map[int]state.State{10: state.Working, 20: state.Idle})
	m.send(ask("a", "x"), first)
	m.send(ask("a", "y"), second)
	m.expect("both ask", map[int]state.State{10: state.Permission, 20: state.Permission})
	stop := kind(event.Stop, "a", 0)
	m.send(stop, second)
	m.expect("one is done", map[int]state.State{10: state.Permission, 20: state.Idle})
	seats := map[string]bool{}
	sessions, _, _ := m.st.Live()
	for _, s := range sessions {
		seats[s.Seat] = true
		if s.ID != "a" {
			t.Errorf("a record of session %q", s.ID)
		}
	}
	if len(seats) != 2 {
		t.Errorf("they have the seats %v", seats)
	}
	end := kind(event.SessionEnd, "a", 0)
	m.send(end, first)
	m.expect("the first ended", map[int]state.State{10: state.Ended, 20: state.Idle})
	clean(t, m.st)
}

func TestEndOfTheSecondProcess(t *testing.T) {
	m := twins(t)
	m.send(ask("a", "x"), first)
	m.send(kind(event.SessionEnd, "a", 0), second)
	m.expect("the second ended", map[int]state.State{10: state.Permission, 20: state.Ended})
	m.source("a", "resume", second)
	m.expect("the second came back", map[int]state.State{10: state.Permission, 20: state.Idle})
}

func TestDeathOfEitherProcess(t *testing.T) {
	for _, dead := range []sit{first, second} {
		m := twins(t)
		m.send(ask("a", "x"), first)
		m.send(ask("a", "y"), second)
		m.dead[dead.pid] = true
		want := map[int]state.State{10: state.Permission, 20: state.Permission}
		want[dead.pid] = state.Lost
		m.expect("after a death", want)
		m.send(tool("a", "z", 0), sit{pid: 30 - dead.pid})
		m.expect("the other goes on", want)
	}
}

// A session that is resumed while no process runs it continues its record.
func TestResumeTakesTheRecordOver(t *testing.T) {
	for name, leave := range map[string]func(*machine){
		"ended":  func(m *machine) { m.send(kind(event.SessionEnd, "a", 0), first) },
		"killed": func(m *machine) { m.dead[10] = true },
	} {
		m := newMachine(t)
		m.source("a", "startup", first)
		leave(m)
		m.source("a", "resume", second)
		m.expect(name, map[int]state.State{20: state.Idle})
	}
}

// If the start of the second process was missed, its hooks get a record of their own, or the
// first record if the first process is dead.
func TestSecondProcessWithoutItsStart(t *testing.T) {
	m := newMachine(t)
	m.source("a", "startup", first)
	m.send(ask("a", "x"), second)
	m.expect("the first lives", map[int]state.State{10: state.Idle, 20: state.Permission})

	m = newMachine(t)
	m.source("a", "startup", first)
	m.dead[10] = true
	m.send(ask("a", "x"), second)
	m.expect("the first was killed", map[int]state.State{20: state.Permission})

	m = newMachine(t)
	m.source("a", "startup", first)
	m.send(kind(event.SessionEnd, "a", 0), first)
	m.send(ask("a", "x"), second)
	m.expect("the first has ended", map[int]state.State{10: state.Ended, 20: state.Permission})
}

// After /clear in one of two processes, that process runs a new session, and the other process
// keeps the old one.
func TestClearInOneOfTwo(t *testing.T) {
	for _, who := range []sit{first, second} {
		m := twins(t)
		m.send(ask("a", "x"), sit{pid: 30 - who.pid})
		end := kind(event.SessionEnd, "a", 0)
		end.Reason = "clear"
		m.send(end, who)
		m.source("b", "clear", who)
		sessions, _, _ := m.st.Live()
		i := slices.IndexFunc(sessions, func(s state.Session) bool { return s.End.At == 0 && s.Origin.Process.Pid == 30-who.pid })
		if i < 0 || state.Resolve(sessions[i], state.Evidence{}, m.now).State != state.Permission {
			t.Errorf("after /clear in %d the other is %v", who.pid, m.states())
		}
		b := load(t, m.st, "b")
		if b.Origin.Process.Pid != who.pid || b.Part != "" {
			t.Errorf("session b is of %d, part %q", b.Origin.Process.Pid, b.Part)
		}
	}
}

// Readers and users reach the record they mean; a status line and a Stop reach the meter of
// their own process.
func TestRecordsAreAddressed(t *testing.T) {
	m := twins(t)
	record := m.st.RecordOf("a", second.unlike, m.alive)
	if record == "a" || !strings.HasPrefix(record, "a~") || m.st.RecordOf("a", first.unlike, m.alive) != "a" {
		t.Fatalf("the second process has the record %q", record)
	}
	m.now += 1000
	for _, c := range []state.Change{
		{At: m.now, Action: &state.Action{Kind: state.ActBackburner}},
		{At: m.now, Observation: &state.Observed{Source: state.FromRegistry, What: state.SawHalt, At: m.now}},
	} {
		if _, err := m.st.Fold(KeyOf(record), Update{Change: c}); err != nil {
			t.Fatal(err)
		}
	}
	m.expect("one is set aside", map[int]state.State{10: state.Working, 20: state.Backburned})
	if err := m.st.SetMeter(KeyOf(record), event.Meter{Model: "second"}); err != nil {
		t.Fatal(err)
	}
	if err := m.st.SetMeter(KeyOf("a"), event.Meter{Model: "first"}); err != nil {
		t.Fatal(err)
	}
	for s, want := range map[sit]string{first: "first", second: "second"} {
		if got := m.send(kind(event.Stop, "a", 0), s).After.Meter.Model; got != want {
			t.Errorf("a Stop of %s has the meter of the %s", want, got)
		}
	}
	m.send(kind(event.SessionEnd, "a", 0), first)
	if moved, err := m.st.Archive(KeyOf("a"), m.now+event.Millis(ArchiveAfter.Milliseconds())); !moved {
		t.Fatal(err)
	}
	if got := m.st.RecordOf("a", second.unlike, m.alive); got != record {
		t.Errorf("when the first is archived the second process has the record %q", got)
	}
}

// An event that does not get the lock is spooled for the record of its process.
func TestSpooledForItsProcess(t *testing.T) {
	m := twins(t)
	l, err := m.st.lock("a", LockWait)
	if err != nil {
		t.Fatal(err)
	}
	m.now += 1000
	e := ask("a", "x")
	e.At = m.now
	u := m.from(e, second)
	u.Wait = 1
	if _, err := m.st.Fold("a", u); !errors.Is(err, ErrBusy) {
		t.Fatalf("Fold: %v", err)
	}
	l.Close()
	m.expect("after the wait", map[int]state.State{10: state.Working, 20: state.Permission})
}

// If it is unknown whether the first process still runs, a resume moves the session to the new
// process, and any other event belongs to a second process.
func TestProcessOfAnotherMachine(t *testing.T) {
	m := newMachine(t)
	m.source("a", "startup", first)
	unread := func(event.Process, event.Millis) state.Presence { return state.Unread }
	fold := func(e *event.Event, s sit) {
		m.now += 1000
		e.At = m.now
		u := m.from(e, s)
		u.Alive = unread
		if _, err := m.st.Fold("a", u); err != nil {
			t.Fatal(err)
		}
	}
	start := kind(event.SessionStart, "a", 0)
	start.Source = "resume"
	fold(start, second)
	m.expect("it moved", map[int]state.State{20: state.Idle})
	fold(ask("a", "x"), first)
	m.expect("the first is there after all", map[int]state.State{10: state.Permission, 20: state.Idle})
}

// A session that the user set aside stays aside after /clear, until the user writes again.
func TestClearKeepsTheBackburner(t *testing.T) {
	for _, until := range []event.Millis{0, t0 + 3_600_000} {
		m := newMachine(t)
		m.source("a", "startup", first)
		m.now += 1000
		if _, err := m.st.Fold("a", Update{Change: state.Change{At: m.now, Action: &state.Action{Kind: state.ActBackburner, Until: until}}}); err != nil {
			t.Fatal(err)
		}
		end := kind(event.SessionEnd, "a", 0)
		end.Reason = "clear"
		m.send(end, first)
		if got := m.states()[10]; got != state.Backburned {
			t.Errorf("before its successor it is %s", got)
		}
		m.source("b", "clear", first)
		b := load(t, m.st, "b")
		if st := state.Resolve(b, state.Evidence{}, m.now); st.State != state.Backburned || b.Backburner.Until != until {
			t.Errorf("after /clear it is %s until %d, want %d", st.State, b.Backburner.Until, until)
		}
		m.send(kind(event.UserPromptSubmit, "b", 0), first)
		if st := state.Resolve(load(t, m.st, "b"), state.Evidence{}, m.now); st.State != state.Working {
			t.Errorf("after the user's next prompt it is %s", st.State)
		}
		m.source("c", "startup", sit{pid: 30, pane: "%1"})
		if c := load(t, m.st, "c"); c.Backburner.At != 0 {
			t.Error("another start inherits it")
		}
		clean(t, m.st)
	}
}
