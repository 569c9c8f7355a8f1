package store

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"testing"
	"time"

	"beckon/event"
	"beckon/state"
)

// roleEnv selects what a copy of the test binary does instead of running tests: real processes
// write, hold locks and are killed.
const roleEnv = "BECKON_STORE_TEST_ROLE"

var roles = map[string]func(args []string){"fold": foldRole}

func TestMain(m *testing.M) {
	if role := os.Getenv(roleEnv); role != "" {
		roles[role](os.Args[1:])
		os.Exit(0)
	}
	os.Exit(m.Run())
}

// process returns a copy of the test binary with a role.
func process(t testing.TB, role string, args ...string) *exec.Cmd {
	t.Helper()
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(exe, args...)
	cmd.Env = append(os.Environ(), roleEnv+"="+role, "GORACE=atexit_sleep_ms=0")
	cmd.Stderr = os.Stderr
	return cmd
}

// must exits the process of a role on an error.
func must(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func number(s string) int {
	n, err := strconv.Atoi(s)
	must(err)
	return n
}

// t0 is the time at which tests begin.
const t0 event.Millis = 1_750_000_000_000

// tool is a PreToolUse of one call of session id.
func tool(id, call string, at event.Millis) *event.Event {
	return &event.Event{
		Agent: "claude-code", Kind: event.PreToolUse, Name: "PreToolUse", At: at, SessionID: id, Cwd: "/tmp",
		Tool: event.Tool{Name: "Bash", UseID: call, Hash: "00112233aabbccdd", Summary: "Bash: npm test"},
	}
}

func kind(k event.Kind, id string, at event.Millis) *event.Event {
	return &event.Event{Agent: "claude-code", Kind: k, Name: string(k), At: at, SessionID: id, Cwd: "/tmp"}
}

func folding(e *event.Event) Update {
	return Update{Change: state.Change{At: e.At, Event: e}}
}

// fold folds an event, or fails the test.
func fold(t testing.TB, st *Store, e *event.Event) state.Session {
	t.Helper()
	res, err := st.Fold(KeyOf(e.SessionID), folding(e))
	if err != nil {
		t.Fatalf("Fold: %v", err)
	}
	return res.After
}

// load loads a session, or fails the test.
func load(t testing.TB, st *Store, id string) state.Session {
	t.Helper()
	s, err := st.Load(KeyOf(id))
	if err != nil {
		t.Fatalf("Load: %v", err)
	}
	return s
}

// archivedOf reads the archive.
func archivedOf(st *Store) ([]state.Session, []Problem, error) {
	all, err := st.List(true)
	live, err2 := st.List(false)
	sessions, problems := st.readAll(slices.DeleteFunc(all, func(k Key) bool { return slices.Contains(live, k) }))
	err = errors.Join(err, err2)
	return sessions, problems, err
}

// clean fails the test unless every session's file is whole, and every session's history is in
// order.
func clean(t testing.TB, st *Store) {
	t.Helper()
	for _, dir := range []string{sessionsDir, archiveDir} {
		keys, err := st.keys(dir)
		if err != nil {
			t.Fatal(err)
		}
		for _, k := range keys {
			var s state.Session
			if err := readSession(st.path(dir, string(k)+".json"), &s); err != nil && !errors.Is(err, state.ErrNewerSchema) {
				t.Errorf("%s/%s: %v", dir, k, err)
			}
		}
	}
	last := map[Key]map[int64]bool{}
	if err := st.Lines(Select{}, func(l *Line) {
		if last[l.Key] == nil {
			last[l.Key] = map[int64]bool{}
		}
		if last[l.Key][l.Seq] {
			t.Errorf("history of %s has line %d twice", l.Key, l.Seq)
		}
		last[l.Key][l.Seq] = true
	}); err != nil {
		t.Fatal(err)
	}
}

// calls returns the tool calls in a session's history, in order. It fails the test if a
// sequence number is missing or occurs twice.
func calls(t testing.TB, st *Store, id string) []string {
	t.Helper()
	var lines []*Line
	if err := st.Lines(Select{Key: KeyOf(id)}, func(l *Line) { lines = append(lines, l) }); err != nil {
		t.Fatalf("Lines: %v", err)
	}
	var out []string
	for i, l := range lines {
		if l.Seq != int64(i+1) {
			t.Errorf("history of %s: line %d where %d was due", id, l.Seq, i+1)
		}
		if l.Event != nil && l.Event.Tool.UseID != "" {
			out = append(out, l.Event.Tool.UseID)
		}
	}
	return out
}

// dayFile returns the path of the history of t0's day.
func dayFile(st *Store) string { return st.path(historyDir, dayOf(t0)+".jsonl") }

// list returns the names in a directory of the store, including hidden ones.
func list(t testing.TB, st *Store, dir string) []string {
	t.Helper()
	entries, err := os.ReadDir(st.path(dir, ""))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		t.Fatal(err)
	}
	var names []string
	for _, e := range entries {
		info, err := e.Info()
		if err != nil {
			t.Fatal(err)
		}
		if dir != logDir || info.Size() > 0 { // an empty log tells nothing
			names = append(names, e.Name())
		}
	}
	return names
}

func read(t testing.TB, path string) []byte {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func write(t testing.TB, path string, data []byte) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, data, 0o600); err != nil {
		t.Fatal(err)
	}
}

// parses fails the test if a file that a reader may open does not parse. It takes no lock.
func parses(t testing.TB, st *Store) {
	t.Helper()
	for _, dir := range []string{sessionsDir, archiveDir} {
		names, err := readNames(st.path(dir, ""))
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			t.Error(err)
			return
		}
		for _, n := range names {
			data, err := os.ReadFile(st.path(dir, n))
			if errors.Is(err, fs.ErrNotExist) {
				continue // moved since it was listed
			}
			if err != nil {
				t.Error(err)
				return
			}
			if err := new(state.Session).DecodeJSON(data); err != nil {
				t.Errorf("%s/%s: %v: %q", dir, n, err, data)
			}
		}
	}
}

// eventually waits until ok returns true.
func eventually(t testing.TB, what string, ok func() bool) {
	t.Helper()
	for deadline := time.Now().Add(time.Minute); !ok(); time.Sleep(time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("waited in vain for %s", what)
		}
	}
}

func sorted(list []string) []string {
	list = slices.Clone(list)
	slices.Sort(list)
	return list
}

func names(prefix string, n int) (out []string) {
	for i := range n {
		out = append(out, prefix+strconv.Itoa(i))
	}
	return out
}

// aSession returns a store with session "s", which has n calls.
func aSession(t testing.TB, n int) *Store {
	t.Helper()
	st := Open(t.TempDir())
	for i, call := range names("c", n) {
		fold(t, st, tool("s", call, t0+event.Millis(i)))
	}
	return st
}
