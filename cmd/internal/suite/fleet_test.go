//go:build unix

package suite

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"beckon/testdata/natstest"

	"github.com/tidwall/gjson"
)

// threeHomes is a fleet of two machines with two sessions of the real client each, and a third
// that looks.
type threeHomes struct {
	*answering // of the one that looks
	work       []*answering
	dir        string
	server     *natstest.Server
}

// TestFleetOfThree checks that the third home shows all that the two do, reports that the hub is gone once that is killed and its disk wiped, and is
// right again within a minute after it is back.
func TestFleetOfThree(t *testing.T) {
	if !*matrix {
		t.Skip("four clients in three homes take a minute and more: -matrix plays them")
	}
	t.Parallel()
	f := &threeHomes{answering: answeringOf(t, equipped(t, V330)), dir: t.TempDir()}
	natstest.Program(t)
	address := natstest.Address(t)
	_, err := beckon(f.l, nil, "fleet", "init", "--dir", f.hub(), "--listen", address, "--name", "127.0.0.1")
	must(t, err)
	f.server = natstest.Serve(t, filepath.Join(f.hub(), "nats-server.conf"), address)
	f.join(f.answering, "--view")
	for i := range 2 {
		f.work = append(f.work, answerLab(t, V330))
		f.publish(i)
	}
	f.union("permission", "permission", "idle", "idle")

	one := f.work[0].open(1)[0]
	text, code := f.work[0].command("answer", one.Session[:8], "no", "--message", "from elsewhere")
	if code != 0 || !strings.Contains(text, "refused") {
		t.Errorf("exit code %d: %s", code, text)
	}
	f.work[0].until("the refusal in the transcript", func() bool {
		return strings.Contains(f.work[0].read(f.work[0].l.Home.Transcript(one.Session)), "from elsewhere")
	})
	if f.work[0].file("fleet0.txt") {
		t.Error("what was refused was done")
	}
	f.union("permission", "idle", "idle", "idle")

	f.server.Kill()
	must(t, os.RemoveAll(filepath.Join(f.hub(), "data")))
	text, _ = f.command("list", "--fleet", "--color", "never")
	if !strings.Contains(text, "no connection") || !strings.Contains(text, "home1") || !strings.Contains(text, "permission") {
		t.Errorf("while the hub is away:\n%s", text)
	}
	f.work[1].key("Escape") // what happens meanwhile is shown, too
	f.work[1].until("the refusal at the session", func() bool { return len(f.work[1].openNow()) == 0 })
	f.server.Start()
	began := time.Now()
	f.union("idle", "idle", "idle", "idle")
	t.Logf("right again after %s", time.Since(began).Round(time.Second))
	if took := time.Since(began); took > time.Minute {
		t.Errorf("right again after %s", took)
	}
}

func (f *threeHomes) must(err error) {
	f.Helper()
	if err != nil {
		f.Fatal(err)
	}
}

// hub is the directory of the server.
func (f *threeHomes) hub() string { return filepath.Join(f.dir, "hub") }

// join adds a home to the fleet.
func (f *threeHomes) join(a *answering, invite ...string) {
	f.Helper()
	token, err := beckon(f.l, nil, append([]string{"fleet", "invite", "--dir", f.hub()}, invite...)...)
	f.must(err)
	f.server.Reload(filepath.Join(f.hub(), "nats-server.pid"))
	_, err = beckon(a.l, nil, "fleet", "link", "--join", strings.TrimSpace(string(token)))
	f.must(err)
}

// publish makes home i publish and run two sessions: one waits for a
// permission, one is done.
func (f *threeHomes) publish(i int) {
	f.Helper()
	a := f.work[i]
	f.join(a, "--host", fmt.Sprintf("home%d", i))
	link := a.l.Home.Command(filepath.Join(bin(a.l), "beckon"), "fleet", "link", "--quiet")
	f.must(link.Start())
	f.Cleanup(func() { _ = link.Process.Signal(os.Interrupt); _ = link.Wait() })
	second, err := a.l.Tmux.StartClient("second")
	f.must(err)
	f.must(second.Ready())
	f.must(second.Say("lab:hi"))
	a.begin(fmt.Sprintf("lab:write fleet%d.txt", i))
	f.must(a.pane.WaitFor("Do you want to", patience))
}

// union waits until the third home shows what the two show themselves, and that has the given
// states.
func (f *threeHomes) union(states ...string) {
	f.Helper()
	list := func(a *answering, args ...string) (rows []string) {
		out, err := beckon(a.l, nil, append([]string{"list", "--json"}, args...)...)
		if err != nil {
			return []string{err.Error()}
		}
		for _, r := range gjson.GetBytes(out, "sessions").Array() {
			rows = append(rows, r.Get("session_id").Str+" "+r.Get("state").Str)
		}
		slices.Sort(rows)
		return rows
	}
	var all, there, now []string
	fits := func() bool {
		all, there, now = list(f.answering, "--fleet"), nil, nil
		for _, a := range f.work {
			there = append(there, list(a)...)
		}
		slices.Sort(there)
		for _, r := range there {
			now = append(now, r[strings.LastIndexByte(r, ' ')+1:])
		}
		slices.Sort(now)
		want := slices.Sorted(slices.Values(states))
		return slices.Equal(all, there) && slices.Equal(now, want)
	}
	for end := time.Now().Add(2 * patience); !fits(); time.Sleep(500 * time.Millisecond) {
		if time.Now().After(end) {
			f.Fatalf("the third home shows\n%s\nthe two have\n%s\nwanted %q", strings.Join(all, "\n"), strings.Join(there, "\n"), states)
		}
	}
}
