package evidence

import (
	"bytes"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"beckon/event"
	"beckon/state"
)

func TestRegistry(t *testing.T) {
	got, err := Registry(filepath.Join("testdata", "registry"))
	if err != nil {
		t.Fatal(err)
	}
	slices.SortFunc(got, func(a, b state.Registry) int { return a.Pid - b.Pid })
	want := []state.Registry{{
		Pid: 5097, ProcStart: "108844", NS: "pid:[4026531836]", SessionID: "dabda8fd-f92e-41c7-ad53-eea3481c4258", Cwd: "/home/u/proj",
		Status: "busy", Name: "proj-31", NameSource: "derived", Kind: "interactive", Entrypoint: "cli", Version: "2.1.329",
		StartedAt: 1795182913991, At: 1795182949946,
	}, {
		Pid: 10495, ProcStart: "417685", SessionID: "30bf45a3-f179-42ad-ae0e-01a48b6b234f", Cwd: "/home/u/proj",
		Name: "proj-9b", NameSource: "derived", Kind: "interactive", Entrypoint: "sdk-cli", Version: "2.1.197",
		StartedAt: 1795186002486,
	}, {
		Pid: 16800, ProcStart: "177100", SessionID: "cad5635e-19e2-48cf-9e69-78056e60322f", Cwd: "/home/u/proj",
		Status: "idle", Name: "proj-3b", NameSource: "derived", Kind: "interactive", Entrypoint: "cli", Version: "2.1.197",
		StartedAt: 1795183596735, At: 1795183596691,
	}}
	if !slices.Equal(got, want) {
		t.Errorf("got %+v", got)
	}
}

// The registry records in the recordings, of a shorter form, are usable, too.
func TestRegistryRecorded(t *testing.T) {
	data, err := os.ReadFile(filepath.Join("testdata", "registry", "recorded.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	seen := map[string]bool{}
	for _, line := range bytes.Split(bytes.TrimSpace(data), []byte("\n")) {
		var pid struct{ Pid int }
		if err := json.Unmarshal(line, &pid); err != nil {
			t.Fatal(err)
		}
		r := ParseRegistry(line, pid.Pid)
		if !r.Usable() || (r.Status == "waiting") != (r.WaitingFor != "") {
			t.Errorf("%s: got %+v", line, r)
		}
		seen[r.Status+" "+r.WaitingFor] = true
	}
	for _, s := range []string{"idle ", "busy ", "shell ", "waiting permission prompt", "waiting input needed"} {
		if !seen[s] {
			t.Errorf("no %q", s)
		}
	}
}

func TestParseRegistry(t *testing.T) {
	const ok = `{"pid":7,"sessionId":"s","procStart":"12","status":"busy","statusUpdatedAt":1795182949946}`
	with := func(old, new string) string { return strings.Replace(ok, old, new, 1) }
	for _, tt := range []struct {
		name, text string
		usable     bool
	}{
		{"as it should be", ok, true},
		{"unknown members", with(`{`, `{"x":{"y":[1,{}]},`), true},
		{"procStart as a number", with(`"12"`, `12`), true},
		{"no procStart", with(`"procStart":"12",`, ``), true},
		{"optional members of other types", with(`{`, `{"cwd":3,"name":[],"kind":null,"startedAt":"x","tmux":1,"pidDomain":{},`), true},
		{"a status nobody knows", with(`busy`, `pondering`), false},
		{"no status", with(`"status":"busy",`, ``), false},
		{"status of another type", with(`"busy"`, `["busy"]`), false},
		{"no session", with(`"sessionId":"s",`, ``), false},
		{"another process's file", with(`7`, `8`), false},
		{"pid as a string", with(`7`, `"7"`), false},
		{"pid with a fraction", with(`7`, `7.5`), false},
		{"not dated", with(`,"statusUpdatedAt":1795182949946`, ``), false},
		{"dated in words", with(`1795182949946`, `"now"`), false},
		{"dated beyond reason", with(`1795182949946`, `1e300`), false},
		{"dated before the beginning", with(`1795182949946`, `-5`), false},
		{"an array", `[` + ok + `]`, false},
		{"null", `null`, false},
		{"empty", ``, false},
		{"half", ok[:len(ok)/2], false},
		{"new over old", ok + `tatus":"idle"}`, false},
		{"too large", `{"x":"` + strings.Repeat("x", maxRegistryFile) + `"}`, false},
	} {
		r := ParseRegistry([]byte(tt.text), 7)
		if r.Usable() != tt.usable || r.Pid != 7 {
			t.Errorf("%s: got %+v", tt.name, r)
		}
		if tt.usable && (r.SessionID != "s" || r.Status != "busy" || r.At != 1795182949946) {
			t.Errorf("%s: got %+v", tt.name, r)
		}
	}
	if r := ParseRegistry([]byte(with(`"12"`, `12`)), 7); r.ProcStart != "12" {
		t.Errorf("procStart as a number: %q", r.ProcStart)
	}
	if r := ParseRegistry([]byte(with(`busy`, `pondering`)), 7); r.Status != "pondering" {
		t.Errorf("an unknown status is kept by name: %q", r.Status)
	}
}

// A directory with every kind of entry that can be in it.
func TestRegistryDirectory(t *testing.T) {
	dir := t.TempDir()
	good := `{"pid":7,"sessionId":"s","status":"idle","statusUpdatedAt":5}`
	write(t, filepath.Join(dir, "7.json"), good)
	write(t, filepath.Join(dir, "7.0af3.key"), "secret")
	write(t, filepath.Join(dir, "notes.json"), good)
	write(t, filepath.Join(dir, "-7.json"), good)
	write(t, filepath.Join(dir, "0.json"), good)
	write(t, filepath.Join(dir, "99999999999999999999.json"), good)
	write(t, filepath.Join(dir, "12.json"), good[:20])
	old := time.Now().Add(-time.Hour)
	if err := os.Chtimes(filepath.Join(dir, "12.json"), old, old); err != nil {
		t.Fatal(err)
	}
	mkdir(t, dir, "13.json")
	got, err := Registry(dir)
	slices.SortFunc(got, func(a, b state.Registry) int { return a.Pid - b.Pid })
	if err != nil || len(got) != 2 || got[0].Pid != 7 || !got[0].Usable() || got[1].Pid != 12 || got[1].Usable() {
		t.Errorf("got %+v, %v", got, err)
	}
	if _, err := Registry(filepath.Join(dir, "none")); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("no directory: %v", err)
	}
	if _, err := ReadRegistryFile(filepath.Join(dir, "8.json")); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("no file: %v", err)
	}
	if _, err := ReadRegistryFile(filepath.Join(dir, "7.0af3.key")); err == nil {
		t.Error("a file that is no record was read")
	}
}

// A half-written file is read again. A file that is never completed counts as torn, not as
// missing.
func TestRegistryTorn(t *testing.T) {
	file := filepath.Join(t.TempDir(), "7.json")
	good := `{"pid":7,"sessionId":"s","status":"idle","statusUpdatedAt":5}`
	var r state.Registry
	var err error
	for range 50 { // on a busy machine the writer may come too late
		write(t, file, good[:30])
		done := make(chan error)
		go func() {
			time.Sleep(2 * time.Millisecond)
			done <- os.WriteFile(file, []byte(good), 0o600)
		}()
		r, err = ReadRegistryFile(file)
		if e := <-done; e != nil || err != nil {
			t.Fatal(err, e)
		}
		if r.Usable() {
			break
		}
	}
	if !r.Usable() {
		t.Errorf("got %+v", r)
	}
	write(t, file, "")
	r, err = ReadRegistryFile(file)
	if err != nil || r.Usable() || r.Pid != 7 {
		t.Errorf("empty: got %+v, %v", r, err)
	}
}

// While a client rewrites its file in place, no reading is wrong, and each state is read in
// the end.
func TestRegistryBesideAWriter(t *testing.T) {
	file := filepath.Join(t.TempDir(), "7.json")
	text := func(i int) []byte {
		return []byte(`{"pid":7,"sessionId":"` + strings.Repeat("s", i%200+1) + `","status":"idle","statusUpdatedAt":` + strconv.Itoa(i%200+1) + `}`)
	}
	write(t, file, string(text(0)))
	stop, done := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(done)
		for i := 1; ; i++ {
			select {
			case <-stop:
				return
			default:
				_ = os.WriteFile(file, text(i), 0o600)
				time.Sleep(time.Millisecond)
			}
		}
	}()
	torn := 0
	for range 200 {
		r, err := ReadRegistryFile(file)
		switch {
		case err != nil:
			t.Fatal(err)
		case !r.Usable():
			torn++
		case len(r.SessionID) != int(r.At):
			t.Fatalf("a mix of two writes: %+v", r)
		}
	}
	close(stop)
	<-done
	if torn > 100 {
		t.Errorf("%d of 200 readings torn in every try", torn)
	}
}

func TestRegistryDir(t *testing.T) {
	for _, tt := range []struct {
		env  map[string]string
		want string
	}{
		{map[string]string{"CLAUDE_CONFIG_DIR": "/c", "HOME": "/h"}, filepath.Join("/c", "sessions")},
		{map[string]string{"HOME": "/h"}, filepath.Join("/h", ".claude", "sessions")},
		{map[string]string{"USERPROFILE": "/u"}, filepath.Join("/u", ".claude", "sessions")},
		{nil, ""},
	} {
		if got := RegistryDir(mapEnv(tt.env)); got != tt.want {
			t.Errorf("%v: got %q", tt.env, got)
		}
	}
}

func TestMatch(t *testing.T) {
	us, ok := Process(os.Getpid(), ThisMachine())
	if !ok {
		t.Skip("no process evidence on this platform")
	}
	began, _ := startWall(us.Start)
	with := func(f func(r *state.Registry)) state.Registry {
		r := state.Registry{Pid: us.Pid, ProcStart: us.Start, StartedAt: began + 3000}
		f(&r)
		return r
	}
	const date = "Mon Aug 17 05:43:19 2026"
	for _, tt := range []struct {
		name string
		r    state.Registry
		want bool
	}{
		{"equal", with(func(r *state.Registry) {}), true},
		{"another pid", with(func(r *state.Registry) { r.Pid++ }), false},
		{"no start time", with(func(r *state.Registry) { r.ProcStart = "" }), false},
		{"another namespace", with(func(r *state.Registry) { r.NS = "pid:[1]" }), false},
		{"our namespace", with(func(r *state.Registry) { r.NS = us.NS }), true},
		{"a date, made after we began", with(func(r *state.Registry) { r.ProcStart = date }), true},
		{"a date, made long before we began: the pid was reused", with(func(r *state.Registry) { r.ProcStart, r.StartedAt = date, began-60_000 }), false},
		{"a date and nothing else", with(func(r *state.Registry) { r.ProcStart, r.StartedAt = date, 0 }), false},
	} {
		if us.NS == "" && tt.r.NS != "" {
			continue
		}
		if got := Match(tt.r, us); got != tt.want {
			t.Errorf("%s: got %t", tt.name, got)
		}
	}
	if us.NS != "" && Match(with(func(r *state.Registry) { r.ProcStart += "0" }), us) {
		t.Error("other clock ticks match")
	}
	if Match(state.Registry{}, event.Process{}) {
		t.Error("nothing matches nothing")
	}
}

// FuzzRegistry checks that no input causes a panic, and that what is usable equals what
// encoding/json reads from the same bytes, if they are UTF-8 without duplicate members.
func FuzzRegistry(f *testing.F) {
	for _, name := range []string{"5097.json", "10495.json", "16800.json", "recorded.jsonl"} {
		data, err := os.ReadFile(filepath.Join("testdata", "registry", name))
		if err != nil {
			f.Fatal(err)
		}
		for _, line := range bytes.Split(data, []byte("\n")) {
			f.Add(line, 5097)
		}
	}
	f.Add([]byte(`{"pid":7,"sessionId":"s","status":"idle","statusUpdatedAt":5}`), 7)
	f.Fuzz(func(t *testing.T, b []byte, pid int) {
		r := ParseRegistry(b, pid)
		if r.Pid != pid {
			t.Fatalf("pid %d, got %d", pid, r.Pid)
		}
		if !r.Usable() {
			return
		}
		var want struct {
			Pid             float64
			SessionID       any `json:"sessionId"`
			Status          any
			StatusUpdatedAt any `json:"statusUpdatedAt"`
		}
		if !json.Valid(b) {
			t.Fatalf("took %q", b)
		}
		if !utf8.Valid(b) || twice(b) || json.Unmarshal(b, &want) != nil {
			return
		}
		id, _ := want.SessionID.(string)
		at, _ := want.StatusUpdatedAt.(float64)
		if int(want.Pid) != pid || clean(id, event.MaxID) != r.SessionID || want.Status != any(r.Status) ||
			event.Millis(at) != r.At {
			t.Fatalf("%q: got %+v, encoding/json %+v", b, r, want)
		}
	})
}

// twice reports whether an object has duplicate members. Names that differ only in case count
// as equal, as in encoding/json.
func twice(b []byte) bool {
	dec := json.NewDecoder(bytes.NewReader(b))
	seen := map[string]bool{}
	depth, key := 0, false
	for {
		tok, err := dec.Token()
		if err != nil {
			return false
		}
		switch v := tok.(type) {
		case json.Delim:
			if v == '{' || v == '[' {
				depth++
			} else {
				depth--
			}
			key = depth == 1
			continue
		case string:
			if depth == 1 && key {
				k := strings.ToLower(v)
				if seen[k] {
					return true
				}
				seen[k], key = true, false
				continue
			}
		}
		if depth == 1 {
			key = true
		}
	}
}
