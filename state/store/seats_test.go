package store

import (
	"testing"

	"beckon/event"
	"beckon/state"
)

// machine simulates a machine with processes that live until they are killed.
type machine struct {
	t    *testing.T
	st   *Store
	dead map[int]bool
	now  event.Millis
}

func newMachine(t *testing.T) *machine {
	return &machine{t: t, st: Open(t.TempDir()), dead: map[int]bool{}, now: t0}
}

func (m *machine) alive(p event.Process, _ event.Millis) state.Presence {
	if m.dead[p.Pid] {
		return state.Gone
	}
	return state.Alive
}

func process1(pid int) event.Process {
	return event.Process{Host: "h", Boot: "b", NS: "n", Pid: pid, Start: "1"}
}

func pane(n string) event.Terminal {
	return event.Terminal{Kind: "tmux", ID: n, Tmux: event.Tmux{Socket: "/tmp/s", Server: 9, Pane: n}}
}

// sit describes where a session runs.
type sit struct {
	pid      int
	pane     string
	launcher string
	agent    string
}

func (s sit) origin(event.Origin) event.Origin {
	o := event.Origin{Host: "h", Launcher: s.launcher}
	if s.pid != 0 {
		o.Process = process1(s.pid)
	}
	if s.pane != "" {
		o.Terminal = pane(s.pane)
	}
	return o
}

// start folds a SessionStart and returns the session's seat and how it was found.
func (m *machine) start(id, source string, s sit) (seat string, method Method) {
	m.t.Helper()
	m.now += 1000
	e := kind(event.SessionStart, id, m.now)
	e.Source = source
	if s.agent != "" {
		e.Agent = s.agent
	}
	u := folding(e)
	u.Origin, u.Alive = s.origin, m.alive
	res, err := m.st.Fold(KeyOf(id), u)
	if err != nil {
		m.t.Fatal(err)
	}
	return res.After.Seat, res.Method
}

func (m *machine) end(id, reason string) {
	m.t.Helper()
	m.now += 1000
	e := kind(event.SessionEnd, id, m.now)
	e.Reason = reason
	fold(m.t, m.st, e)
}

func (m *machine) same(what, seat, as string, method, want Method) {
	m.t.Helper()
	if seat != as || method != want {
		m.t.Errorf("%s: seat %s by %q, want %s by %q", what, seat, method, as, want)
	}
}

func (m *machine) other(what, seat string, method Method, than ...string) {
	m.t.Helper()
	if method != Created || seat == "" {
		m.t.Errorf("%s: seat %q by %q, want a new one", what, seat, method)
	}
	for _, t := range than {
		if seat == t {
			m.t.Errorf("%s: took the seat %s", what, seat)
		}
	}
}

// The time when a seat was first seen does not change, whatever its sessions do.
func TestSeatKeepsItsFirstSight(t *testing.T) {
	m := newMachine(t)
	first := func(id string) event.Millis {
		s, err := m.st.Load(KeyOf(id))
		if err != nil {
			t.Fatal(err)
		}
		return s.Origin.SeatAt
	}
	at := sit{pid: 10, pane: "%1"}
	m.start("a", "startup", at)
	want := m.now
	m.start("other", "startup", sit{pid: 20, pane: "%2"})
	if got := first("other"); got != m.now {
		t.Errorf("another seat was first seen at %d, want %d", got, m.now)
	}
	m.end("a", "clear")
	m.start("b", "clear", at)
	m.start("b", "resume", sit{pid: 11, pane: "%1"})
	if got := first("b"); got != want {
		t.Errorf("after /clear and a resume the seat was first seen at %d, want %d", got, want)
	}
	m.dead[11] = true
	m.start("c", "startup", sit{pid: 12, pane: "%1"})
	if got := first("c"); got != want {
		t.Errorf("after a crash the pane's seat was first seen at %d, want %d", got, want)
	}
}

// A /clear gives a new session id in the same process, and the row stays.
func TestSeatAfterClear(t *testing.T) {
	m := newMachine(t)
	at := sit{pid: 10, pane: "%1"}
	a, method := m.start("a", "startup", at)
	m.other("first session", a, method)
	m.end("a", "clear")
	b, method := m.start("b", "clear", at)
	m.same("after /clear", b, a, method, ByProcess)
	// The new session's start may come first.
	c, method := m.start("c", "clear", at)
	m.same("before the old session's end", c, a, method, ByProcess)
	m.end("b", "clear")
	d, method := m.start("d", "clear", at)
	m.same("after /clear again", d, a, method, ByProcess)
	clean(t, m.st)
}

// A resumed session keeps its row in a new process, wherever that is.
func TestSeatAfterResume(t *testing.T) {
	m := newMachine(t)
	a, _ := m.start("a", "startup", sit{pid: 10, pane: "%1"})
	m.end("a", "prompt_input_exit")
	b, method := m.start("b", "startup", sit{pid: 11, pane: "%2"})
	m.other("another pane", b, method, a)
	if seat, _ := m.start("a", "resume", sit{pid: 12, pane: "%3"}); seat != a {
		t.Errorf("resumed in another pane: seat %s, was %s", seat, a)
	}
	// The index now has the new process.
	c, method := m.start("c", "clear", sit{pid: 12, pane: "%3"})
	m.same("cleared after the resume", c, a, method, ByProcess)
	// An interactive /resume of a in b's process keeps a's row.
	if seat, _ := m.start("a", "resume", sit{pid: 11, pane: "%2"}); seat != a {
		t.Errorf("resumed in another session's process: seat %s, was %s", seat, a)
	}
	// A compaction keeps it too.
	if seat, _ := m.start("a", "compact", sit{pid: 11, pane: "%2"}); seat != a {
		t.Errorf("after compaction: seat %s, was %s", seat, a)
	}
	clean(t, m.st)
}

// A nested agent inherits its parent's pane and launcher id. It takes neither its
// parent's row nor its parent's entries in the index.
func TestSeatOfNestedAgent(t *testing.T) {
	m := newMachine(t)
	at := sit{pid: 10, pane: "%1", launcher: "L"}
	parent, method := m.start("parent", "startup", at)
	m.other("parent", parent, method)
	child, method := m.start("child", "startup", sit{pid: 20, pane: "%1", launcher: "L"})
	m.other("nested agent", child, method, parent)
	m.end("child", "other")
	grandchild, method := m.start("grandchild", "startup", sit{pid: 30, pane: "%1", launcher: "L"})
	m.other("another nested agent", grandchild, method, parent, child)
	m.end("parent", "clear")
	next, method := m.start("next", "clear", at)
	m.same("the parent after /clear", next, parent, method, ByProcess)
	// When the parent has ended, the next run in its pane gets its row.
	m.end("next", "prompt_input_exit")
	m.dead[10], m.dead[30] = true, true
	again, method := m.start("again", "startup", sit{pid: 40, pane: "%1"})
	m.same("new run in the pane", again, parent, method, ByTerminal)
	clean(t, m.st)
}

// A new run in a pane takes over the row of a run that has ended, or whose process is gone
// without reporting its end.
func TestSeatOfNewRunInPane(t *testing.T) {
	m := newMachine(t)
	a, _ := m.start("a", "startup", sit{pid: 10, pane: "%1"})
	m.end("a", "prompt_input_exit")
	b, method := m.start("b", "startup", sit{pid: 11, pane: "%1"})
	m.same("after an end", b, a, method, ByTerminal)
	m.dead[11] = true
	c, method := m.start("c", "startup", sit{pid: 12, pane: "%1"})
	m.same("after a crash", c, a, method, ByTerminal)
	d, method := m.start("d", "startup", sit{pid: 13, pane: "%1"})
	m.other("beside a live one", d, method, a)
	// Another agent in the pane gets another row, and so does another pane.
	f, method := m.start("f", "startup", sit{pid: 15, pane: "%1", agent: "codex"})
	m.other("another agent", f, method, a)
	g, method := m.start("g", "startup", sit{pid: 16, pane: "%2"})
	m.other("another pane", g, method, a, f)
	clean(t, m.st)
}

// A resumed session keeps its seat and takes over the pane of a session that crashed there, so
// that the next session in the pane gets that seat.
func TestPaneOfCrashedSessionIsTakenOver(t *testing.T) {
	m := newMachine(t)
	a, _ := m.start("a", "startup", sit{pid: 10, pane: "%1"})
	b, method := m.start("b", "startup", sit{pid: 11, pane: "%2"})
	m.other("another pane", b, method, a)
	m.dead[10], m.dead[11] = true, true
	if seat, _ := m.start("b", "resume", sit{pid: 12, pane: "%1"}); seat != b {
		t.Errorf("resumed: seat %s, was %s", seat, b)
	}
	m.end("b", "other")
	c, method := m.start("c", "startup", sit{pid: 13, pane: "%1"})
	m.same("the next in the pane", c, b, method, ByTerminal)
}

// Two terminals in one directory are two rows.
func TestSeatsOfTwoTerminals(t *testing.T) {
	m := newMachine(t)
	a, _ := m.start("a", "startup", sit{pid: 10, pane: "%1"})
	b, method := m.start("b", "startup", sit{pid: 11, pane: "%2"})
	m.other("second terminal", b, method, a)
	// Sessions whose place is unknown get a row each.
	c, method := m.start("c", "startup", sit{})
	m.other("nothing known", c, method, a, b)
	d, method := m.start("d", "startup", sit{})
	m.other("nothing known, again", d, method, a, b, c)
}

// Where no process is known, each terminal is one row. A session with a process does not match
// one without.
func TestSeatByTerminalAlone(t *testing.T) {
	m := newMachine(t)
	a, method := m.start("a", "startup", sit{pane: "%1"})
	m.other("first", a, method)
	b, method := m.start("b", "clear", sit{pane: "%1"})
	m.same("same terminal", b, a, method, ByTerminal)
	c, method := m.start("c", "startup", sit{pane: "%2"})
	m.other("another terminal", c, method, a)
	d, method := m.start("d", "startup", sit{pid: 10, pane: "%1"})
	m.other("with a process", d, method, a, c)
}

// A session keeps its row over restarts if its launcher gives it an id.
func TestSeatByLauncher(t *testing.T) {
	m := newMachine(t)
	a, _ := m.start("a", "startup", sit{pid: 10, launcher: "L"})
	m.dead[10] = true
	b, method := m.start("b", "startup", sit{pid: 11, launcher: "L", pane: "%5"})
	m.same("started again", b, a, method, ByLauncher)
	c, method := m.start("c", "startup", sit{pid: 12, launcher: "M", pane: "%6"})
	m.other("another launcher", c, method, a)
}

// A reused pid is another process.
func TestSeatOfReusedPid(t *testing.T) {
	m := newMachine(t)
	a, _ := m.start("a", "startup", sit{pid: 10})
	o := sit{pid: 10}.origin(event.Origin{})
	o.Process.Start = "2"
	e := kind(event.SessionStart, "b", m.now+1)
	e.Origin = &o
	if b := fold(t, m.st, e); b.Seat == a {
		t.Error("a reused pid took the row")
	}
}

// A spooled first event gets its seat when it is folded.
func TestSeatOfSpooledEvent(t *testing.T) {
	m := newMachine(t)
	a, _ := m.start("a", "startup", sit{pid: 10, pane: "%1"})
	e := kind(event.SessionStart, "b", m.now+5)
	o := sit{pid: 10, pane: "%1"}.origin(event.Origin{})
	e.Origin = &o
	if err := m.st.postponeFile("b", folding(e).Change); err != nil {
		t.Fatal(err)
	}
	if err := m.st.TakeLate(); err != nil {
		t.Fatal(err)
	}
	if s := load(t, m.st, "b"); s.Seat != a {
		t.Errorf("seat %s, want %s", s.Seat, a)
	}
	clean(t, m.st)
}

// The origin is read only when it may have changed.
func TestOriginIsReadWhenDue(t *testing.T) {
	st := Open(t.TempDir())
	reads := 0
	send := func(e *event.Event, want int) {
		t.Helper()
		u := folding(e)
		u.Origin = func(event.Origin) event.Origin { reads++; return event.Origin{Host: "h"} }
		if _, err := st.Fold("s", u); err != nil {
			t.Fatal(err)
		}
		if reads != want {
			t.Errorf("%s: read %d times, want %d", e.Name, reads, want)
		}
	}
	send(tool("s", "first sight", t0), 1)
	send(tool("s", "same", t0+1), 1)
	moved := tool("s", "moved", t0+2)
	moved.Cwd = "/elsewhere"
	send(moved, 2)
	again := tool("s", "same place", t0+3)
	again.Cwd = "/elsewhere"
	send(again, 2)
	send(kind(event.SessionStart, "s", t0+4), 3)
}
