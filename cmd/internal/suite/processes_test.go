//go:build unix

package suite

import (
	"encoding/json"
	"fmt"
	"reflect"
	"strings"
	"syscall"
	"testing"
	"time"

	"beckon/render"
)

// TestTwoProcesses has two real clients run one session, as claude --continue in a second
// terminal does, and ends, kills and interrupts each of them while both wait for a permission:
// what happens to one never shows in the other.
func TestTwoProcesses(t *testing.T) {
	if testing.Short() && !*matrix {
		t.Skip("the real client takes half a minute")
	}
	t.Parallel()
	list := []string{V329}
	if *matrix {
		list = strings.Split(*versions, ",")
	}
	for _, version := range list {
		t.Run(version, func(t *testing.T) {
			t.Parallel()
			tried(t, func(t testing.TB) {
				twoProcesses(t, version)
			})
		})
	}
}

// pair is two clients of one session.
type pair struct {
	testing.TB
	l  *Lab
	id string
}

func twoProcesses(t testing.TB, version string) {
	dir, err := programs()
	if err != nil {
		t.Fatal(err)
	}
	p := pair{TB: t, l: Start(t, version)}
	p.do(install(p.l, dir))
	one := p.client("one")
	p.do(one.Say("lab:hi"))
	p.do(one.WaitFor("Hi there", patience))
	p.expect("one client", map[int]string{one.Pid: "idle"})
	p.id = p.rows()[one.Pid].SessionID

	two := p.client("two", "--continue")
	p.expect("two clients", map[int]string{one.Pid: "idle", two.Pid: "idle"})
	p.write(one, "a.txt")
	p.expect("the first asks", map[int]string{one.Pid: "permission", two.Pid: "idle"})
	p.write(two, "b.txt")
	p.expect("both ask", map[int]string{one.Pid: "permission", two.Pid: "permission"})
	p.differ(one, two)

	p.do(one.Key("Escape"))
	p.expect("Esc in the first", map[int]string{one.Pid: "idle", two.Pid: "permission"})
	p.do(two.Key("Enter"))
	p.do(two.WaitFor("(?i)wrote|done|written|created", patience))
	p.expect("a yes in the second", map[int]string{one.Pid: "idle", two.Pid: "idle"})

	p.write(one, "c.txt")
	p.write(two, "d.txt")
	p.expect("both ask again", map[int]string{one.Pid: "permission", two.Pid: "permission"})
	p.do(one.Kill9())
	p.expect("the first is killed", map[int]string{two.Pid: "permission"})

	three := p.client("three", "--resume", p.id)
	p.write(three, "e.txt")
	p.expect("a third resumes", map[int]string{two.Pid: "permission", three.Pid: "permission"})
	p.do(two.Signal(syscall.SIGTERM))
	p.do(two.WaitDead(patience))
	p.expect("the second ends", map[int]string{three.Pid: "permission"})

	four := p.client("four", "--resume", p.id)
	p.write(four, "f.txt")
	p.expect("a fourth resumes", map[int]string{three.Pid: "permission", four.Pid: "permission"})
	p.do(four.Kill9())
	p.expect("the fourth is killed", map[int]string{three.Pid: "permission"})
	p.do(three.Key("Escape"))
	p.expect("Esc in the one that is left", map[int]string{three.Pid: "idle"})
	p.do(three.Say("/exit"))
	p.do(three.WaitDead(patience))
	p.expect("nobody is left", map[int]string{})
}

func (p pair) do(err error) {
	p.Helper()
	if err != nil {
		p.Fatalf("%v\n%s", err, p.l.Tmux.Screens())
	}
}

func (p pair) client(name string, args ...string) *Pane {
	p.Helper()
	pane, err := p.l.Tmux.StartClient(name, args...)
	p.do(err)
	p.do(pane.Ready())
	return pane
}

// write has a client ask for a permission.
func (p pair) write(pane *Pane, name string) {
	p.Helper()
	p.do(pane.Say("lab:write " + name))
	p.do(pane.WaitFor("Do you want to", patience))
}

// rows returns the listed rows, by process.
func (p pair) rows() map[int]render.Row {
	p.Helper()
	out, err := beckon(p.l, nil, "list", "--json")
	p.do(err)
	var list render.List
	p.do(json.Unmarshal(out, &list))
	rows := map[int]render.Row{}
	for _, r := range list.Sessions {
		pid := 0
		if r.Process != nil {
			pid = r.Process.Pid
		}
		rows[pid] = r
	}
	if len(rows) != len(list.Sessions) {
		p.Errorf("two rows of one process: %s", out)
	}
	return rows
}

// expect waits until the listed clients have the wanted states, and checks that they keep
// them.
func (p pair) expect(what string, want map[int]string) {
	p.Helper()
	got := func() map[int]string {
		states := map[int]string{}
		for pid, r := range p.rows() {
			states[pid] = string(r.State)
		}
		return states
	}
	for end := time.Now().Add(patience); !reflect.DeepEqual(got(), want) && time.Now().Before(end); time.Sleep(100 * time.Millisecond) {
	}
	for range 5 {
		if is := got(); !reflect.DeepEqual(is, want) {
			p.Fatalf("%s: %v, want %v\n%s", what, is, want, p.l.Tmux.Screens())
		}
		time.Sleep(100 * time.Millisecond)
	}
}

// differ checks that every view and command can tell two clients of one session apart.
func (p pair) differ(one, two *Pane) {
	p.Helper()
	rows := p.rows()
	a, b := rows[one.Pid], rows[two.Pid]
	if a.SessionID != b.SessionID || a.SeatID == b.SeatID || a.Record() == b.Record() {
		p.Errorf("sessions %q and %q, seats %q and %q", a.Record(), b.Record(), a.SeatID, b.SeatID)
	}
	for pane, r := range map[*Pane]render.Row{one: a, two: b} {
		if r.Tmux == nil || r.Tmux.Pane != pane.ID {
			p.Errorf("%s sits in %+v, want %s", r.Record(), r.Tmux, pane.ID)
		}
		out, err := beckon(p.l, nil, "show", r.Record(), "--json")
		p.do(err)
		if !strings.Contains(string(out), fmt.Sprintf(`"pid": %d`, pane.Pid)) {
			p.Errorf("show %s: %s", r.Record(), out)
		}
	}
}
