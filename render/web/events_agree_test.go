package web

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"beckon/event"
	"beckon/event/recording"
	"beckon/render"
)

// The page and `list --json` agree at every step of a recording: its hooks run through the
// real hook binary, its registry is real files that name this process as the agent, and both
// programs read them.
func TestListAndEventsAgree(t *testing.T) {
	names := []string{"perm_yes", "perm_no", "ask", "esc_tool", "subperm_busy", "bg", "clear", "compact", "overload", "kill9"}
	if testing.Short() {
		names = names[:4]
	}
	for _, name := range names {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			replay(t, name)
		})
	}
}

func replay(t *testing.T, name string) {
	f, err := os.Open(filepath.Join("..", "..", "testdata", "recordings", "2.1.329", name+".jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	steps, err := recording.Read(f)
	_ = f.Close()
	if err != nil {
		t.Fatal(err)
	}
	x := serve(t, Options{})
	if err := os.MkdirAll(filepath.Join(x.home, ".claude", "sessions"), 0o700); err != nil {
		t.Fatal(err)
	}
	s := x.stream("/events")
	s.await("snapshot", nil)
	hooks := 0
	for _, step := range steps {
		switch {
		case step.Hook():
			x.hook(string(step.Payload), "CLAUDE_PID="+strconv.Itoa(os.Getpid()))
			hooks++
		case step.Kind == "registry":
			x.register(step.Registry)
		default:
			continue
		}
		x.agree(s, step.Kind, step.Kind == "registry" || hooks == 1)
	}
	if hooks == 0 {
		t.Fatal("the recording has no hooks")
	}
}

// register writes the client's registry as recorded at that moment, for this process.
func (x *site) register(records []recording.Registry) {
	dir := filepath.Join(x.home, ".claude", "sessions")
	path := filepath.Join(dir, strconv.Itoa(os.Getpid())+".json")
	if len(records) == 0 {
		_ = os.Remove(path)
		return
	}
	r := records[len(records)-1]
	now := event.MillisOf(time.Now())
	r.Pid, r.ProcStart, r.StatusUpdatedAt, r.UpdatedAt = os.Getpid(), procStart(), now, now
	b, err := json.Marshal(r)
	if err != nil {
		x.T.Fatal(err)
	}
	if err := os.WriteFile(path+".tmp", b, 0o600); err != nil {
		x.T.Fatal(err)
	}
	if err := os.Rename(path+".tmp", path); err != nil {
		x.T.Fatal(err)
	}
}

// procStart returns field 22 of /proc/self/stat, empty without /proc.
func procStart() string {
	b, _ := os.ReadFile("/proc/self/stat")
	_, rest, _ := strings.Cut(string(b), ") ")
	fields := strings.Fields(rest)
	if len(fields) < 20 {
		return ""
	}
	return fields[19]
}

// settle is how long a registry status must last before it counts, and a little more.
const settle = 250 * time.Millisecond

// agree waits until the stream shows what the program lists, and both stay the same: a
// registry status counts only after 200 ms.
func (x *site) agree(s *stream, step string, settles bool) {
	x.T.Helper()
	if settles {
		time.Sleep(settle)
	}
	var listed, shown string
	for end := time.Now().Add(10 * time.Second); time.Now().Before(end); time.Sleep(5 * time.Millisecond) {
		listed, shown = x.listed(), said(s.list())
		if listed == shown {
			return
		}
	}
	x.T.Fatalf("after %s list --json has\n%s\nand the stream\n%s", step, listed, shown)
}

// listed returns what the program lists.
func (x *site) listed() string {
	x.T.Helper()
	cmd := exec.Command(builtProgram(x.T, "beckon"), "list", "--json")
	cmd.Env = []string{"HOME=" + x.home, "PATH=" + os.Getenv("PATH"), "BECKON_STATE_DIR=" + x.st.Dir}
	out, err := cmd.Output()
	if err != nil {
		x.T.Fatalf("list: %v", err)
	}
	var l render.List
	if err := json.Unmarshal(out, &l); err != nil {
		x.T.Fatal(err)
	}
	return said(l.Sessions)
}

// said returns rows as text. Only the time at work is not in events.
func said(rows []render.Row) string {
	for i := range rows {
		rows[i].Busy = nil
	}
	b, err := json.MarshalIndent(rows, "", " ")
	if err != nil {
		return err.Error()
	}
	return string(b)
}
